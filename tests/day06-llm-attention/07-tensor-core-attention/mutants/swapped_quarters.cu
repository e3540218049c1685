// Mutant: the lower left and the upper right quarter of the weights change places
// Rejected by: sixteen keys, each with a value of its own: who holds what
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ int lower_left() { return 2; }
};
// #endregion bug

WB_MUTANT(Wrong);
