// Mutant: n is counted in units of 16, as m is
// Rejected by: instruction descriptors, bit by bit
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint32_t instruction_descriptor(
        int m, int n, Element type, bool transpose_a, bool transpose_b) {
        return RightPacking::instruction_descriptor(
            m, n / 2, type, transpose_a, transpose_b);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
