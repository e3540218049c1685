// Mutant: the transpositions of a and b have changed places
// Rejected by: instruction descriptors, whole
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint32_t instruction_descriptor(
        int m, int n, Element type, bool transpose_a, bool transpose_b) {
        return RightPacking::instruction_descriptor(
            m, n, type, transpose_b, transpose_a);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
