// Mutant: tiles that the last row of a warp sees whole are not masked for any row
// Rejected by: causal over many tiles of rows and of keys
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ int masked_from(int, int last) { return last / kKeys; }
};
// #endregion bug

WB_MUTANT(Wrong);
