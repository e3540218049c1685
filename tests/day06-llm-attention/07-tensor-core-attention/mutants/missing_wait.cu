// Mutant: the newest group may still be in flight, and it is the one that is needed
// Rejected by: as many queries as keys, from one to odd primes
#include "kernel.h"

// #region bug
struct Wrong : Right {
    // Two stages: while one is used, the other may be on its way.
    static __device__ void wait() { wb::ptx::cp_async_wait<1>(); }
};
// #endregion bug

WB_MUTANT(Wrong);
