// Mutant: counts what saxpy reads, not what it writes
// Rejected by: saxpy: two reads, one write, an operation and one more
#define saxpy_cost right_saxpy_cost
#include "solution.h"
#undef saxpy_cost

Cost saxpy_cost(int64_t n) {
    wb::Arguments("saxpy_cost").size("n", n);
    const double elements = static_cast<double>(n);
    return {2.0 * elements, 2.0 * sector_bytes(n), 3.0 * warps(n)};
}
