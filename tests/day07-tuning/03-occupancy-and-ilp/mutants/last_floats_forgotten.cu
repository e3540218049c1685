// Mutant: n / 4 float4s are copied, and n % 4 floats are not
// Rejected by: a copy of any size, with 1 to 8 loads a thread
#define copy_floats right_copy_floats
#include "solution.h"
#undef copy_floats

void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    right_copy_floats(x, y, n < 0 ? n : n / 4 * 4, variant, stream);
}
