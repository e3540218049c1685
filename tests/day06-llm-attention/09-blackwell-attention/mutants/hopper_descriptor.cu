// Mutant: the swizzle's number is that of Hopper, in two bits, and 001 is missing
// Rejected by: shared memory descriptors, bit by bit
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        const uint64_t mode = swizzle == Swizzle::bytes_128  ? 1
                              : swizzle == Swizzle::bytes_64 ? 2
                              : swizzle == Swizzle::bytes_32 ? 3
                                                             : 0;
        return uint64_t{address >> 4 & 0x3fff} |
               uint64_t{leading_bytes >> 4 & 0x3fff} << 16 |
               uint64_t{stride_bytes >> 4 & 0x3fff} << 32 | mode << 62;
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
