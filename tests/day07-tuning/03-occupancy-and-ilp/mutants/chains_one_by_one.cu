// Mutant: more elements for each thread, but it works on one after another
// Rejected by: all chains of a thread are there at the same time
#define iterate right_iterate
#include "solution.h"
#undef iterate

void iterate(const float* x,
             float* y,
             int64_t n,
             const Map& map,
             Variant variant,
             cudaStream_t stream) {
    iterate_v1(x, y, n, map, variant, stream);
}
