// Mutant: a query sees the key after its own
// Rejected by: causal: the last query sees the last key, however many there are
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ bool sees(int key, int visible) { return key <= visible; }
};
// #endregion bug

WB_MUTANT(Wrong);
