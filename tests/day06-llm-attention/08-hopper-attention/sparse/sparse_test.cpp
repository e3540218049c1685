// Tests v7 of Hopper attention, over the blocks that a pattern lists.
#include "sparse_grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
    for (const auto& [name, pattern] : all_patterns(n, n + 1))
        grade(shape_of(pattern, 64), pattern, name);
}

TEST_CASE("blocks: numbers of keys around a block and a step of two") {
    NEEDS_BLOCKS();
    for (const int64_t keys : {2, 63, 64, 65, 127, 128, 129, 191, 193}) {
        if (wb::testing::is_watched() && keys > 65) continue;
        const auto full = wb::dense_pattern(3, keys, false);
        grade(shape_of(full, 64), full, "all blocks are full");
        const auto causal = wb::dense_pattern(3, keys, true);
        grade(shape_of(causal, 64), causal, "causal: the last block is partial");
    }
}

TEST_CASE("blocks: numbers of queries around a row of blocks") {
    NEEDS_BLOCKS();
    for (const int64_t queries : {63, 64, 65, 127, 128, 129}) {
        if (wb::testing::is_watched() && queries != 65) continue;
        const auto window = wb::local_pattern(queries, 70, 30, 20);
        grade(shape_of(window, 64), window, "window 30 + 20");
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
    auto shape = shape_of(pattern, 64, 2, 260);
    shape.kv_heads = 130;
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

TEST_CASE("blocks: a scale of 0 makes all weights equal") {
    NEEDS_BLOCKS();
    const auto pattern = wb::local_pattern(67, 70, 30, 20);
    auto shape = shape_of(pattern, 64);
    shape.scale = 0.0f;
    grade(shape, pattern, "window 30 + 20");
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
        const auto shape = shape_of(full, 64);
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

TEST_CASE("blocks: the largest score moves a little with each step") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(1, 4000, false);
    const auto shape = shape_of(pattern, 64);
    const auto inputs = slowly_rising(shape);
    grade(shape, pattern, to_blocks(pattern), inputs, "slowly rising scores");
}

TEST_CASE("blocks: values near 2^106, and scores that rise or fall by 100, or 50") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(3, 200, false);
    for (const Logits logits : {Logits::rising, Logits::falling}) {
        auto shape = shape_of(pattern, 64);
        const auto inputs = huge_values_of(shape, logits);
        for (int i = 0; i < 2; ++i, shape.scale *= 0.5f)
            grade(shape, pattern, to_blocks(pattern), inputs, "huge values");
    }
}

TEST_CASE("blocks: small weights count, and subnormal values, queries, keys, scales") {
    NEEDS_BLOCKS();
    const auto many = wb::dense_pattern(1, 2101, false);
    auto shape = shape_of(many, 64);
    shape.scale = 1.0f;
    const auto weights = small_weights(shape);
    grade(shape, many, to_blocks(many), weights, "scores -64 and -124");

    constexpr double kSmallest = Format<T>::kSmallest;
    const auto pattern = wb::dense_pattern(3, 203, true);
    const HostBlocks blocks = to_blocks(pattern);
    const auto usual = shape_of(pattern, 64, 1, 2);
    shape = usual;
    const auto values = as_stored<T>(subnormal_values(usual, kSmallest));
    const auto expect = [&](const AttentionShape& of, const AttentionInputs& inputs) {
        return expect_listed(of, pattern, inputs);
    };
    grade_stored(usual,
                 blocks,
                 values,
                 expect_subnormal(usual, values, kSmallest, expect),
                 "subnormal v");
    const auto small = subnormal_scores(shape, kSmallest);
    grade(shape, pattern, blocks, small, "subnormal q or k");
    const auto large = wb::testing::subnormal_scale(shape);
    grade(shape, pattern, blocks, large, "subnormal scale, products near 2^126");
}

TEST_CASE("blocks: scores of a million and more, all alike, of either sign") {
    NEEDS_BLOCKS();
    // What stands for a pair that is not seen must be further down than they are.
    const auto pattern = wb::dense_pattern(13, 67, true);
    auto shape = shape_of(pattern, 64);
    for (const float scale : {1.0f, kFarScale}) {
        shape.scale = scale;
        for (const float score : {-0x1p20f, 0x1p20f}) {
            const auto inputs = far_scores(shape, score);
            auto causal = shape;
            causal.causal = true;
            grade_stored(shape,
                         to_blocks(pattern),
                         inputs,
                         expect_far_half<T>(causal, inputs),
                         "every product 2^20 or -2^20");
        }
    }
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

TEST_CASE("blocks: nothing is kept from call to call") {
    NEEDS_BLOCKS();
    const auto first = wb::dense_pattern(13, 19, false);
    const auto other = wb::local_pattern(140, 71, 9, 2);  // two rows of blocks
    expect_independent([&] { grade(shape_of(first, 64, 2), first, "dense"); },
                       [&] { grade(shape_of(other, 64), other, "window 9 + 2"); });
}

TEST_CASE("blocks: calls at once, each of more tiles than multiprocessors") {
    NEEDS_BLOCKS();
    // What hands out tiles does so for one call.
    const FewMultiprocessors few(1);
    const int64_t heads = FewMultiprocessors::count() + 2;
    const auto first = wb::dense_pattern(5, 9, false);
    const auto other = wb::local_pattern(7, 71, 9, 2);
    expect_independent(
        [&] { grade(shape_of(first, 64, 1, heads), first, "dense"); },
        [&] { grade(shape_of(other, 64, 1, heads), other, "window 9 + 2"); });
}

TEST_CASE("blocks: more heads than the keys of which the cache holds") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // accesses are those of fewer keys
    // Heads may be taken in sections of as many as the cache holds: of 3 heads 2, then
    // a section of one head, which has two tiles, as all have.
    const int32_t keys = 24000;
    std::vector<std::vector<int32_t>> rows(kRows + 1);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = {static_cast<int32_t>(i), keys - 1};
    const auto pattern = rows_of(keys, rows);
    grade(shape_of(pattern, 64, 1, 3), pattern, "two keys of 24000");
}

TEST_CASE("blocks: the arrays of an earlier call, which was of other sizes") {
    NEEDS_BLOCKS();
    const auto listed = wb::local_pattern(20, 33, 9, 5);
    const auto small = wb::dense_pattern(7, 5, false);
    const auto shape = shape_of(listed, 64, 1, 2);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    const wb::PatternCheck check;
    Grader grader("hopper_block_sparse_attention", "in the arrays of another call");
    const BlockPattern pattern = upload(grader, to_blocks(listed));
    const BlockPattern before = upload(grader, to_blocks(small));
    const T* q = grader.input("q", rounded<T>(inputs.q));
    const T* k = grader.input("k", rounded<T>(inputs.k));
    const T* v = grader.input("v", rounded<T>(inputs.v));
    T* o = grader.output<T>("o", {1, 2, 20, 64});
    grader.run([&](cudaStream_t stream) {
        const auto call = [&](const AttentionShape& of, const BlockPattern& lists) {
            hopper_block_sparse_attention(
                of, lists, q, k, v, o, nullptr, check.status(), stream);
        };
        call(shape_of(small, 64), before);
        call(shape, pattern);
    });
    expect_both(grader, expect_listed(shape, listed, inputs), false);
    check.check(nullptr);
}

TEST_CASE("blocks: next to no memory beyond the arguments", "[serial]") {
    NEEDS_BLOCKS();
    if (wb::testing::is_watched()) return;  // memory is counted without the checker
    const auto pattern = wb::local_pattern(600, 70, 30, 20);
    const auto shape = shape_of(pattern, 64, 1, 2);
    const auto one = rows_of(1, {{0}});
    grade(shape_of(one, 64), one, "key 0");  // the first launch loads code
    const wb::testing::MemoryWatch watch;
    grade(shape, pattern, "window 30 + 20");
    watch.expect_at_most(512, "hopper_block_sparse_attention, " + describe(shape));
}

TEST_CASE("blocks: NaN in keys and values of a block that no row lists") {
    NEEDS_BLOCKS();
    // The first row of blocks lists one block, which a step of two has room for beside:
    // not for the first block, nor for a neighbour. The second row's third block does
    // not exist.
    std::vector<std::vector<int32_t>> rows(130, {70});
    rows[129] = {200, 71};
    const auto pattern = rows_of(210, rows);
    const auto shape = shape_of(pattern, 64);
    auto stored = as_stored<T>(random_attention(shape, 1));
    const auto expected = expect_listed(shape, pattern, stored);
    for (auto* const values : {&stored.k, &stored.v})
        for (const int64_t block : {0, 2})
            std::fill_n(values->begin() + block * 64 * 64, 64 * 64, std::nanf(""));
    HostBlocks blocks = to_blocks(pattern);
    const std::string text = "blocks 0 and 2 are NaN";
    grade_stored(shape, blocks, stored, expected, text);
    for (const bool partial : {false, true}) {
        HostBlocks wrong = blocks;
        wb::HostBlockList& list = partial ? wrong.partial : wrong.full;
        const PatternStatus fault = {
            static_cast<int32_t>(PatternFault::index), 1, std::ssize(list.blocks), 4};
        list.blocks.push_back(4);
        ++list.offsets[2];
        if (partial) wrong.masks.resize(wrong.masks.size() + kRows, ~uint64_t{0});
        grade_stored(
            shape, wrong, stored, expected, text + ", 4 does not exist", fault);
    }
}

TEST_CASE("blocks: a NaN of a key reaches the rows that see it, and no others") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(100, 100, true);
    const auto shape = shape_of(pattern, 64);
    auto stored = as_stored<T>(random_attention(shape, 1));
    auto expected = expect_listed(shape, pattern, stored);
    stored.k[70 * 64 + 3] = std::nanf("");
    const auto from = [](std::vector<double>& values, int64_t first, double value) {
        std::fill(values.begin() + first, values.end(), value);
    };
    from(expected.o, 70 * 64, std::nan(""));
    from(expected.o_bound, 70 * 64, 0.0);
    from(expected.lse, 70, std::nan(""));
    from(expected.lse_bound, 70, 0.0);
    grade_stored(shape, to_blocks(pattern), stored, expected, "a NaN in key 70");
}

