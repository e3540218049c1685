// Mutant: the output is rounded after each tile of keys
// Rejected by: equal weights: whole numbers add up exactly
#include "kernel.h"

// #region bug
struct Wrong : Right {
    template <class T>
    static __device__ float output(float x) {
        return static_cast<float>(static_cast<T>(x));
    }
};
// #endregion bug

WB_MUTANT(Wrong);
