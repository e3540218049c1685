// Tests v7 of Hopper attention, over the blocks that a pattern lists.
#include "sparse_grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: one query and one key") {
    NEEDS_BLOCKS();
    for (const int64_t D : {64, 128}) {
        const auto pattern = rows_of(1, {{0}});
        grade(shape_of(pattern, D), pattern, "key 0");
    }
}

TEST_CASE("blocks: a window with sinks") {
    NEEDS_BLOCKS();
    // The third row of blocks lists two full blocks, the block of the sinks, and those
    // at both ends of the window.
    const auto pattern = wb::window_with_sinks(270, 270, 150, 5);
    grade(shape_of(pattern, 64), pattern, "window 150, 5 sinks");
    grade(shape_of(pattern, 128), pattern, "window 150, 5 sinks");
}

TEST_CASE("blocks: every pattern of chapter 05") {
    NEEDS_BLOCKS();
    const int64_t n = wb::testing::is_watched() ? 70 : 140;
    int64_t number = 0;
    for (const auto& [name, pattern] : all_patterns(n, n + 1))
        grade(shape_of(pattern, ++number % 2 == 0 ? 64 : 128), pattern, name);
}

TEST_CASE("blocks: numbers of keys around a block and a step of two") {
    NEEDS_BLOCKS();
    for (const int64_t keys : {2, 63, 64, 65, 127, 128, 129, 191, 193})
        for (const int64_t D : {64, 128}) {
            if (wb::testing::is_watched() && keys > 65) continue;
            const auto full = wb::dense_pattern(3, keys, false);
            grade(shape_of(full, D), full, "all blocks are full");
            const auto causal = wb::dense_pattern(3, keys, true);
            grade(shape_of(causal, D), causal, "causal: the last block is partial");
        }
}

TEST_CASE("blocks: numbers of queries around a row of blocks") {
    NEEDS_BLOCKS();
    for (const int64_t queries : {63, 64, 65, 127, 128, 129})
        for (const int64_t D : {64, 128}) {
            if (wb::testing::is_watched() && queries != 65) continue;
            const auto window = wb::local_pattern(queries, 70, 30, 20);
            grade(shape_of(window, D), window, "window 30 + 20");
        }
}

TEST_CASE("blocks: batches, heads, and heads that share keys") {
    NEEDS_BLOCKS();
    const auto pattern = wb::local_pattern(67, 70, 30, 20);
    auto shape = shape_of(pattern, 64, 3, 2);
    grade(shape, pattern, "window 30 + 20");
    shape.batch = 2;
    shape.query_heads = 6;
    shape.kv_heads = 3;
    grade(shape, pattern, "window 30 + 20, two heads share keys");
    shape = shape_of(pattern, 128, 1, 3);
    shape.kv_heads = 1;
    grade(shape, pattern, "window 30 + 20, three heads share keys");
}

TEST_CASE("blocks: more heads, and more sequences, than a byte counts") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer
    const auto pattern = rows_of(2, {{1}});
    auto shape = shape_of(pattern, 64, 1, 520);
    shape.kv_heads = 260;
    grade(shape, pattern, "key 1, two heads share keys");
    grade(shape_of(pattern, 128, 260, 1), pattern, "key 1");
    grade(shape_of(pattern, 128, 1, 35), pattern, "key 1");
}

TEST_CASE("blocks: more than 4096 queries, 1024 blocks in a list, and 2^15 keys") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer
    std::vector<std::vector<int32_t>> rows(4099);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = {static_cast<int32_t>(i * 7 % 70)};
    const auto many_rows = rows_of(70, rows);
    for (const int64_t D : {64, 128})
        grade(shape_of(many_rows, D), many_rows, "a key for each query");
    const auto far = rows_of(600 * 64 + 3, {{7, 300 * 64, 600 * 64 + 1}});
    grade(shape_of(far, 64), far, "keys of three blocks");

    // A row of blocks that lists block 0 often; if it is partial, it is full at times,
    // too, and block 1 is behind it.
    constexpr int32_t kTimes = 1030;
    for (const bool partial : {false, true}) {
        const auto once = wb::dense_pattern(1, partial ? 65 : 1, true);
        const auto shape = shape_of(once, partial ? 128 : 64);
        std::vector<int32_t> keys;
        HostBlocks blocks = to_blocks(rows_of(shape.keys, {{0}}));
        wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
        wb::HostBlockList& other = partial ? blocks.full : blocks.partial;
        other.blocks.assign(partial ? 20 : 0, 0);
        other.offsets = {0, std::ssize(other.blocks)};
        list.blocks.assign(kTimes, 0);
        list.offsets = {0, kTimes};
        blocks.masks.clear();
        if (partial) {
            blocks.masks.assign((kTimes + 1) * kRows, 4);  // key 2
            keys.assign(kTimes, 2);
            list.blocks.push_back(1);  // the last key, whose block's mask is of bit 0
            ++list.offsets[1];
            blocks.masks[kTimes * kRows] = 1;
            keys.push_back(64);
            for (int32_t i = 0; i < 20 * 64; ++i)
                keys.push_back(i % 64);
        } else {
            keys.assign(kTimes, 0);
        }
        grade(shape,
              rows_of(shape.keys, {keys}),
              blocks,
              random_attention(shape, 1),
              std::string("block 0 is 1030 times ") + (partial ? "partial" : "full"));
    }
}

