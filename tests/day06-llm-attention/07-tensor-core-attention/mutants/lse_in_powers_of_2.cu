// Mutant: the logarithm has the wrong base
// Rejected by: as many queries as keys, from one to odd primes
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ float lse(float max, float sum) { return max + log2f(sum); }
};
// #endregion bug

WB_MUTANT(Wrong);
