// Mutant: right, but nearly every warp waits for one or two of its lanes
// Rejected by: compress_outliers keeps its lanes busy
#include "instructions.h"

#define compress_outliers right_compress_outliers
#include "../all_but_one.h"
#undef compress_outliers

void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream) {
    launch_divergent(x, y, n, stream);
}
