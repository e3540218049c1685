// Mutant: the units of four rows, not of eight, change places
// Rejected by: the 128-byte swizzle is the one in the PTX ISA's figure
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ int swizzled_byte(int row, int byte) {
        return row * 128 + (byte ^ row % 4 * 16);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
