// Grades day06-llm-attention/05-sparse-attention: patterns of blocks.
#include "sparse_attention.h"

#include <wb/testing/attention_grade.h>
#include <wb/testing/catch.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>
#ifdef SIMT_CPU
#include <simt/options.h>
#endif

#include <limits>
#include <numeric>

#include "faults.h"
#include "grade.h"

namespace {

/// While this lives, the simulator's GPU has 99 KB of shared memory for a block, as
/// sm_86 and sm_89. A real one has what it has.
struct SharedOfSm86 {
#ifdef SIMT_CPU
    SharedOfSm86() {
        simt::set_shared_per_block(99 * 1024);
    }
    ~SharedOfSm86() {
        simt::set_shared_per_block(0);
    }
#else
    SharedOfSm86() {}
    ~SharedOfSm86() {}
#endif
    SharedOfSm86(const SharedOfSm86&) = delete;
    SharedOfSm86& operator=(const SharedOfSm86&) = delete;
};

}  // namespace

TEST_CASE("blocks: every pattern gives what its rows give") {
    // Three rows of blocks, the last of 44 queries; five key blocks, the last of 45.
    // Where a tool watches, two rows of blocks and three key blocks.
    const int64_t n = wb::testing::is_watched() ? 140 : 300;
    for (const auto& [name, pattern] : wb::testing::all_patterns(n, n + 1))
        grade_blocks(shape_of(pattern, 32), pattern, name);
}

TEST_CASE("blocks: the first and the last row of a tile do not tell of the others") {
    // The first and the last of each eight rows see all keys, or none; the others see
    // a window.
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (const bool all : {true, false}) {
        const auto window = wb::local_pattern(131, 130, 9, 2);
        std::vector<int32_t> edge(all ? std::size_t{130} : 0);
        std::iota(edge.begin(), edge.end(), 0);
        std::vector<std::vector<int32_t>> rows;
        for (std::size_t row = 0; row < 131; ++row) {
            const auto at = window.offsets.begin() + static_cast<int64_t>(row);
            rows.emplace_back(window.indices.begin() + at[0],
                              window.indices.begin() + at[1]);
            if (row % 8 == 0 || row % 8 == 7) rows.back() = edge;
        }
        const auto pattern = rows_of(130, rows);
        for (const int64_t D : kHeadDims)
            grade_blocks(shape_of(pattern, D),
                         pattern,
                         all ? "two rows of eight see all" : "two of eight see none");
    }
}

TEST_CASE("blocks: sizes around those of a block") {
    for (const int64_t n : {1, 2, 63, 64, 65, 127, 128, 129}) {
        if (wb::testing::is_watched() && n != 1 && n != 65 && n != 129) continue;
        const auto window = wb::local_pattern(n, n + 1, 33, 5);
        grade_blocks(shape_of(window, 32), window, "window 33 + 5");
        const auto dense = wb::dense_pattern(n, n, false);
        grade_blocks(shape_of(dense, 32), dense, "dense: all blocks are full");
    }
}

TEST_CASE("blocks: nothing is kept from call to call") {
    const auto first = wb::dense_pattern(13, 19, false);
    const auto other = wb::local_pattern(70, 71, 9, 2);
    wb::testing::expect_independent(
        [&] { grade_blocks(shape_of(first, 32, 2), first, "dense"); },
        [&] { grade_blocks(shape_of(other, 64), other, "window 9 + 2"); });
}

TEST_CASE("blocks: head dimensions, batches and heads") {
    const auto small = wb::local_pattern(67, 70, 30, 20);
    for (const int64_t D : {64, 128})
        grade_blocks(shape_of(small, D), small, "window 30 + 20");
    const auto large = wb::local_pattern(131, 100, 90, 20);
    grade_blocks(shape_of(large, 32, 2, 3), large, "window 90 + 20");
}

