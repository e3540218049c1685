// Accesses to memory that is not there.
#include "planted.h"

using planted::numbered;
using planted::zeros;

__global__ void copy(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = x[i] + 1;  // read_one_past_the_end
}
PLANTED(out_of_bounds, read_one_past_the_end) {
    copy<<<4, 32>>>(numbered<float>(100), zeros<float>(128), 100);
}

__global__ void fill(float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = 1;  // write_one_past_the_end
}
PLANTED(out_of_bounds, write_one_past_the_end) {
    fill<<<4, 32>>>(zeros<float>(100), 100);
}

__global__ void without_guard(float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // missing_guard
}
PLANTED(out_of_bounds, missing_guard) {
    without_guard<<<4, 32>>>(zeros<float>(100));
}

__global__ void wrong_stride(float* out, int pitch) {
    out[threadIdx.x * pitch] = 1;  // write_far_outside
}
PLANTED(out_of_bounds, write_far_outside) {
    wrong_stride<<<1, 32>>>(zeros<float>(64), 1 << 20);
}

__global__ void left_neighbour(const float* x, float* out) {
    const int i = threadIdx.x;
    out[i] = x[i] - x[i - 1];  // read_before_the_start
}
PLANTED(out_of_bounds, read_before_the_start) {
    left_neighbour<<<1, 32>>>(numbered<float>(32), zeros<float>(32));
}

__global__ void static_array(const float* x, float* out) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    float* p = s;
    p[t] = x[t];
    __syncthreads();
    out[t] = p[t + 1];  // past_a_shared_array
}
PLANTED(out_of_bounds, past_a_shared_array) {
    static_array<<<1, 32>>>(numbered<float>(32), zeros<float>(32));
}

__global__ void dynamic_array(const float* x, float* out) {
    extern __shared__ float s[];
    const int t = threadIdx.x;
    s[t] = x[t];  // past_dynamic_shared_memory
    __syncthreads();
    out[t] = s[blockDim.x - 1 - t];
}
PLANTED(out_of_bounds, past_dynamic_shared_memory) {
    dynamic_array<<<1, 32, 31 * sizeof(float)>>>(numbered<float>(32), zeros<float>(32));
}

// The access stays inside of the array, and yet is another row's element.
__global__ void rows(const float* x, float* out) {
    __shared__ float tile[4][32];
    const int t = threadIdx.x;
    for (int y = 0; y < 4; ++y)
        tile[y][t] = x[y * 32 + t];
    __syncthreads();
    out[t] = tile[1][t + 1];  // row_of_a_shared_tile
}
PLANTED(out_of_bounds, row_of_a_shared_tile) {
    rows<<<1, 32>>>(numbered<float>(128), zeros<float>(32));
}

__global__ void registers(const float* x, float* out, int n) {
    float window[4] = {};
    for (int i = 0; i <= n; ++i)
        window[i] = x[i];  // past_a_local_array
    out[threadIdx.x] = window[threadIdx.x % 4];
}
PLANTED(out_of_bounds, past_a_local_array) {
    registers<<<1, 32>>>(numbered<float>(32), zeros<float>(32), 4);
}

__global__ void heap(int* out, int n) {
    int* own = static_cast<int*>(malloc(n * sizeof(int)));
    for (int i = 0; i <= n; ++i)
        own[i] = i;  // past_memory_of_malloc
    out[0] = own[out[0]];
}
PLANTED(out_of_bounds, past_memory_of_malloc) {
    heap<<<1, 1>>>(zeros<int>(1), 4);
}

__global__ void add_one(float* x) {
    x[threadIdx.x] += 1;  // use_after_free
}
PLANTED(use_after_free, use_after_free) {
    float* x = zeros<float>(32);
    cudaFree(x);
    add_one<<<1, 32>>>(x);
}

__global__ void vectors(const float* x, float* out) {
    const int t = threadIdx.x;
    const float4 v = reinterpret_cast<const float4*>(x)[t];  // misaligned_float4
    out[t] = v.x + v.y + v.z + v.w;
}
PLANTED(misaligned, misaligned_float4) {
    vectors<<<1, 16>>>(numbered<float>(68) + 1, zeros<float>(16));
}

// Some of the addresses are aligned: a GPU stops at the others only.
__global__ void pairs(const float* x, float* out) {
    const int t = threadIdx.x;
    out[t] = reinterpret_cast<const float2*>(x + t)->y;  // misaligned_float2
}
PLANTED(misaligned, misaligned_float2) {
    pairs<<<1, 16>>>(numbered<float>(17), zeros<float>(16));
}

__global__ void quantised(const float* x, int* out, float scale) {
    const int t = threadIdx.x;
    out[t] = static_cast<int>(x[t] * scale);  // value_beyond_int
}
PLANTED(undefined, value_beyond_int) {
    quantised<<<1, 32>>>(numbered<float>(32), zeros<int>(32), 1e10f);
}

struct Matrix {
    float* data;
    int size;
};

__global__ void scale(Matrix m) {
    m.data[threadIdx.x] *= 2;  // host_pointer_in_a_structure
}
PLANTED(host_pointer, host_pointer_in_a_structure) {
    static std::vector<float> host(32, 1.0f);
    scale<<<1, 32>>>(Matrix{host.data(), 32});
}

PLANTED(host_pointer, host_pointer_as_argument) {
    static std::vector<float> host(32, 1.0f);
    add_one<<<1, 32>>>(host.data());  // host_pointer_as_argument
}

PLANTED(device_pointer_on_host, device_pointer_on_host) {
    float* x = numbered<float>(32);
    std::printf("%g\n", x[3]);  // device_pointer_on_host
}
