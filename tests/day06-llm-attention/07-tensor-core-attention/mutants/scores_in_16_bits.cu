// Mutant: scores are rounded before their maximum is subtracted
// Rejected by: logits far from zero, close to each other
#include "kernel.h"

// #region bug
struct Wrong : Right {
    template <class T>
    static __device__ float score(float x) {
        return static_cast<float>(static_cast<T>(x));
    }
};
// #endregion bug

WB_MUTANT(Wrong);