/// The same keys in each row but the last two, which list all before 195: the last row
/// of blocks has full blocks and partial ones.
static HostCsr with_full_end(const HostCsr& pattern) {
    std::vector<std::vector<int32_t>> rows;
    for (int64_t row = 0; row < pattern.queries; ++row) {
        const auto at = pattern.offsets.begin() + row;
        rows.emplace_back(pattern.indices.begin() + at[0],
                          pattern.indices.begin() + at[1]);
        if (row + 2 < pattern.queries) continue;
        rows.back().resize(195);
        std::iota(rows.back().begin(), rows.back().end(), 0);
    }
    return rows_of(pattern.keys, rows);
}

TEST_CASE("blocks: many in a row, and no log-sum-exp, for all head dimensions") {
    for (const int64_t D : {32, 64, 128}) {
        const auto dense = wb::dense_pattern(2, 1043, false);
        grade_blocks(shape_of(dense, D), dense, "16 full blocks and a partial one");
        // Three rows of blocks take the tools that watch longest of all.
        if (wb::testing::is_watched()) continue;
        const auto window = with_full_end(wb::local_pattern(258, 270, 40, 5));
        const auto shape = shape_of(window, D, 1, D == 128 ? 1 : 2);
        const auto inputs = random_attention(shape, 1);
        grade_blocks(shape,
                     to_blocks(window),
                     inputs,
                     expect_sparse(shape, window, inputs),
                     "window 40 + 5, and 195 keys",
                     {},
                     false);
    }
}

TEST_CASE("blocks: a GPU with little shared memory") {
    const wb::testing::LittleSharedMemory little;  // D = 64 and 128: not enough
    const auto pattern = wb::local_pattern(67, 70, 30, 20);
    for (const int64_t D : {32, 64, 128})
        grade_blocks(shape_of(pattern, D, 1, 2), pattern, "window 30 + 20");
    const auto dense = wb::dense_pattern(3, 70, false);  // the last block has 6 keys
    grade_blocks(shape_of(dense, 64), dense, "dense: all blocks are full");
}

TEST_CASE("blocks: a GPU whose tiles are half as large") {
    // With D = 128, a block of the pattern is two tiles high and two wide.
    const SharedOfSm86 shared;
    const auto pattern = wb::window_with_sinks(200, 203, 90, 5);
    for (const int64_t D : {128, 64})
        grade_blocks(shape_of(pattern, D), pattern, "window 90 with 5 sinks");
}

TEST_CASE("blocks: long lists", "[long]") {
    // Rows without the keys 5 and 70 have two partial blocks, others two full ones.
    auto gaps = wb::dense_pattern(1, 128, false).indices;
    gaps.erase(gaps.begin() + 70);
    gaps.erase(gaps.begin() + 5);
    for (const bool partial : {false, true}) {
        const auto once = partial ? rows_of(128, {gaps, gaps, gaps})
                                  : wb::dense_pattern(3, 128, false);
        grade_long_list(once, partial);
    }
}

TEST_CASE("blocks: more than 4096 in a list", "[long]") {
    if (wb::testing::is_watched()) return;  // there, places are no others
    const std::vector<int32_t> gaps = {5,
                                       70};  // few keys: the reference takes them all
    grade_long_list(rows_of(128, {gaps}), true, /*longest=*/true);
}

TEST_CASE("blocks: an empty row gives zeros and minus infinity") {
    std::vector<std::vector<int32_t>> rows(260);
    rows[1] = {0};
    rows[130] = {64, 65, 66};  // the third row of blocks is empty altogether
    const auto pattern = rows_of(70, rows);
    grade_blocks(shape_of(pattern, 32, 2), pattern, "only queries 1 and 130 see keys");
    grade_blocks(shape_of(rows_of(0, {{}, {}}), 32), rows_of(0, {{}, {}}), "no keys");
}

