// Mutant: each load of the naive product comes from memory
// Rejected by: a naive matrix product: caches serve memory, nothing serves warps
#include "roofline.h"

#include <wb/arguments.h>
#include <wb/launch.h>

#include <algorithm>

#include "given_kernels.h"

/// Bytes of the sectors that hold `count` neighbouring floats.
static double sector_bytes(int64_t count) {
    constexpr int64_t kFloatsOfASector = 8;
    return 32.0 * static_cast<double>(wb::ceil_div(count, kFloatsOfASector));
}

/// Warps that n threads in a row make.
static double warps(int64_t n) {
    return static_cast<double>(wb::ceil_div(n, int64_t{wb::kWarpSize}));
}

Cost saxpy_cost(int64_t n) {
    wb::Arguments("saxpy_cost").size("n", n);
    const double elements = static_cast<double>(n);
    return {2.0 * elements, 3.0 * sector_bytes(n), 3.0 * warps(n)};
}

Cost strided_scale_cost(int64_t n, int64_t stride) {
    wb::Arguments("strided_scale_cost").size("n", n).positive("stride", stride);
    if (n == 0) return {};
    const double read = stride <= 8 ? sector_bytes((n - 1) * stride + 1)
                                    : 32.0 * static_cast<double>(n);
    return {static_cast<double>(n), read + sector_bytes(n), 2.0 * warps(n)};
}

Cost polynomial_cost(int64_t n, int64_t degree) {
    wb::Arguments("polynomial_cost").size("n", n).size("degree", degree);
    const double steps = static_cast<double>(n) * static_cast<double>(degree);
    return {2.0 * steps, 2.0 * sector_bytes(n), 2.0 * warps(n)};
}

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

Cost matmul_tiled_cost(int64_t n) {
    wb::Arguments("matmul_tiled_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    const double size = static_cast<double>(n);
    const double all_warps = size * size / wb::kWarpSize;
    const double tiles = size / kTile;
    const double requests_a_tile = 2.0 + 2.0 + 2.0 * kTile;  // load, keep, use
    return {2.0 * size * size * size,
            3.0 * sector_bytes(n * n),
            all_warps * (tiles * requests_a_tile + 1.0)};
}

Prediction predict(const Cost& cost, const Roofs& roofs) {
    for (const double roof :
         {roofs.flop_per_s, roofs.bytes_per_s, roofs.requests_per_s, roofs.launch_s}) {
        wb::Arguments("predict")
            .finite("roofs", roof)
            .require(roof > 0.0, "roofs", static_cast<int64_t>(roof), "> 0");
    }
    const double memory = cost.dram_bytes / roofs.bytes_per_s;
    const double arithmetic = cost.flop / roofs.flop_per_s;
    const double load_store = cost.requests / roofs.requests_per_s;
    const double busy = std::max({memory, arithmetic, load_store});
    Limit limit = Limit::load_store;
    if (busy == arithmetic) limit = Limit::arithmetic;
    if (busy == memory) limit = Limit::memory;
    if (busy < roofs.launch_s) limit = Limit::launch;
    return {limit, roofs.launch_s + busy};
}