TEST_CASE("blocks: kinds of logits, patterns and sizes") {
    NEEDS_BLOCKS();
    wb::testing::Covering design;
    design.factor("pattern", {"dense", "causal", "window 9 and 4 sinks", "random 13"})
        .factor("D", {64, 128})
        .factor(
            "logits",
            {"usual", "near 0", "near 10^4", "near -500", "rising", "falling", "huge"})
        .factor("Nq", {1, 65, 129})
        .factor("Nk", {1, 31, 65, 129, 200})
        .factor("batch", {1, 2})
        .factor("heads", {1, 2})
        .factor("share keys", {1, 2})  // heads
        .factor("scale", {"usual", "0.05"})
        .factor("lse", {"wanted", "null"})
        // There, every query sees every key.
        .forbid({"pattern", "logits"},
                [](const std::vector<int64_t>& v) { return v[0] == 0 && v[1] == 6; })
        .forbid({"Nq", "D", "batch", "heads"}, [](const std::vector<int64_t>& v) {
            return v[0] * v[1] * v[2] * v[3] > 129 * 128;  // else it takes long
        });
    static const auto cases = design.cases();
    for (size_t i = 0; i < cases.size(); ++i) {
        if (wb::testing::is_watched() && i >= 8) break;
        const auto& c = cases[i];
        DYNAMIC_SECTION(c.text()) {
            const int64_t nq = c["Nq"];
            const int64_t nk = c["Nk"];
            const HostCsr pattern =
                c["pattern"] == 2   ? wb::window_with_sinks(nq, nk, 9, 4)
                : c["pattern"] == 3 ? wb::random_pattern(nq, nk, 13, 1)
                                    : wb::dense_pattern(nq, nk, c["pattern"] == 1);
            auto shape = shape_of(pattern, c["D"], c["batch"], c["heads"]);
            shape.query_heads *= c["share keys"];
            if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
            const auto inputs = with_logits(
                shape, static_cast<Logits>(c["logits"]), {nk / 2, nk - 1}, i + 1);
            grade(shape,
                  pattern,
                  to_blocks(pattern),
                  inputs,
                  c.text(),
                  {},
                  c["lse"] == 0);
        }
    }
}
