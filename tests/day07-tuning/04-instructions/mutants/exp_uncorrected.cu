// Mutant: what rounding x log2(e) has lost is not given back
// Rejected by: quick_exp: 4 ULP where the result is a normal number
#include "rulers.h"

#define quick_exp right_quick_exp
#include "all_but_one.h"
#undef quick_exp

__device__ float quick_exp(float x) {
    return wb::ptx::exp2_approx(x * 0x1.715476p+0f);
}
