// Mutant: weights have four bits, as in FP8, before they are multiplied
// Rejected by: the error is that of rounding the weights and the output, no more
#include "kernel.h"

// #region bug
struct Wrong : Right {
    template <class T>
    static __device__ float factor(float weight) {
        // The nearest number with a leading 1 and three more bits.
        const float step = exp2f(floorf(log2f(fmaxf(weight, 0x1p-100f))) - 3.0f);
        return roundf(weight / step) * step;
    }
};
// #endregion bug

WB_MUTANT(Wrong);
