// Mutant: the kernel that was given
// Rejected by: the counters of mended_c
#include "profiling.h"

#define mended_c right_c
#include "../../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_c

void mended_c(int64_t rows,
              int64_t cols,
              const float* scale,
              const float* x,
              float* y,
              cudaStream_t stream) {
    mystery_c(rows, cols, scale, x, y, stream);
}
