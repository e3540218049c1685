// Mutant: of two neighbouring keys the first one is in the upper half
// Rejected by: weights: a row in each lane, two keys in each cell
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ WeightPlace weight_place(int row, int key) {
        return {row, key / 2, 16 - key % 2 * 16};
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