TEST_CASE("blocks: bits of keys that do not exist") {
    NEEDS_BLOCKS();
    const auto pattern = rows_of(5, {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}});
    const auto shape = shape_of(pattern, 64);
    HostBlocks blocks = to_blocks(pattern);
    blocks.full = {{0, 0}, {}};
    blocks.partial = {{0, 1}, {0}};
    blocks.masks.assign(kRows, ~uint64_t{0});
    grade(shape, pattern, blocks, random_attention(shape, 1), "5 keys, 64 bits");
}

TEST_CASE(
    "blocks: rows of blocks of all lengths, more than there are multiprocessors") {
    NEEDS_BLOCKS();
    // 1, 2, 3, 0 and 5 blocks: a multiprocessor goes through several tiles.
    const FewMultiprocessors few(1);
    const int64_t heads = FewMultiprocessors::count() / 4 + 1;
    std::vector<std::vector<int32_t>> rows(4 * 128 + 3);
    const int32_t lengths[] = {64, 100, 170, 0, 300};
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].resize(static_cast<size_t>(lengths[i / 128]));
        std::iota(rows[i].begin(), rows[i].end(), 0);
    }
    const auto pattern = rows_of(300, rows);
    auto shape = shape_of(pattern, 64, 1, heads);
    HostBlocks blocks = to_blocks(pattern);
    grade(shape, pattern, blocks, random_attention(shape, 1), "the longest first");
    if (wb::testing::is_watched()) return;
    std::reverse(blocks.order.begin(), blocks.order.end());
    shape.head_dim = 128;
    grade(shape, pattern, blocks, random_attention(shape, 1), "the longest last");
}

TEST_CASE("blocks: a list of more than 32 blocks, and more than 64") {
    NEEDS_BLOCKS();
    // The last query sees them; it is alone in a row of blocks, and behind it comes one
    // with a single block.
    const FewMultiprocessors few(1);
    for (const int32_t keys : {64 * 32, 64 * 33 - 5, 64 * 66 + 1}) {
        if (wb::testing::is_watched() && keys > 64 * 40) continue;
        std::vector<std::vector<int32_t>> rows(kRows + 1, {0});
        rows.back().resize(static_cast<size_t>(keys));
        std::iota(rows.back().begin(), rows.back().end(), 0);
        const auto full = rows_of(keys, rows);
        const auto shape = shape_of(full, keys < 64 * 33 ? 128 : 64);
        const auto inputs = random_attention(shape, 1);
        grade(shape, full, to_blocks(full), inputs, "all blocks are full");
        std::vector<int32_t>& last = rows.back();
        last.erase(
            std::remove_if(
                last.begin(), last.end(), [](int32_t key) { return key % 60 == 7; }),
            last.end());
        const auto gaps = rows_of(keys, rows);
        grade(shape, gaps, to_blocks(gaps), inputs, "all blocks are partial");
    }
}

TEST_CASE("blocks: a list of more than 256 blocks") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of shorter lists
    constexpr int32_t kKeys = 64 * 258 + 3;
    std::vector<std::vector<int32_t>> rows(1);
    rows[0].resize(kKeys);
    std::iota(rows[0].begin(), rows[0].end(), 0);
    const auto full = rows_of(kKeys, rows);
    grade(shape_of(full, 64), full, "all blocks are full");
}

