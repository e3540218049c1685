// The right chapter_name that the .diff files edit.
#include "chapter_name.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>

__global__ void right_kernel(const float* x, float* y, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

void chapter_name(const float* x, float* y, int64_t n, cudaStream_t stream) {
    wb::Arguments("chapter_name").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    right_kernel<<<blocks, 256, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
