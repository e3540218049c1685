// Mutant: each load of the naive product comes from memory
// Rejected by: a naive matrix product: caches serve memory, nothing serves warps
#define matmul_naive_cost right_matmul_naive_cost
#include "solution.h"
#undef matmul_naive_cost

Cost matmul_naive_cost(int64_t n) {
    wb::Arguments("matmul_naive_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    const double size = static_cast<double>(n);
    const double all_warps = size * size / wb::kWarpSize;
    return {2.0 * size * size * size,
            2.0 * size * sector_bytes(n * n) + sector_bytes(n * n),
            all_warps * (2.0 * size + 1.0)};
}
