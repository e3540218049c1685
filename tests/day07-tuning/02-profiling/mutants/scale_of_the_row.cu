// Mutant: neighbouring threads take neighbouring columns, but the scale of their row
// Rejected by: mended_c computes the same
#include "profiling.h"

#define mended_c right_c
#include "../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_c

__global__ void scale_of_the_row_kernel(
    int64_t rows, int64_t cols, const float* scale, const float* x, float* y) {
    const int64_t t = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < rows * cols) y[t] = scale[t / cols % cols] * x[t];
}

void mended_c(int64_t rows,
              int64_t cols,
              const float* scale,
              const float* x,
              float* y,
              cudaStream_t stream) {
    check_c("mended_c", rows, cols, scale, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows * cols, kThreads);
    scale_of_the_row_kernel<<<blocks, kThreads, 0, stream>>>(rows, cols, scale, x, y);
    CUDA_CHECK_LAUNCH();
}
