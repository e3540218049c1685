// Mutant: the stride is one block long: the blocks walk over each other
// Rejected by: several blocks share the work
#include "saxpy_grid_stride.h"

#include <wb/arguments.h>
#include <wb/check.h>

__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size) {
    return {int64_t{block} * block_size + thread, int64_t{num_blocks} * block_size};
}

// #region bug
__global__ void saxpy_kernel(float alpha, const float* x, float* y, int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < n; i += blockDim.x) {
        y[i] = alpha * x[i] + y[i];
    }
}
// #endregion bug

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
