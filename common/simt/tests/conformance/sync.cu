// Threads of a block: barriers, shared memory, fences.
#include "conformance.h"

using namespace conformance;

CONFORMANCE(a_barrier_makes_shared_writes_visible) {
    const auto got = run<int>(3, 256, 768, [] __device__(int* out) {
        __shared__ int s[256];
        s[threadIdx.x] = threadIdx.x * 3;
        __syncthreads();
        out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
    });
    expect_each(got, [](int i) { return (255 - i % 256) * 3; });
}

CONFORMANCE(barriers_in_a_loop) {
    const auto got = run<int>(1, 256, 1, [] __device__(int* out) {
        __shared__ int s[256];
        s[threadIdx.x] = 1;
        for (int stride = 128; stride > 0; stride /= 2) {
            __syncthreads();
            if (int(threadIdx.x) < stride) s[threadIdx.x] += s[threadIdx.x + stride];
        }
        if (threadIdx.x == 0) *out = s[0];
    });
    expect_equal(got[0], 256);
}

CONFORMANCE(syncthreads_count) {
    const auto got = run<int>(1, 100, 100, [] __device__(int* out) {
        out[threadIdx.x] = __syncthreads_count(threadIdx.x % 3 == 0);
    });
    expect_each(got, [](int) { return 34; });
}

CONFORMANCE(syncthreads_and_or) {
    const auto got = run<int>(1, 96, 4, [] __device__(int* out) {
        const int all = __syncthreads_and(threadIdx.x < 96);
        const int not_all = __syncthreads_and(threadIdx.x < 95);
        const int any = __syncthreads_or(threadIdx.x == 95);
        const int none = __syncthreads_or(threadIdx.x == 96);
        if (threadIdx.x == 40) {
            out[0] = all != 0, out[1] = not_all != 0, out[2] = any != 0,
            out[3] = none != 0;
        }
    });
    expect_each(got, [](int i) { return i == 0 || i == 2; });
}

CONFORMANCE(exited_threads_do_not_block_a_barrier) {
    const auto got = run<int>(1, 128, 1, [] __device__(int* out) {
        __shared__ int s[128];
        if (threadIdx.x >= 64) return;
        s[threadIdx.x] = 1;
        __syncthreads();
        if (threadIdx.x == 0) *out = s[63] + s[32];
    });
    expect_equal(got[0], 2);
}

extern __shared__ float dynamic_floats[];

__global__ void use_dynamic(float* out) {
    dynamic_floats[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic_floats[blockDim.x - 1 - threadIdx.x];
}

CONFORMANCE(dynamic_shared_memory) {
    float* out = nullptr;
    ok(cudaMallocManaged(&out, 64 * sizeof(float)));
    use_dynamic<<<1, 64, 64 * sizeof(float)>>>(out);
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i)
        expect_equal(out[i], float(63 - i));
    ok(cudaFree(out));
}

__global__ void two_views(int* out) {
    extern __shared__ __align__(16) unsigned char raw[];
    float* floats = reinterpret_cast<float*>(raw);
    int* ints = reinterpret_cast<int*>(floats + 32);
    floats[threadIdx.x] = 0.5f;
    ints[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) *out = ints[31] + int(floats[31] * 2);
}

CONFORMANCE(dynamic_shared_memory_cut_into_two_arrays) {
    int* out = nullptr;
    ok(cudaMallocManaged(&out, sizeof(int)));
    two_views<<<1, 32, 32 * 8>>>(out);
    ok(cudaDeviceSynchronize());
    expect_equal(*out, 32);
    ok(cudaFree(out));
}

CONFORMANCE(more_than_48_kib_after_opting_in) {
    constexpr int kBytes = 64 << 10;
    float* out = nullptr;
    ok(cudaMallocManaged(&out, 64 * sizeof(float)));
    use_dynamic<<<1, 64, kBytes>>>(out);
    expect_error(cudaGetLastError(), cudaErrorInvalidValue);
    ok(cudaFuncSetAttribute(
        use_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    use_dynamic<<<1, 64, kBytes>>>(out);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    expect_equal(out[0], 63.0f);
    ok(cudaFree(out));
}

template <class T, int kSize>
__global__ void template_shared(T* out) {
    __shared__ T s[kSize];
    s[threadIdx.x] = T(threadIdx.x) + T(0.5);
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % kSize];
}

CONFORMANCE(shared_arrays_in_templates) {
    double* out = nullptr;
    ok(cudaMallocManaged(&out, 48 * sizeof(double)));
    template_shared<double, 48><<<1, 48>>>(out);
    ok(cudaDeviceSynchronize());
    for (int i = 0; i < 48; ++i)
        expect_equal(out[i], (i + 1) % 48 + 0.5);
    ok(cudaFree(out));
}

__device__ int* shared_counter() {
    __shared__ int counter;
    return &counter;
}

CONFORMANCE(shared_variable_of_a_device_function_is_one_per_block) {
    const auto got = run<int>(5, 64, 5, [] __device__(int* out) {
        if (threadIdx.x == 0) *shared_counter() = 100;
        __syncthreads();
        atomicAdd(shared_counter(), 1);
        __syncthreads();
        if (threadIdx.x == 0) out[blockIdx.x] = *shared_counter();
    });
    expect_each(got, [](int) { return 164; });
}

CONFORMANCE(two_dimensional_shared_arrays) {
    const auto got = run<int>(1, dim3(16, 16), 256, [] __device__(int* out) {
        __shared__ int tile[16][17];
        tile[threadIdx.y][threadIdx.x] = threadIdx.y * 16 + threadIdx.x;
        __syncthreads();
        out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    });
    expect_each(got, [](int i) { return i % 16 * 16 + i / 16; });
}

__device__ int last_block_result;
__device__ unsigned blocks_done;

__global__ void last_block_adds(int* partial, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
        sum += const_cast<volatile int*>(partial)[b];
    *out = sum;
}

CONFORMANCE(the_last_block_sees_what_all_others_wrote) {
    int* memory = nullptr;
    ok(cudaMallocManaged(&memory, 65 * sizeof(int)));
    for (int repeat = 0; repeat < 3; ++repeat) {
        memory[64] = 0;
        last_block_adds<<<64, 32>>>(memory, memory + 64);
        ok(cudaDeviceSynchronize());
        expect_equal(memory[64], 64 * 65 / 2);
    }
    ok(cudaFree(memory));
}

CONFORMANCE(syncwarp_orders_a_warp) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        __shared__ int s[64];
        s[threadIdx.x] = threadIdx.x + 7;
        __syncwarp();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    });
    expect_each(got, [](int i) { return (i ^ 1) + 7; });
}

CONFORMANCE(a_spin_lock_with_compare_and_swap) {
    const auto got = run<int>(8, 32, 2, [] __device__(int* out) {
        bool done = false;
        while (!done) {  // Volta's independent threads make this terminate
            if (atomicCAS(&out[0], 0, 1) == 0) {
                __threadfence();
                const_cast<volatile int*>(out)[1] =
                    const_cast<volatile int*>(out)[1] + 1;
                __threadfence();
                atomicExch(&out[0], 0);
                done = true;
            }
        }
    });
    expect_equal(got[1], 256);
}

CONFORMANCE(blocks_do_not_share_shared_memory) {
    const auto got = run<int>(16, 32, 16, [] __device__(int* out) {
        __shared__ int mine;
        if (threadIdx.x == 0) mine = blockIdx.x;
        __syncthreads();
        if (threadIdx.x == 31) out[blockIdx.x] = mine;
    });
    expect_each(got, [](int i) { return i; });
}
