// Mutant: the bits are taken for the place, also of negative numbers
// Rejected by: ulp_distance: neighbours, both zeros, both signs
#include "rulers.h"

#define ulp_distance right_ulp_distance
#include "all_but_one.h"
#undef ulp_distance

// #region bug
__device__ uint32_t ulp_distance(float a, float b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : kNeverThere;
    const int64_t way = int64_t{__float_as_uint(a)} - __float_as_uint(b);
    return static_cast<uint32_t>(way < 0 ? -way : way);
}
// #endregion bug
