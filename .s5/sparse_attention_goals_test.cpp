// Grades day06-llm-attention/05-sparse-attention: which blocks are read, in counters.
#include "grade.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using wb::testing::Goal;

namespace {

/// Sectors of 32 bytes read from global memory since the goal began; 0 on a GPU, where
/// no goal is counted.
uint64_t sectors() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return c.global_load.sectors + c.async_load.sectors;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("blocks: 128 queries read a listed block once, and no other",
          "[.][goal][fast]") {
    // 384 queries and keys: 3 rows of blocks, 6 blocks of keys.
    constexpr int64_t kLength = 384;
    constexpr int64_t kDim = 64;
    const auto pattern = wb::window_with_sinks(kLength, kLength, 100, 4);
    const auto blocks = to_blocks(pattern);
    const auto shape = shape_of(pattern, kDim, 1);
    const auto inputs = random_attention(shape, 1);
    const Goal goal("block_sparse_attention");
    wb::testing::grade_sparse<wb::BlockPattern>(
        {{"block_sparse_attention", "", block_sparse_attention}},
        shape,
        blocks,
        inputs,
        expect_sparse(shape, pattern, inputs),
        "a window of 100 keys with 4 sinks");
    constexpr int64_t kBlock = 2 * wb::BlockPattern::kKeys * kDim * 4 / 32;
    const auto listed =
        static_cast<int64_t>(blocks.full.blocks.size() + blocks.partial.blocks.size());
    // Queries; keys and values of the listed blocks; and for the lists and the masks of
    // each block a fifth of that.
    const auto allowed =
        static_cast<uint64_t>(kLength * kDim * 4 / 32 + listed * kBlock * 6 / 5);
    goal.require(sectors() <= allowed,
                 std::to_string(sectors()) + " sectors are read for " +
                     std::to_string(listed) + " listed blocks, " +
                     std::to_string(allowed) + " would do");
}
