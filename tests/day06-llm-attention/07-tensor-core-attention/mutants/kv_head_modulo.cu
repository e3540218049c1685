// Mutant: neighbouring query heads read different keys and values
// Rejected by: query heads of a group share their keys and values
#include "kernel.h"

// #region bug
struct Wrong : Right {
    static __device__ int64_t kv_head(int64_t head, int, int64_t kv_heads) {
        return head % kv_heads;
    }
};
// #endregion bug

WB_MUTANT(Wrong);
