// Mutant: loads and stores of shared memory are not counted
// Rejected by: a tiled matrix product: shared memory is asked, too
#define matmul_tiled_cost right_matmul_tiled_cost
#include "solution.h"
#undef matmul_tiled_cost

Cost matmul_tiled_cost(int64_t n) {
    wb::Arguments("matmul_tiled_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    const double size = static_cast<double>(n);
    const double all_warps = size * size / wb::kWarpSize;
    const double tiles = size / kTile;
    const double requests_a_tile = 2.0;
    return {2.0 * size * size * size,
            3.0 * sector_bytes(n * n),
            all_warps * (tiles * requests_a_tile + 1.0)};
}
