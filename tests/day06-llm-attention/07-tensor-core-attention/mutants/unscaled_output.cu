// Mutant: a new maximum shrinks the sum, but not the output
// Rejected by: logits from -10000 to 10000 neither overflow nor vanish
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ float output_factor(float) { return 1.0f; }
};
// #endregion bug

WB_MUTANT(Wrong);