TEST_CASE("blocks: an empty row gives zeros and minus infinity") {
    NEEDS_BLOCKS();
    std::vector<std::vector<int32_t>> rows(260);
    rows[1] = {0};
    rows[130] = {64, 65, 66};  // the third row of blocks is empty altogether
    const auto few = rows_of(70, rows);
    grade(shape_of(few, 64, 2), few, "only queries 1 and 130 see keys");
    const auto no_lists = rows_of(70, std::vector<std::vector<int32_t>>(140));
    grade(shape_of(no_lists, 64, 2), no_lists, "no query sees a key");
    const auto none = rows_of(0, std::vector<std::vector<int32_t>>(300));
    for (const bool with_lse : {false, true}) {
        const auto shape = shape_of(none, 128);
        grade(shape,
              none,
              to_blocks(none),
              random_attention(shape, 1),
              "no keys",
              {},
              with_lse);
    }
}

TEST_CASE("blocks: rows that see nothing of several blocks, one after the other") {
    NEEDS_BLOCKS();
    // What they have seen before counts, if it is anything; then what comes behind.
    constexpr int32_t kKeys = 64 * 7;
    std::vector<std::vector<int32_t>> rows(12);
    for (int32_t key = 5; key < kKeys; key += 64)
        rows[0].push_back(key);  // so that every block is listed
    rows[1] = {3};
    rows[2] = {kKeys - 2};
    rows[8] = {64 * 3};
    rows[10] = {7, kKeys - 3};
    const auto pattern = rows_of(kKeys, rows);
    for (const int64_t D : {64, 128})
        grade(shape_of(pattern, D), pattern, "one query sees seven blocks");
}

TEST_CASE("blocks: lists may come in any order") {
    NEEDS_BLOCKS();
    const auto pattern = wb::local_pattern(140, 400, 290, 0);
    const auto shape = shape_of(pattern, 64);
    HostBlocks blocks = to_blocks(pattern);
    for (size_t row = 0; row + 1 < blocks.full.offsets.size(); ++row) {
        for (wb::HostBlockList* const list : {&blocks.full, &blocks.partial}) {
            const int64_t first = list->offsets[row];
            const int64_t last = list->offsets[row + 1];
            std::reverse(list->blocks.begin() + first, list->blocks.begin() + last);
            if (list == &blocks.full) continue;
            for (int64_t i = 0; 2 * i < last - first; ++i) {
                const auto masks = blocks.masks.begin();
                const int64_t other = last - 1 - i;
                if (other == first + i) continue;
                std::swap_ranges(masks + (first + i) * kRows,
                                 masks + (first + i + 1) * kRows,
                                 masks + other * kRows);
            }
        }
    }
    grade(shape, pattern, blocks, random_attention(shape, 1), "lists reversed");
}

TEST_CASE("blocks: lists that do not begin at their arrays' first block") {
    NEEDS_BLOCKS();
    // The second row of blocks lists both full and partial ones, too.
    const auto pattern = wb::local_pattern(140, 400, 290, 0);
    const auto shape = shape_of(pattern, 64);
    HostBlocks blocks = to_blocks(pattern);
    for (wb::HostBlockList* const list : {&blocks.full, &blocks.partial}) {
        list->blocks.insert(list->blocks.begin(), 5);
        for (int64_t& offset : list->offsets)
            ++offset;
    }
    blocks.masks.insert(blocks.masks.begin(), size_t{kRows}, ~uint64_t{0});
    grade(shape, pattern, blocks, random_attention(shape, 1), "offsets from 1 on");
}

TEST_CASE("blocks: one that is listed twice counts twice") {
    NEEDS_BLOCKS();
    const auto once = wb::dense_pattern(3, 64, false);
    const auto shape = shape_of(once, 64);
    HostBlocks blocks = to_blocks(once);
    blocks.full.blocks.push_back(0);
    blocks.full.offsets.back() = 2;
    blocks.partial.blocks.push_back(0);
    blocks.partial.offsets.back() = 1;
    blocks.masks.assign(kRows, 0xF0);
    std::vector<int32_t> row;
    for (int32_t key = 0; key < 64; ++key)
        row.insert(row.end(), key / 4 == 1 ? 3 : 2, key);
    grade(shape,
          rows_of(64, {row, row, row}),
          blocks,
          random_attention(shape, 1),
          "block 0 is full, twice, and partial");
}

TEST_CASE("blocks: more heads than the keys of which the cache holds") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer keys
    // Heads may be taken in sections of as many as the cache holds: 2 of 3 heads, then
    // the last one with the next sequence's first, or alone. All have two tiles.
    const int32_t keys = 24000;
    std::vector<std::vector<int32_t>> rows(kRows + 1);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = {static_cast<int32_t>(i), keys - 1};
    const auto pattern = rows_of(keys, rows);
    for (const int64_t batch : {1, 2})
        grade(shape_of(pattern, 64, batch, 3), pattern, "two keys of 24000");
}
