// profiling.cu: what is wrong with six kernels, and the six without it.
// #solution
//
// No ladder: one disease, one remedy. Three remedies are in the launch, three in the
// kernel.
// #end
#include "profiling.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "mystery_kernels.h"

// #region diagnose
Diagnoses diagnose() {
    // #starter WB_NOT_SOLVED();  // delete this line when you have a first suspicion
    Diagnoses disease;
    // TODO(learner): one line for each, as `disease.mystery_a = Disease::unknown;`
    // (about 6 lines)
    // #solution
    disease.mystery_a = Disease::divergence;
    disease.mystery_b = Disease::shared_memory;
    disease.mystery_c = Disease::uncoalesced;
    disease.mystery_d = Disease::launches;
    disease.mystery_e = Disease::registers;
    disease.mystery_f = Disease::bank_conflicts;
    // #end
    return disease;
}
// #endregion diagnose

// #region a
// #solution
/// A block computes one kind only, and with it all lanes of a warp.
///
/// Launch   grid (ceil_div(n, kThreads), 4), block kThreads, no shared memory
__global__ void mended_a_kernel(int64_t n, int steps, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int kind = static_cast<int>(blockIdx.y);
    if (i >= n) return;
    const float in = x[i];
    float v = 0.0f;
    if (kind == 0) {
        for (int step = 0; step < steps; ++step)
            v = fmaf(v, 0.5f, in);
    } else if (kind == 1) {
        for (int step = 0; step < steps; ++step)
            v = fmaf(v, -0.5f, in);
    } else if (kind == 2) {
        for (int step = 0; step < steps; ++step)
            v = fmaxf(fmaf(v, 0.5f, in), 0.0f);
    } else {
        for (int step = 0; step < steps; ++step)
            v = fabsf(fmaf(v, 0.5f, -in));
    }
    y[kind * n + i] = v;
}

// #end
void mended_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_a("mended_a", n, steps, x, y);
    if (n == 0) return;
    // TODO(learner): a kernel of your own above this function, or another launch of
    // the given one; likewise in all that follow (about 30 lines, most of them copied)
    // #solution
    const dim3 blocks(wb::grid_size(n, kThreads), 4);
    mended_a_kernel<<<blocks, kThreads, 0, stream>>>(n, steps, x, y);
    // #end
    // #starter const unsigned blocks = wb::grid_size(4 * n, kThreads);
    // #starter mystery_a_kernel<<<blocks, kThreads, 0, stream>>>(n, steps, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion a

// #region b
void mended_b(
    int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_b("mended_b", n, radius, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kFilterThreads);
    // TODO(learner): (about 2 lines)
    // #solution
    // What this radius needs, not what the largest would.
    const size_t bytes =
        static_cast<size_t>(kFilterThreads + 2 * radius) * sizeof(float);
    // #end
    // #starter const size_t bytes = (kFilterThreads + 2 * kMaxRadius) * sizeof(float);
    mystery_b_kernel<<<blocks, kFilterThreads, bytes, stream>>>(
        n, static_cast<int>(radius), x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion b

// #region c
// #solution
/// Neighbouring threads take neighbouring columns, which are neighbours in memory.
///
/// Launch   grid ceil_div(rows * cols, kThreads), block kThreads, no shared memory
__global__ void mended_c_kernel(
    int64_t rows, int64_t cols, const float* scale, const float* x, float* y) {
    const int64_t t = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t < rows * cols) y[t] = scale[t % cols] * x[t];
}

// #end
void mended_c(int64_t rows,
              int64_t cols,
              const float* scale,
              const float* x,
              float* y,
              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_c("mended_c", rows, cols, scale, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows * cols, kThreads);
    // TODO(learner): (about 6 lines)
    // #solution
    mended_c_kernel<<<blocks, kThreads, 0, stream>>>(rows, cols, scale, x, y);
    // #end
    // #starter mystery_c_kernel<<<blocks, kThreads, 0, stream>>>(
    // #starter     rows, cols, scale, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion c

// #region d
// #solution
/// A block for each vector.
///
/// Launch   grid batch, block kThreads, static shared memory
__global__ void mended_d_kernel(int64_t length, const float* x, float* y) {
    const int64_t first = blockIdx.x * length;
    centre_vector(length, x + first, y + first);
}

// #end
void mended_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_d("mended_d", batch, length, x, y);
    if (batch == 0 || length == 0) return;
    // TODO(learner): (about 6 lines)
    // #solution
    mended_d_kernel<<<static_cast<unsigned>(batch), kThreads, 0, stream>>>(
        length, x, y);
    // #end
    // #starter for (int64_t b = 0; b < batch; ++b) {
    // #starter     mystery_d_kernel<<<1, kThreads, 0, stream>>>(
    // #starter         length, x + b * length, y + b * length);
    // #starter }
    CUDA_CHECK_LAUNCH();
}
// #endregion d

// #region e
// #solution
/// Only the change: two loads, a store, a handful of registers.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void mended_e_kernel(int64_t n, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + kWindow - 1] - x[i];
}

