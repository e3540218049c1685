// Mutant: the loop is unrolled eight times by hand, and the rest of the steps is lost
// Rejected by: chains of any number of steps
#define iterate right_iterate
#include "solution.h"
#undef iterate

void iterate(const float* x,
             float* y,
             int64_t n,
             const Map& map,
             Variant variant,
             cudaStream_t stream) {
    const Map whole_rounds{map.a, map.b, map.steps < 0 ? -1 : map.steps / 8 * 8};
    right_iterate(x, y, n, whole_rounds, variant, stream);
}
