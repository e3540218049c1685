// Mutant: right, but every thread takes an atomic of its own
// Rejected by: a block adds up before it takes an atomic
#include "dot_product.h"

#include <wb/arguments.h>
#include <wb/check.h>

// #region bug
__global__ void dot_kernel(const float* a, const float* b, float* result, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(result, a[i] * b[i]);
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
