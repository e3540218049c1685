// Mutant: the keys are those of the tile before, from the second tile on
// Rejected by: as many queries as keys, from one to odd primes
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ int stage_of_k(int j) { return (j > 0 ? j - 1 : 0) % 2; }
};
// #endregion bug

WB_MUTANT(Wrong);
