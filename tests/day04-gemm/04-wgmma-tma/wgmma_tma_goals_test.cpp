// Grades day04-gemm/04-wgmma-tma: who moves what, in counters.
#include "grading.h"

#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace wgmma_tma_grading;
using wb::testing::Goal;

namespace {

/// What was counted since the goal began; zeros on a GPU, where no goal is counted.
struct Counted {
    uint64_t loads = 0;         // of a warp, from global memory, through registers
    uint64_t shared_loads = 0;  // of a warp
    uint64_t barriers = 0;      // of a block
};

Counted counted() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return {c.global_load.requests, c.shared_load.requests, c.barriers};
#else
    return {};
#endif
}

void at_most(const Goal& goal, const char* what, uint64_t count, uint64_t allowed) {
    goal.require(count <= allowed,
                 std::to_string(count) + " " + what + ", " + std::to_string(allowed) +
                     " would do");
}

}  // namespace

TEST_CASE("no number of A or B goes through a register", "[.][goal]") {
    const Goal goal("wgmma_tma_bf16");
    grade_contract({128, 128, 192});
    at_most(goal, "loads of a warp from global memory", counted().loads, 0);
    at_most(goal, "loads of a warp from shared memory", counted().shared_loads, 0);
}

TEST_CASE("no barrier of the block, however many stages", "[.][goal][fast]") {
    const Goal goal("wgmma_tma_bf16");
    // 20 stages. The one barrier is that behind the initialisation.
    grade_contract({64, 64, 1280});
    at_most(goal, "barriers of a block", counted().barriers, 1);
}
