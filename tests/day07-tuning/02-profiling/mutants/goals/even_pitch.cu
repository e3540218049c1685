// Mutant: pads rows by two words: a 32-way conflict becomes a two-way conflict
// Rejected by: the counters of mended_f
#include "profiling.h"

#define mended_f right_f
#include "../../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_f

// #region bug
__global__ void even_pitch_kernel(
    int64_t rows, int cols, float keep, const float* x, float* y) {
    const int64_t first = int64_t{blockIdx.x} * kRowsOfBlock * cols;
    const int64_t left = rows * cols - first;
    const int tile = kRowsOfBlock * cols;
    const int count = left < tile ? static_cast<int>(left) : tile;
    const int pitch = cols + 2;
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
// #endregion bug

void mended_f(int64_t rows,
              int64_t cols,
              float keep,
              const float* x,
              float* y,
              cudaStream_t stream) {
    check_f("mended_f", rows, cols, keep, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows, kRowsOfBlock);
    const auto bytes = static_cast<size_t>(kRowsOfBlock * (cols + 2)) * sizeof(float);
    even_pitch_kernel<<<blocks, kRowsOfBlock, bytes, stream>>>(
        rows, static_cast<int>(cols), keep, x, y);
    CUDA_CHECK_LAUNCH();
}
