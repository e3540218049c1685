// roofline.cu: what five given kernels cost, and how long they take, said beforehand.
// #solution
//
// No ladder: there is one right count, and one model.
// #end
#include "roofline.h"

#include <wb/arguments.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include <algorithm>

#include "given_kernels.h"

// #solution

// #region helpers
/// Bytes of the sectors that hold `count` neighbouring floats.
static double sector_bytes(int64_t count) {
    constexpr int64_t kFloatsOfASector = 8;
    return 32.0 * static_cast<double>(wb::ceil_div(count, kFloatsOfASector));
}

/// Warps that n threads in a row make.
static double warps(int64_t n) {
    return static_cast<double>(wb::ceil_div(n, int64_t{wb::kWarpSize}));
}
// #endregion helpers
// #end

// #region saxpy-cost
Cost saxpy_cost(int64_t n) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("saxpy_cost").size("n", n);
    // TODO(learner): operations, bytes of all sectors that are read and written, and
    // requests of warps (about 4 lines)
    // #solution
    const double elements = static_cast<double>(n);
    return {2.0 * elements, 3.0 * sector_bytes(n), 3.0 * warps(n)};
    // #end
    // #starter return {};  // and this one
}
// #endregion saxpy-cost

// #region strided-cost
Cost strided_scale_cost(int64_t n, int64_t stride) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("strided_scale_cost").size("n", n).positive("stride", stride);
    if (n == 0) return {};
    // TODO(learner): which sectors of x are touched if the stride is less than a
    // sector, which if it is more? (about 5 lines)
    // #solution
    // Up to a stride of 8 floats no sector is skipped; then each element has its own.
    const double read = stride <= 8 ? sector_bytes((n - 1) * stride + 1)
                                    : 32.0 * static_cast<double>(n);
    return {static_cast<double>(n), read + sector_bytes(n), 2.0 * warps(n)};
    // #end
    // #starter return {};  // and this one
}
// #endregion strided-cost

// #region polynomial-cost
Cost polynomial_cost(int64_t n, int64_t degree) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("polynomial_cost").size("n", n).size("degree", degree);
    // TODO(learner): an FMA is two operations (about 4 lines)
    // #solution
    const double steps = static_cast<double>(n) * static_cast<double>(degree);
    return {2.0 * steps, 2.0 * sector_bytes(n), 2.0 * warps(n)};
    // #end
    // #starter return {};  // and this one
}
// #endregion polynomial-cost

// #region naive-cost
Cost matmul_naive_cost(int64_t n) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("matmul_naive_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    // TODO(learner): how many warps are there, and how often does each of them load?
    // The memory need not move what a cache can give a second time (about 5 lines)
    // #solution
    const double size = static_cast<double>(n);
    const double all_warps = size * size / wb::kWarpSize;
    return {2.0 * size * size * size,
            3.0 * sector_bytes(n * n),
            all_warps * (2.0 * size + 1.0)};
    // #end
    // #starter return {};  // and this one
}
// #endregion naive-cost

// #region tiled-cost
Cost matmul_tiled_cost(int64_t n) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("matmul_tiled_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    // TODO(learner): loads and stores of shared memory are requests, too (about 6
    // lines)
    // #solution
    const double size = static_cast<double>(n);
    const double all_warps = size * size / wb::kWarpSize;
    const double tiles = size / kTile;
    const double requests_a_tile = 2.0 + 2.0 + 2.0 * kTile;  // load, keep, use
    return {2.0 * size * size * size,
            3.0 * sector_bytes(n * n),
            all_warps * (tiles * requests_a_tile + 1.0)};
    // #end
    // #starter return {};  // and this one
}
// #endregion tiled-cost

// #region predict
Prediction predict(const Cost& cost, const Roofs& roofs) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    for (const double roof :
         {roofs.flop_per_s, roofs.bytes_per_s, roofs.requests_per_s, roofs.launch_s}) {
        wb::Arguments("predict")
            .finite("roofs", roof)
            .require(roof > 0.0, "roofs", static_cast<int64_t>(roof), "> 0");
    }
    // TODO(learner): three times, the longest of them, and whether the launch takes
    // longer still (about 10 lines)
    // #solution
    const double memory = cost.dram_bytes / roofs.bytes_per_s;
    const double arithmetic = cost.flop / roofs.flop_per_s;
    const double load_store = cost.requests / roofs.requests_per_s;
    const double busy = std::max({memory, arithmetic, load_store});
    Limit limit = Limit::load_store;
    if (busy == arithmetic) limit = Limit::arithmetic;
    if (busy == memory) limit = Limit::memory;
    if (busy < roofs.launch_s) limit = Limit::launch;
    return {limit, roofs.launch_s + busy};
    // #end
    // #starter return {};  // and this one
}
// #endregion predict
