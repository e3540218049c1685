// Tests v7 of Hopper attention, over the blocks of a pattern: rows of a tile that are
// far from each other, threads in any order, and exact results.
#include "any_lists.h"

#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: one query and one key: the output is the value, to the bit") {
    NEEDS_BLOCKS();
    const auto pattern = rows_of(1, {{0}});
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D, 1, 2);
        const auto stored = as_stored<T>(random_attention(shape, 1));
        auto expected = expect_listed(shape, pattern, stored);
        expected.o.assign(stored.v.begin(), stored.v.end());
        expected.o_bound.assign(expected.o.size(), 0.0);
        grade_stored(shape, to_blocks(pattern), stored, expected, "key 0");
    }
}

TEST_CASE("blocks: rows whose scores are far from each other, or rise at other keys") {
    NEEDS_BLOCKS();
    for (const int64_t D : {64, 128}) {
        // Of each eight rows some see nothing of a block, some all of it.
        const auto window = wb::window_with_sinks(137, 300, 90, 3);
        for (const auto& pattern : {wb::dense_pattern(33, 300, false), window}) {
            const auto shape = shape_of(pattern, D);
            const auto inputs = {std::pair{uneven_rows(shape, 1), "uneven rows"},
                                 {steps_of_rows(shape, 1), "rows rise in turn"}};
            for (const auto& [numbers, text] : inputs)
                grade(shape, pattern, to_blocks(pattern), numbers, text);
            if (wb::testing::is_watched()) break;
        }
    }
}

TEST_CASE("blocks: logits up to 10^4, and the largest in the first or last block") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(9, 400, false);
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D);
        const HostBlocks blocks = to_blocks(pattern);
        for (const bool rising : {true, false})
            grade(shape,
                  pattern,
                  blocks,
                  large_logits(shape, 1e4, rising, 1),
                  rising ? "logits rising to 10^4" : "logits falling from 10^4");
        for (const int64_t key : {0, 200, 399}) {
            auto inputs = random_attention(shape, 1);
            for (int64_t row = 0; row < shape.queries; ++row)
                inputs.q[static_cast<size_t>(row * D + 3)] = 8.0f;
            for (int64_t j = 0; j < shape.keys; ++j)
                inputs.k[static_cast<size_t>(j * D + 3)] = j == key ? 12.0f : 0.0f;
            const auto text = "the largest score at key " + std::to_string(key);
            grade(shape, pattern, blocks, inputs, text);
        }
    }
}

TEST_CASE("blocks: right whatever order the threads run in") {
    NEEDS_BLOCKS();
    // Long lists and short ones, more tiles than multiprocessors, and rows of a tile
    // that do not exist.
    const FewMultiprocessors few(2);
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        if (wb::testing::is_watched() && seed > 2) break;
        const ThreadOrder threads(seed);
        wb::testing::Random random(seed);
        const int64_t D = seed % 2 == 0 ? 64 : 128;
        const HostBlocks blocks = random_lists(
            300, 64 * 5 + 9, seed < 3 ? 17 : 7, seed < 3 ? 8 : 20, -1, random);
        grade_lists(plain_attention(1, 4, 300, blocks.keys, D), blocks, "any lists");
    }
}

TEST_CASE("blocks: right if a block of threads begins when another one has ended") {
    NEEDS_BLOCKS();
    // The last one first: nobody may wait for one that has not begun.
    wb::testing::Random random(1);
    const HostBlocks blocks = random_lists(300, 200, 4, 3, -1, random);
    for (const unsigned resident : {1U, 2U}) {
        const FewBlocks few(resident);
        const ThreadOrder threads(resident - 1);
        for (const int64_t D : {64, 128})
            grade_lists(plain_attention(1, 3, 300, 200, D), blocks, "few at once");
    }
}

TEST_CASE("blocks: 41 rows of blocks, heads, sequences, or heads that share keys") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer
    // 41 times a float's 1 / 41 is less than 1; so it is for 47, 55, 61, and so on.
    wb::testing::Random random(1);
    const HostBlocks rows = random_lists(40 * kRows + 1, 5, 1, 0, -1, random);
    grade_lists(plain_attention(1, 2, rows.queries, 5, 64), rows, "41 rows of blocks");
    const HostBlocks two = random_lists(kRows + 1, 70, 1, 1, -1, random);
    grade_lists(plain_attention(1, 41, two.queries, 70, 64), two, "41 heads");
    const HostBlocks one = random_lists(2, 70, 1, 1, -1, random);
    grade_lists(plain_attention(3, 41, 2, 70, 64), one, "three times 41 heads");
    auto shape = plain_attention(1, 82, 2, 70, 128);
    shape.kv_heads = 2;
    grade_lists(shape, one, "41 heads share keys");
    grade_lists(plain_attention(41, 1, 2, 70, 128), one, "41 sequences");
}

TEST_CASE("blocks: lists of lengths around those that a warp looks up at once") {
    NEEDS_BLOCKS();
    const FewMultiprocessors few(1);
    for (const int64_t full : {0, 31, 32, 33})
        for (const int64_t partial : {0, 1, 31, 33}) {
            if (full + partial < 31) continue;
            if (wb::testing::is_watched() && (full != 32 || partial > 1)) continue;
            wb::testing::Random random(static_cast<uint64_t>(full * 100 + partial));
            const HostBlocks blocks = random_lists(2, 200, full, partial, -1, random);
            const int64_t D = (full + partial) % 2 == 0 ? 64 : 128;
            grade_lists(plain_attention(1, 2, 2, 200, D),
                        blocks,
                        std::to_string(full) + " full ones, " +
                            std::to_string(partial) + " partial ones");
        }
}

TEST_CASE("blocks: long lists in any order, more than 32 blocks and more than 64") {
    NEEDS_BLOCKS();
    // Each block once, so that one taken from another place shows.
    for (const int64_t D : {64, 128}) {
        wb::testing::Random random(static_cast<uint64_t>(D));
        const auto all = wb::dense_pattern(2, 64 * 70 + 9, true);
        auto rows = rows_in(all);
        for (auto& row : rows)
            row.erase(std::remove_if(row.begin(),
                                     row.end(),
                                     [](int32_t key) { return key % 128 == 77; }),
                      row.end());
        const auto pattern = rows_of(all.keys, rows);
        HostBlocks blocks = to_blocks(pattern);
        shuffle_lists(blocks, random);
        const FewMultiprocessors few(1);
        auto shape = shape_of(pattern, D, 2, 4);
        shape.kv_heads = 2;
        const auto inputs = random_attention(shape, 1);
        grade(shape, pattern, blocks, inputs, "36 full blocks and 35 partial ones");
        if (wb::testing::is_watched()) break;
    }
}
