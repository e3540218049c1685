// The right vector_add that the .diff files edit.
#include "vector_add.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>

__global__ void add_kernel(const float* a, const float* b, float* c, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    wb::Arguments("vector_add")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("c", c, n);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    add_kernel<<<blocks, 256, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}
