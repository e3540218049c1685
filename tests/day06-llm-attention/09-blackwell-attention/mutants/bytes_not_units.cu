// Mutant: distances in bytes instead of units of 16
// Rejected by: shared memory descriptors, whole
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        return RightPacking::shared_descriptor(
            address, leading_bytes * 16, stride_bytes * 16, swizzle);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
