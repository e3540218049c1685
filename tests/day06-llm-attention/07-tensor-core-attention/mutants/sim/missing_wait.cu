// Mutant: the newest group may still be in flight, and it is the one that is needed; on
// a GPU the copies have often arrived by then
// Rejected by: one query and one key: the output is the value, to the bit
#include "../kernel.h"

// #region bug
struct Wrong : Right {
    // Two stages: while one is used, the other may be on its way.
    static __device__ void wait() { wb::ptx::cp_async_wait<1>(); }
};
// #endregion bug

WB_MUTANT(Wrong);
