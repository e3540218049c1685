// Mutant: a launch for two vectors: half as many launches, and still many
// Rejected by: mended_d is healed
#include "profiling.h"

#define mended_d right_d
#include "../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_d

void mended_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream) {
    check_d("mended_d", batch, length, x, y);
    for (int64_t b = 0; b < batch && length > 0; b += 2) {
        const int64_t first = b * length;
        const unsigned vectors = b + 1 < batch ? 2 : 1;
        mended_d_kernel<<<vectors, kThreads, 0, stream>>>(length, x + first, y + first);
        CUDA_CHECK_LAUNCH();
    }
}
