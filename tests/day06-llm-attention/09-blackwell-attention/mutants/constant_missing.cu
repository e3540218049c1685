// Mutant: bits 46 to 48 are 0
// Rejected by: shared memory descriptors, whole
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        return RightPacking::shared_descriptor(
                   address, leading_bytes, stride_bytes, swizzle) &
               ~(uint64_t{1} << 46);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
