// Mutant: right, but the adding threads of the tree lie ever further apart
// Rejected by: a block adds up before it takes an atomic
#include "dot_product.h"

#include <wb/arguments.h>
#include <wb/check.h>

// #region bug
__global__ void dot_kernel(const float* a, const float* b, float* result, int64_t n) {
    __shared__ float s_sum[256];
    const int tid = threadIdx.x;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + tid;
    s_sum[tid] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        const int place = 2 * distance * tid;
        if (place < 256) s_sum[place] += s_sum[place + distance];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(result, s_sum[0]);
}
// #endregion bug

void dot_product(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    wb::Arguments("dot_product")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("result", result, 1);
    CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    dot_kernel<<<blocks, 256, 0, stream>>>(a, b, result, n);
    CUDA_CHECK_LAUNCH();
}
