// The right saxpy_grid_stride that the .diff files edit.
#include "saxpy_grid_stride.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>

__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size) {
    return {int64_t{block} * block_size + thread, int64_t{num_blocks} * block_size};
}

__global__ void saxpy_kernel(float alpha, const float* x, float* y, int64_t n) {
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    for (int64_t i = first; i < n; i += stride)
        y[i] = alpha * x[i] + y[i];
}

void saxpy_grid_stride(float alpha,
                       const float* x,
                       float* y,
                       int64_t n,
                       int num_blocks,
                       cudaStream_t stream) {
    wb::Arguments("saxpy_grid_stride")
        .size("n", n)
        .positive("num_blocks", num_blocks)
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;
    saxpy_kernel<<<num_blocks, 256, 0, stream>>>(alpha, x, y, n);
    CUDA_CHECK_LAUNCH();
}