// #end
void mended_e(int64_t n, bool variance, const float* x, float* y, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_e("mended_e", n, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    // TODO(learner): (about 9 lines)
    // #solution
    if (!variance) {
        mended_e_kernel<<<blocks, kThreads, 0, stream>>>(n, x, y);
        CUDA_CHECK_LAUNCH();
        return;
    }
    // #end
    mystery_e_kernel<<<blocks, kThreads, 0, stream>>>(n, variance, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion e

// #region f
// #solution
/// As mystery_f_kernel, but rows lie an odd number of words apart: the lanes of a warp,
/// each on a row of its own, are then on 32 different banks.
///
/// Launch   grid ceil_div(rows, kRowsOfBlock), block kRowsOfBlock,
///          kRowsOfBlock * (cols | 1) * sizeof(float) bytes of shared memory
__global__ void mended_f_kernel(
    int64_t rows, int cols, float keep, const float* x, float* y) {
    const int64_t first = int64_t{blockIdx.x} * kRowsOfBlock * cols;
    const int64_t left = rows * cols - first;
    const int tile = kRowsOfBlock * cols;
    const int count = left < tile ? static_cast<int>(left) : tile;
    const int pitch = cols | 1;
    const int tid = static_cast<int>(threadIdx.x);
    for (int j = tid; j < count; j += kRowsOfBlock)
        s_floats[j / cols * pitch + j % cols] = x[first + j];
    __syncthreads();
    if (tid * cols < count) {
        float* row = s_floats + tid * pitch;
        float v = row[0];
        for (int c = 1; c < cols; ++c) {
            v = keep * v + (1.0f - keep) * row[c];
            row[c] = v;
        }
        for (int c = cols - 2; c >= 0; --c) {
            v = keep * v + (1.0f - keep) * row[c];
            row[c] = v;
        }
    }
    __syncthreads();
    for (int j = tid; j < count; j += kRowsOfBlock)
        y[first + j] = s_floats[j / cols * pitch + j % cols];
}

// #end
void mended_f(int64_t rows,
              int64_t cols,
              float keep,
              const float* x,
              float* y,
              cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_f("mended_f", rows, cols, keep, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows, kRowsOfBlock);
    // TODO(learner): (about 35 lines, nearly all of them copied)
    // #solution
    const size_t bytes = static_cast<size_t>(kRowsOfBlock * (cols | 1)) * sizeof(float);
    mended_f_kernel<<<blocks, kRowsOfBlock, bytes, stream>>>(
        rows, static_cast<int>(cols), keep, x, y);
    // #end
    // #starter const int64_t floats = kRowsOfBlock * cols;
    // #starter const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    // #starter mystery_f_kernel<<<blocks, kRowsOfBlock, bytes, stream>>>(
    // #starter     rows, static_cast<int>(cols), keep, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion f
