// Mutant: each element that is read counts a sector, whatever the stride
// Rejected by: a strided read: whole sectors, wanted or not
#define strided_scale_cost right_strided_scale_cost
#include "solution.h"
#undef strided_scale_cost

// #region bug
Cost strided_scale_cost(int64_t n, int64_t stride) {
    wb::Arguments("strided_scale_cost").size("n", n).positive("stride", stride);
    if (n == 0) return {};
    const double read = 32.0 * static_cast<double>(n);
    return {static_cast<double>(n), read + sector_bytes(n), 2.0 * warps(n)};
}
// #endregion bug
