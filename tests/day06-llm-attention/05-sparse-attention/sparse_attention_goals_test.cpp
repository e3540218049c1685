// Grades day06-llm-attention/05-sparse-attention: what is read of blocks and masks, in
// counters.
#include "grade.h"

#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using wb::testing::Goal;

namespace {

/// 512 queries and keys, a window of 200 keys with 4 sinks, D = 64: 4 rows of blocks,
/// of 8 key blocks. Each row but the first lists a full block, and the last leaves out
/// a block between the sinks and the window.
struct Window {
    static constexpr int64_t kLength = 512;
    static constexpr int64_t kDim = 64;

    HostCsr rows = wb::window_with_sinks(kLength, kLength, 200, 4);
    HostBlocks blocks = to_blocks(rows);
    int64_t partial = static_cast<int64_t>(blocks.partial.blocks.size());
    int64_t listed = partial + static_cast<int64_t>(blocks.full.blocks.size());

    /// The contract's function alone.
    void grade() const {
        const auto shape = shape_of(rows, kDim, 1);
        const auto inputs = random_attention(shape, 1);
        wb::testing::grade_sparse<wb::BlockPattern>(
            {{"block_sparse_attention", "", block_sparse_attention}},
            shape,
            blocks,
            inputs,
            expect_sparse(shape, rows, inputs),
            "a window of 200 keys with 4 sinks");
    }
};

/// Sectors of 32 bytes that were read from global memory since the goal began; 0 on a
/// GPU, where no goal is counted.
uint64_t sectors() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return c.global_load.sectors + c.async_load.sectors;
#else
    return 0;
#endif
}

/// Loads of warps from global memory, without asynchronous copies.
uint64_t loads() {
#ifdef SIMT_CPU
    return simt::check::counters("").global_load.requests;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("blocks: 128 queries read a listed block once, and no other",
          "[.][goal][fast]") {
    const Window window;
    const Goal goal("block_sparse_attention");
    window.grade();
    constexpr int64_t kQueries = Window::kLength * Window::kDim * 4 / 32;
    constexpr int64_t kBlock = 2 * wb::BlockPattern::kKeys * Window::kDim * 4 / 32;
    // A fifth more, for lists and masks.
    const auto allowed =
        static_cast<uint64_t>(kQueries + window.listed * kBlock * 6 / 5);
    goal.require(sectors() <= allowed,
                 std::to_string(sectors()) + " sectors are read for " +
                     std::to_string(window.listed) + " listed blocks, " +
                     std::to_string(allowed) + " would do");
}

TEST_CASE("blocks: a row's word of masks is loaded once, and none of full blocks",
          "[.][goal][fast]") {
    const Window window;
    const Goal goal("block_sparse_attention");
    window.grade();
    // Four warps for each row of blocks. A warp has 16 loads of queries and 5 of its
    // row's places, say 30; one or two for the number of a listed block; and for a
    // partial one, a word for each of a thread's eight rows.
    constexpr int64_t kWarps = 4;
    constexpr int64_t kRows = Window::kLength / wb::BlockPattern::kRows;
    const auto allowed = static_cast<uint64_t>(
        kWarps * (30 * kRows + 2 * window.listed + 8 * window.partial));
    goal.require(loads() <= allowed,
                 std::to_string(loads()) + " loads of warps for " +
                     std::to_string(window.partial) + " partial blocks, " +
                     std::to_string(allowed) + " would do");
}
