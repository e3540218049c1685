// Mutant: chunks are stored by row % 8, and looked for by row % 4
// Rejected by: sixteen keys, each with a value of its own: who holds what
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ int loaded(int row, int chunk) { return chunk ^ row % 4; }
};
// #endregion bug

WB_MUTANT(Wrong);
