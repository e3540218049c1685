// Where a thread stands: built-in variables, launch limits, order of dimensions.
#include "conformance.h"

using namespace conformance;

CONFORMANCE(global_index_in_one_dimension) {
    const auto got = run<int>(4, 64, 256, [] __device__(int* out) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = i + 1;
    });
    expect_each(got, [](int i) { return i + 1; });
}

CONFORMANCE(x_runs_fastest_inside_a_block) {
    const auto got = run<int>(1, dim3(4, 3, 2), 24, [] __device__(int* out) {
        const int i =
            (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        out[i] = 100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x;
    });
    expect_each(got, [](int i) { return 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4; });
}

CONFORMANCE(warps_are_filled_in_x_then_y_then_z) {
    const auto got = run<unsigned>(1, dim3(8, 8, 1), 64, [] __device__(unsigned* out) {
        const int i = threadIdx.y * 8 + threadIdx.x;
        out[i] = __ballot_sync(~0u, threadIdx.y % 4 == 1);
    });
    expect_each(got, [](int) { return 0x0000ff00u; });
}

CONFORMANCE(grid_in_three_dimensions) {
    const auto got = run<int>(dim3(3, 2, 2), 1, 12, [] __device__(int* out) {
        const int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        out[b] = 100 * blockIdx.z + 10 * blockIdx.y + blockIdx.x;
    });
    expect_each(got, [](int i) { return 100 * (i / 6) + 10 * (i / 3 % 2) + i % 3; });
}

CONFORMANCE(block_and_grid_sizes_are_visible) {
    const auto got =
        run<unsigned>(dim3(2, 3, 4), dim3(5, 6, 7), 6, [] __device__(unsigned* out) {
            const uint3 t = threadIdx, b = blockIdx;
            if (t.x + t.y + t.z + b.x + b.y + b.z != 0) return;
            out[0] = gridDim.x, out[1] = gridDim.y, out[2] = gridDim.z;
            out[3] = blockDim.x, out[4] = blockDim.y, out[5] = blockDim.z;
        });
    expect_each(got, [](int i) { return unsigned(i + 2); });
}

CONFORMANCE(warp_size_is_32) {
    expect_equal(run_one<int>([] __device__(int* out) { *out = warpSize; }), 32);
}

CONFORMANCE(dim3_fills_with_ones) {
    const dim3 d(7);
    require(d.x == 7 && d.y == 1 && d.z == 1, "dim3(7) is not (7, 1, 1)");
}

CONFORMANCE(a_block_of_1024_threads_is_legal) {
    const auto got =
        run<int>(1, 1024, 1, [] __device__(int* out) { atomicAdd(out, 1); });
    expect_equal(got[0], 1024);
}

__global__ void empty_kernel() {}

/// Up to CUDA 12 an impossible shape is an invalid configuration, in CUDA 13 a value.
static bool is_refused_launch(cudaError_t error) {
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

CONFORMANCE(a_block_of_1025_threads_is_refused) {
    empty_kernel<<<1, 1025>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
}

CONFORMANCE(more_than_64_threads_in_z_are_refused) {
    empty_kernel<<<1, dim3(1, 1, 65)>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
}

CONFORMANCE(a_grid_of_zero_blocks_is_refused) {
    empty_kernel<<<0, 32>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
}

CONFORMANCE(a_block_of_zero_threads_is_refused) {
    empty_kernel<<<1, 0>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
}

CONFORMANCE(a_grid_of_65536_in_y_is_refused) {
    empty_kernel<<<dim3(1, 65536), 1>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
}

CONFORMANCE(a_grid_of_65536_in_x_is_legal) {
    const auto got = run<int>(65536, 1, 1, [] __device__(int* out) {
        if (blockIdx.x == 65535) *out = 1;
    });
    expect_equal(got[0], 1);
}

CONFORMANCE(a_refused_launch_runs_nothing_and_the_next_one_works) {
    empty_kernel<<<1, 4096>>>();
    require(is_refused_launch(cudaGetLastError()), "not refused");
    ok(cudaDeviceSynchronize());
    expect_equal(run_one<int>([] __device__(int* out) { *out = 5; }), 5);
}

CONFORMANCE(too_much_dynamic_shared_memory_is_refused) {
    empty_kernel<<<1, 32, 1 << 20>>>();
    expect_error(cudaGetLastError(), cudaErrorInvalidValue);
}

CONFORMANCE(peek_keeps_the_last_error_and_get_clears_it) {
    empty_kernel<<<1, 4096>>>();
    const cudaError_t error = cudaPeekAtLastError();
    expect_equal(int(cudaGetLastError()), int(error));
    require(is_refused_launch(error), "another error");
    expect_equal(int(cudaGetLastError()), int(cudaSuccess));
}

template <int kScale, class T>
__global__ void scaled(T* out, T value) {
    out[0] = value * kScale;
}

CONFORMANCE(kernel_templates_with_values_and_types) {
    double* out = nullptr;
    ok(cudaMallocManaged(&out, sizeof(double)));
    scaled<3, double><<<1, 1>>>(out, 1.5);
    ok(cudaDeviceSynchronize());
    expect_equal(*out, 4.5);
    ok(cudaFree(out));
}

struct Pair {
    int first;
    double second;
};

__global__ void take_struct(Pair pair, double* out) {
    pair.first += 1;  // a copy: the host's struct stays as it is
    out[0] = pair.first + pair.second;
}

CONFORMANCE(structs_are_passed_by_value) {
    double* out = nullptr;
    ok(cudaMallocManaged(&out, sizeof(double)));
    const Pair pair{1, 0.25};
    take_struct<<<1, 1>>>(pair, out);
    ok(cudaDeviceSynchronize());
    expect_equal(*out, 2.25);
    expect_equal(pair.first, 1);
    ok(cudaFree(out));
}

__global__ void store_sum(int a, int b, int* out) {
    out[0] = a + b;
}

CONFORMANCE(a_kernel_through_a_function_pointer) {
    int* out = nullptr;
    ok(cudaMallocManaged(&out, sizeof(int)));
    void (*kernel)(int, int, int*) = store_sum;
    kernel<<<1, 1>>>(20, 22, out);
    ok(cudaDeviceSynchronize());
    expect_equal(*out, 42);
    ok(cudaFree(out));
}

CONFORMANCE(a_kernel_through_cuda_launch_kernel) {
    int* out = nullptr;
    ok(cudaMallocManaged(&out, sizeof(int)));
    int a = 30;
    int b = 12;
    void* arguments[] = {&a, &b, &out};
    ok(cudaLaunchKernel((void*)store_sum, dim3(1), dim3(1), arguments, 0, nullptr));
    ok(cudaDeviceSynchronize());
    expect_equal(*out, 42);
    ok(cudaFree(out));
}

__device__ int doubled(int x) {
    return 2 * x;
}
__device__ int (*const device_function)(int) = doubled;

CONFORMANCE(a_device_function_through_a_pointer) {
    expect_equal(run_one<int>([] __device__(int* out) { *out = device_function(21); }),
                 42);
}

__device__ int factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}

CONFORMANCE(recursion_on_the_device) {
    expect_equal(run_one<int>([] __device__(int* out) { *out = factorial(10); }),
                 3628800);
}

CONFORMANCE(early_return_of_threads_without_barriers) {
    const auto got = run<int>(2, 64, 128, [] __device__(int* out) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i % 3 != 0) return;
        out[i] = i;
    });
    expect_each(got, [](int i) { return i % 3 == 0 ? i : 0; });
}
