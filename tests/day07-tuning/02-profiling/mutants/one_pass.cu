// Mutant: the variance as mean(x^2) - mean(x)^2, which needs one pass and few registers
// Rejected by: mended_e far from zero
#include "profiling.h"

#define mended_e right_e
#include "../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_e

// #region bug
__global__ void one_pass_kernel(int64_t n, bool variance, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (!variance) {
        y[i] = x[i + kWindow - 1] - x[i];
        return;
    }
    float sum = 0.0f;
    float squares = 0.0f;
    for (int k = 0; k < kWindow; ++k) {
        const float sample = x[i + k];
        sum += sample;
        squares = fmaf(sample, sample, squares);
    }
    const float mean = sum / kWindow;
    y[i] = squares / kWindow - mean * mean;
}
// #endregion bug

void mended_e(int64_t n, bool variance, const float* x, float* y, cudaStream_t stream) {
    check_e("mended_e", n, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    one_pass_kernel<<<blocks, kThreads, 0, stream>>>(n, variance, x, y);
    CUDA_CHECK_LAUNCH();
}
