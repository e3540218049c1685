// roofline.cu: what five given kernels cost, and how long they take, said beforehand.
#include "roofline.h"

#include <wb/arguments.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include <algorithm>

#include "given_kernels.h"

// #region saxpy-cost
Cost saxpy_cost(int64_t n) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("saxpy_cost").size("n", n);
    // TODO(learner): operations, bytes of all sectors that are read and written, and
    // requests of warps (about 4 lines)
    return {};  // and this one
}
// #endregion saxpy-cost

// #region strided-cost
Cost strided_scale_cost(int64_t n, int64_t stride) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("strided_scale_cost").size("n", n).positive("stride", stride);
    if (n == 0) return {};
    // TODO(learner): which sectors of x are touched if the stride is less than a
    // sector, which if it is more? (about 5 lines)
    return {};  // and this one
}
// #endregion strided-cost

// #region polynomial-cost
Cost polynomial_cost(int64_t n, int64_t degree) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("polynomial_cost").size("n", n).size("degree", degree);
    // TODO(learner): an FMA is two operations (about 4 lines)
    return {};  // and this one
}
// #endregion polynomial-cost

// #region naive-cost
Cost matmul_naive_cost(int64_t n) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("matmul_naive_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    // TODO(learner): how many warps are there, and how often does each of them load?
    // The memory need not move what a cache can give a second time (about 5 lines)
    return {};  // and this one
}
// #endregion naive-cost

// #region tiled-cost
Cost matmul_tiled_cost(int64_t n) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("matmul_tiled_cost")
        .size("n", n)
        .require(n % kTile == 0, "n", n, "a multiple of 32");
    // TODO(learner): loads and stores of shared memory are requests, too (about 6
    // lines)
    return {};  // and this one
}
// #endregion tiled-cost

// #region predict
Prediction predict(const Cost& cost, const Roofs& roofs) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    for (const double roof :
         {roofs.flop_per_s, roofs.bytes_per_s, roofs.requests_per_s, roofs.launch_s}) {
        wb::Arguments("predict")
            .finite("roofs", roof)
            .require(roof > 0.0, "roofs", static_cast<int64_t>(roof), "> 0");
    }
    // TODO(learner): three times, the longest of them, and whether the launch takes
    // longer still (about 10 lines)
    return {};  // and this one
}
// #endregion predict
