// Mutant: right, but four requests are made where one would do
// Rejected by: copy_floats asks for four floats at a time
#include "instructions.h"

#define copy_floats right_copy_floats
#include "../all_but_one.h"
#undef copy_floats

void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream) {
    copy_floats_v1(in, out, n, stream);
}
