// The right dot_product that the .diff files edit.
#include "dot_product.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>

constexpr int kThreads = 256;

__global__ void dot_kernel(const float* a, const float* b, float* result, int64_t n) {
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + tid;
    s_sum[tid] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(result, s_sum[0]);
}

void dot_product(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    wb::Arguments("dot_product")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("result", result, 1);
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    dot_kernel<<<blocks, kThreads, 0, stream>>>(a, b, result, n);
    CUDA_CHECK_LAUNCH();
}
