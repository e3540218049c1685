// Mutant: a high bit of the address runs into the fields above it
// Rejected by: shared memory descriptors, bit by bit
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        return RightPacking::shared_descriptor(
                   0, leading_bytes, stride_bytes, swizzle) |
               uint64_t{address >> 4};
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
