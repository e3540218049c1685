// Mutant: infinity is corrected, too, and becomes NaN
// Rejected by: quick_exp: too large, too small, and no number at all
#include "rulers.h"

#define quick_exp right_quick_exp
#include "all_but_one.h"
#undef quick_exp

__device__ float quick_exp(float x) {
    const float t = x * 0x1.715476p+0f;
    const float r = fmaf(x, 0x1.4ae0cp-26f, fmaf(x, 0x1.715476p+0f, -t));
    const float power = wb::ptx::exp2_approx(t);
    return fmaf(power, r * 0x1.62e43p-1f, power);
}
