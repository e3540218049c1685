// Mutant: a fused multiply-add counts as one operation
// Rejected by: a polynomial: as many operations as you like
#define polynomial_cost right_polynomial_cost
#include "solution.h"
#undef polynomial_cost

Cost polynomial_cost(int64_t n, int64_t degree) {
    wb::Arguments("polynomial_cost").size("n", n).size("degree", degree);
    const double steps = static_cast<double>(n) * static_cast<double>(degree);
    return {steps, 2.0 * sector_bytes(n), 2.0 * warps(n)};
}
