// Mutant: shared memory for the neighbours of one side only
// Rejected by: mended_b computes the same
#include "profiling.h"

#define mended_b right_b
#include "../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_b

void mended_b(
    int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream) {
    check_b("mended_b", n, radius, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kFilterThreads);
    const auto bytes = static_cast<size_t>(kFilterThreads + radius) * sizeof(float);
    mystery_b_kernel<<<blocks, kFilterThreads, bytes, stream>>>(
        n, static_cast<int>(radius), x, y);
    CUDA_CHECK_LAUNCH();
}
