// profiling.cu: what is wrong with six kernels, and the six without it.
#include "profiling.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "mystery_kernels.h"

// #region diagnose
Diagnoses diagnose() {
    WB_NOT_SOLVED();  // delete this line when you have a first suspicion
    Diagnoses disease;
    // TODO(learner): one line for each, as `disease.mystery_a = Disease::unknown;`
    // (about 6 lines)
    return disease;
}
// #endregion diagnose

// #region a
void mended_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_a("mended_a", n, steps, x, y);
    if (n == 0) return;
    // TODO(learner): a kernel of your own above this function, or another launch of
    // the given one; likewise in all that follow (about 30 lines, most of them copied)
    const unsigned blocks = wb::grid_size(4 * n, kThreads);
    mystery_a_kernel<<<blocks, kThreads, 0, stream>>>(n, steps, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion a

// #region b
void mended_b(
    int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_b("mended_b", n, radius, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kFilterThreads);
    // TODO(learner): (about 2 lines)
    const size_t bytes = (kFilterThreads + 2 * kMaxRadius) * sizeof(float);
    mystery_b_kernel<<<blocks, kFilterThreads, bytes, stream>>>(
        n, static_cast<int>(radius), x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion b

// #region c
void mended_c(int64_t rows,
              int64_t cols,
              const float* scale,
              const float* x,
              float* y,
              cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_c("mended_c", rows, cols, scale, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows * cols, kThreads);
    // TODO(learner): (about 6 lines)
    mystery_c_kernel<<<blocks, kThreads, 0, stream>>>(
        rows, cols, scale, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion c

// #region d
void mended_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_d("mended_d", batch, length, x, y);
    if (batch == 0 || length == 0) return;
    // TODO(learner): (about 6 lines)
    for (int64_t b = 0; b < batch; ++b) {
        mystery_d_kernel<<<1, kThreads, 0, stream>>>(
            length, x + b * length, y + b * length);
    }
    CUDA_CHECK_LAUNCH();
}
// #endregion d

// #region e
void mended_e(int64_t n, bool variance, const float* x, float* y, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_e("mended_e", n, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    // TODO(learner): (about 9 lines)
    mystery_e_kernel<<<blocks, kThreads, 0, stream>>>(n, variance, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion e

// #region f
void mended_f(int64_t rows,
              int64_t cols,
              float keep,
              const float* x,
              float* y,
              cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_f("mended_f", rows, cols, keep, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows, kRowsOfBlock);
    // TODO(learner): (about 35 lines, nearly all of them copied)
    const int64_t floats = kRowsOfBlock * cols;
    const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    mystery_f_kernel<<<blocks, kRowsOfBlock, bytes, stream>>>(
        rows, static_cast<int>(cols), keep, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion f
