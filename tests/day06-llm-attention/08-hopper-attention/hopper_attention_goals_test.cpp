// Grades day06-llm-attention/08-hopper-attention: what runs beneath what, in counters.
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

#include "hopper_grading.h"

using namespace hopper_grading;
using wb::testing::Goal;

namespace {

/// Shuffles of warps beside products that they have started and not waited for; 0 on a
/// GPU, where no goal is counted.
uint64_t shuffles_beside_products() {
#ifdef SIMT_CPU
    return simt::check::counters("").shuffles_beside_products;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("softmax runs beneath its own warpgroup's products", "[.][goal][fast]") {
    NEEDS_HOPPER();
    const Goal goal("hopper_attention_bf16");
    // 128 queries: two warpgroups, each with blocks of 176 keys.
    constexpr int64_t kBlocks = 4;
    grade_bf16(plain_attention(1, 1, 128, (kBlocks - 1) * 176 + 100, 64));
    // softmax_step has four shuffles. The first block's products have no others to run
    // beneath.
    constexpr uint64_t kWarps = 8;
    constexpr uint64_t kShuffles = 4;
    const uint64_t steps = shuffles_beside_products() / (kWarps * kShuffles);
    goal.require(
        steps >= kBlocks - 1,
        "in " + std::to_string(steps) + " of " + std::to_string(kBlocks) +
            " blocks the softmax runs while products of its own warpgroup do, " +
            std::to_string(kBlocks - 1) + " would do");
}