TEST_CASE("blocks: lists and rows may come in any order") {
    const auto pattern = wb::local_pattern(400, 500, 200, 0);
    const auto shape = shape_of(pattern, 32);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, pattern, inputs);
    HostBlocks blocks = to_blocks(pattern);
    constexpr auto kRows = static_cast<std::size_t>(wb::BlockPattern::kRows);
    for (std::size_t row = 0; row + 1 < blocks.full.offsets.size(); ++row) {
        const auto reverse = [&](wb::HostBlockList& list) {
            std::reverse(list.blocks.begin() + list.offsets[row],
                         list.blocks.begin() + list.offsets[row + 1]);
        };
        reverse(blocks.full);
        reverse(blocks.partial);
        auto first = static_cast<std::size_t>(blocks.partial.offsets[row]);
        auto last = static_cast<std::size_t>(blocks.partial.offsets[row + 1]);
        for (; first + 1 < last; ++first, --last) {
            std::swap_ranges(
                blocks.masks.begin() + static_cast<int64_t>(first * kRows),
                blocks.masks.begin() + static_cast<int64_t>((first + 1) * kRows),
                blocks.masks.begin() + static_cast<int64_t>((last - 1) * kRows));
        }
    }
    std::reverse(blocks.order.begin(), blocks.order.end());
    grade_blocks(shape, blocks, inputs, expected, "lists and order reversed");
}

TEST_CASE("blocks: one that is listed twice counts twice") {
    const auto once = wb::dense_pattern(3, 64, false);
    HostCsr twice = rows_of_lengths(64, {128, 128, 128});
    HostBlocks blocks = to_blocks(once);
    blocks.full.blocks.push_back(0);
    blocks.full.offsets.back() = 2;
    for (const int64_t D : kHeadDims) {
        const auto shape = shape_of(once, D, 1, D / 32);
        const auto inputs = random_attention(shape, 1);
        const auto expected = expect_sparse(shape, twice, inputs);
        grade_blocks(shape, blocks, inputs, expected, "block 0 twice");
    }
}

TEST_CASE("blocks: one that is full and partial at once counts twice") {
    const auto once = wb::dense_pattern(3, 64, false);
    const auto shape = shape_of(once, 32);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(once);
    constexpr auto kRows = static_cast<std::size_t>(wb::BlockPattern::kRows);
    for (int i = 0; i < 5; ++i) {
        const uint64_t mask = i == 0 ? ~uint64_t{0} : uint64_t{0xF0};
        blocks.partial.blocks.push_back(0);
        blocks.partial.offsets.back() += 1;
        blocks.masks.insert(blocks.masks.end(), kRows, mask);
    }
    std::vector<int32_t> row;
    for (int32_t key = 0; key < 64; ++key)
        row.insert(row.end(), key / 4 == 1 ? 6 : 2, key);
    const auto listed = rows_of(64, {row, row, row});
    grade_blocks(shape,
                 blocks,
                 inputs,
                 expect_sparse(shape, listed, inputs),
                 "block 0 is full, and partial five times, with other masks");
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    const auto pattern = wb::dense_pattern(5, 67, true);
    for (const int64_t D : kHeadDims) {
        auto shape = shape_of(pattern, D);
        for (const float scale : {1.0f, wb::testing::kFarScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                const auto inputs = wb::testing::far_scores(shape, score);
                auto expected = expect_sparse(shape, pattern, inputs);
                wb::testing::bound_far_scores(shape, expected);
                const std::string text = "every product 2^20 or -2^20";
                grade_rows(shape, pattern, inputs, expected, text);
                grade_blocks(shape, to_blocks(pattern), inputs, expected, text);
            }
        }
    }
}

TEST_CASE("more than 4096 keys, the largest score in the middle") {
    const auto pattern = wb::dense_pattern(1, 4131, false);
    const auto shape = shape_of(pattern, 32);
    const auto inputs = with_logits(shape, wb::testing::Logits::peak, {}, 1);
    const auto expected = expect_sparse(shape, pattern, inputs);
    grade_rows(shape, pattern, inputs, expected, "the largest score in the middle");
    grade_blocks(
        shape, to_blocks(pattern), inputs, expected, "the largest score in the middle");
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    for (const int64_t D : kHeadDims) {
        const auto pattern = wb::dense_pattern(1, D == 32 ? 2101 : 203, false);
        auto shape = shape_of(pattern, D);
        shape.scale = 1.0f;
        grade_both(
            shape, pattern, wb::testing::small_weights(shape), "scores -64 and -124");
        const auto fewer = wb::dense_pattern(1, 203, false);
        shape.keys = 203;
        grade_both(shape,
                   fewer,
                   wb::testing::small_weights(shape, 87.0f),
                   "scores -64 and -151");
    }
}

