// Mutant: what a long stride skips is counted as moved
// Rejected by: a strided read: whole sectors, wanted or not
#define strided_scale_cost right_strided_scale_cost
#include "solution.h"
#undef strided_scale_cost

Cost strided_scale_cost(int64_t n, int64_t stride) {
    wb::Arguments("strided_scale_cost").size("n", n).positive("stride", stride);
    if (n == 0) return {};
    const double read = sector_bytes((n - 1) * stride + 1);
    return {static_cast<double>(n), read + sector_bytes(n), 2.0 * warps(n)};
}
