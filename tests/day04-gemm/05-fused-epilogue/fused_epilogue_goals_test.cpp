// Grades day04-gemm/05-fused-epilogue: what an epilogue costs, in counters.
#include "backward.h"
#include "fp8.h"
#include "mlp.h"

#include <wb/scratch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace fused_epilogue_grading;
using wb::testing::Goal;

namespace {

/// A layer for which everything is whole, and begins where it should.
constexpr Call kWhole = {128, 256, 64};
constexpr int64_t kWarps = 16;  ///< of its two blocks

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t loads = 0;  // of a warp from global memory, through registers
    uint64_t stores = 0;
    uint64_t stored_sectors = 0;
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests, c.global_store.requests, c.global_store.sectors};
#else
    return {};
#endif
}

void at_most(const Goal& goal, const char* what, uint64_t count, int64_t allowed) {
    goal.require(count <= static_cast<uint64_t>(allowed),
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

/// The function of the contract; in the solution, the version that stage 2 writes: the
/// last one is for GPUs that do these things in other ways.
template <class Function>
Function* stage_two(const std::string& exercise, Function* contract) {
    for (const auto& [name, idea, launcher] : wb::implementations(exercise, contract))
        if (name == exercise + "_v4") return launcher;
    return contract;
}

void run_linear(const Call& c) {
    const Numbers numbers = random_numbers(c, 1);
    grade_linear_one("linear_act",
                     stage_two("linear_act", &linear_act),
                     c,
                     numbers,
                     layers_of(c, numbers, false),
                     ", seed 1");
}

}  // namespace

TEST_CASE("what leaves the block is y", "[.][goal]") {
    const Goal goal("linear_act");
    run_linear(kWhole);
    // Two numbers a lane.
    at_most(goal, "stores of a warp", counted().stores, kWhole.M * kWhole.N / 64);
}

TEST_CASE("a residual is loaded once", "[.][goal]") {
    const Goal goal("linear_act");
    Call c = kWhole;
    c.has_bias = false;
    c.residual = Residual::apart;
    run_linear(c);
    at_most(goal, "loads of a warp", counted().loads, c.M * c.N / 64);
}

TEST_CASE("y leaves in whole sectors, 16 bytes a lane", "[.][goal][fast]") {
    const Goal goal("linear_act");
    run_linear(kWhole);
    const Counted c = counted();
    at_most(goal, "sectors are stored", c.stored_sectors, kWhole.M * kWhole.N / 16);
    at_most(goal, "stores of a warp", c.stores, kWhole.M * kWhole.N / 256);
}

TEST_CASE("the bias is loaded once a tile", "[.][goal][fast]") {
    const Goal goal("linear_act");
    run_linear(kWhole);
    at_most(goal, "loads of a warp", counted().loads, kWarps);
}

TEST_CASE("no bank conflicts on the way out", "[.][goal][fast]") {
    const Goal goal("linear_act");
    run_linear(kWhole);
    goal.conflicts_at_most(1.0);
}

TEST_CASE("hidden rows take half of the L2 cache", "[.][goal][fast]") {
    // 400 rows of 64 bytes: with 32 KB of cache, 256 of them are 16 KB.
    const wb::testing::SmallCache cache(32768);
    const Goal goal("mlp");
    const MlpCall c{400, 8, 32, 8};
    const MlpNumbers n = random_numbers(c, 4);
    const Wanted wanted = wanted_of(c, n, false);
    wb::reset_scratch_peak();
    grade_mlp_one("mlp", stage_two("mlp", &mlp), c, n, wanted, ", seed 4");
    const uint64_t peak = wb::scratch_peak();
    at_most(goal, "bytes of scratch memory at a time", peak, 256 * 32 * 2);
    goal.require(peak >= 256 * 32 * 2,
                 "rows are computed in parts of " + std::to_string(peak) +
                     " bytes, where 16384 would fit");
}
