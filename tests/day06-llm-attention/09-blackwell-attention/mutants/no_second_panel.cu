// Mutant: the fifth step lies to the right of the fourth, not in the next panel
// Rejected by: steps along K: 32 bytes in a panel, then the next panel
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ int key_step_bytes(int, int step) { return step * 32; }
    // #endregion bug
};

BLACKWELL_CONTRACT()