TEST_CASE("small weights count: one of four keys has nearly all", "[values]") {
    const auto pattern = wb::dense_pattern(1, 4, false);
    for (const int64_t D : kHeadDims) {
        auto shape = shape_of(pattern, D);
        shape.scale = 1.0f;
        grade_both(
            shape, pattern, wb::testing::nearly_alone(shape), "scores 0 and below -10");
    }
}

TEST_CASE("queries and keys below the smallest number with all its digits",
          "[values]") {
    const auto pattern = wb::dense_pattern(5, 70, false);
    for (const int64_t D : kHeadDims) {
        auto shape = shape_of(pattern, D, 1, 2);
        const auto inputs = wb::testing::subnormal_scores(shape, 0x1p-136);
        grade_both(shape, pattern, inputs, "subnormal q or k");
    }
}

TEST_CASE("a scale below the smallest number with all its digits", "[values]") {
    const auto pattern = wb::dense_pattern(5, 70, false);
    for (const int64_t D : kHeadDims) {
        auto shape = shape_of(pattern, D, 1, 2);
        const auto inputs = wb::testing::subnormal_scale(shape);
        grade_both(shape, pattern, inputs, "subnormal scale");
    }
}

TEST_CASE("blocks: a block that does not exist is reported, and not read") {
    for (const int64_t D : kHeadDims) {
        const int32_t row = D == 64 ? 0 : 1;
        faults::grade_block(-1, /*partial=*/false, 1, D, row);
        if (wb::testing::is_watched() && D != 64) continue;  // what reads is the same
        faults::grade_block(3, false, D == 32 ? 2 : 1, D);   // there are 3
        faults::grade_block(3, true, 1, D, D == 32 ? 2 : 1 - row);
        faults::grade_block(std::numeric_limits<int32_t>::max(), true, 1, D, row);
        faults::grade_only_block(D != 64, D);
        if (wb::testing::is_watched()) continue;
        // Its first key is 0 in 32 bits; or its offset in k is.
        faults::grade_block(1 << 26, /*partial=*/D == 64, 1, D, row);
        faults::grade_block(
            static_cast<int32_t>((1 << 26) / D), /*partial=*/D != 64, 1, D, row);
    }
    for (const int64_t behind : {1, 2})
        faults::grade_block(3, true, 1, 32, 1, behind);
    faults::grade_block(3, false, 1, 32, 2, 1);
    if (wb::testing::is_watched()) return;
    faults::grade_block_of_long_list();
    for (const int64_t D : kHeadDims)
        for (const bool partial : {false, true})
            faults::grade_block_beside_nan(partial ? 3 : -1, partial, D);
}

TEST_CASE("blocks: offsets that are no range are reported, and the row is empty") {
    for (const int64_t D : kHeadDims) {
        for (const bool partial : {false, true}) {
            faults::grade_block_offsets({-1, 1, 2}, 0, partial, D);
            faults::grade_block_offsets({0, 1, 3}, 1, partial, D);  // there are 2
            // The lower half of this is right.
            const int64_t past_int = int64_t{1} << 32;
            faults::grade_block_offsets({0, 1, past_int + 2}, 1, partial, D);
        }
    }
}

TEST_CASE("blocks: an order that names no row of blocks is reported") {
    // 2^25 is that of query 0 in 32 bits.
    for (const int32_t wrong : {-1, 2, 1 << 25, std::numeric_limits<int32_t>::max()})
        grade_wrong_order(wrong);
}
