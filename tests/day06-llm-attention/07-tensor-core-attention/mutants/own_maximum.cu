// Mutant: each lane subtracts the maximum of its own quarter of a row
// Rejected by: as many queries as keys, from one to odd primes
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ float agree(float max) { return max; }
};
// #endregion bug

WB_MUTANT(Wrong);
