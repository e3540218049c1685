// Mutant: the column is in the upper half of the address
// Rejected by: addresses in tensor memory
#include "right_packing.h"

struct Packing : RightPacking {
    // #region bug
    static __host__ __device__ uint32_t tensor_address(uint32_t base,
                                                       int lane,
                                                       int column) {
        return RightPacking::tensor_address(base, column, lane);
    }
    // #endregion bug
};

BLACKWELL_CONTRACT()
