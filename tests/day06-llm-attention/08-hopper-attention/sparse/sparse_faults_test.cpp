// Tests v7 of Hopper attention, over lists that are wrong: what is reported.
#include "any_lists.h"

#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

/// A key block that does not exist, in front of the `behind`-th of a row of blocks.
static void grade_wrong_block(int32_t wrong, bool partial, int64_t behind, int64_t D) {
    const auto right = partial ? wb::local_pattern(140, 130, 20, 10)
                               : wb::dense_pattern(140, 130, false);
    HostBlocks blocks = to_blocks(right);  // of three key blocks
    wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
    const int64_t place = list.offsets[1] + behind;
    list.blocks.insert(list.blocks.begin() + place, wrong);
    ++list.offsets[2];
    if (partial)
        blocks.masks.insert(
            blocks.masks.begin() + place * kRows, size_t{kRows}, ~uint64_t{0});
    const auto shape = shape_of(right, D);
    grade(shape,
          right,
          blocks,
          random_attention(shape, 1),
          std::string(partial ? "partial" : "full") + ".blocks[" +
              std::to_string(place) + "] is " + std::to_string(wrong),
          {static_cast<int32_t>(PatternFault::index), 1, place, wrong});
}

TEST_CASE("blocks: a block that does not exist is reported, and not read") {
    NEEDS_BLOCKS();
    grade_wrong_block(-1, /*partial=*/false, 0, 64);
    grade_wrong_block(3, false, 1, 64);  // there are 3
    grade_wrong_block(3, true, 0, 64);
    grade_wrong_block(std::numeric_limits<int32_t>::max(), true, 1, 128);
    grade_wrong_block(1 << 26, false, 0, 64);  // 64 times it has no bit below 2^32
    // Behind 34 others, of which a warp can look at 32 at once.
    const auto often = rows_of(1, {std::vector<int32_t>(36, 0)});
    HostBlocks listed = to_blocks(rows_of(1, {{0}}));
    listed.full.blocks.assign(37, 0);
    listed.full.blocks[34] = 1;
    listed.full.offsets = {0, 37};
    grade(shape_of(often, 64),
          often,
          listed,
          random_attention(shape_of(often, 64), 1),
          "full.blocks[34] of 37 is 1, of 1",
          {static_cast<int32_t>(PatternFault::index), 0, 34, 1});
    // The second row of blocks has but one block, which does not exist.
    const auto right = without_rows(wb::dense_pattern(140, 64, false), kRows, 140);
    HostBlocks blocks = to_blocks(right);
    const int64_t place = blocks.full.offsets.back()++;
    blocks.full.blocks.push_back(1);
    const auto shape = shape_of(right, 64);
    grade(shape,
          right,
          blocks,
          random_attention(shape, 1),
          "the only block of a row is 1, of 1",
          {static_cast<int32_t>(PatternFault::index), 1, place, 1});
}

TEST_CASE("blocks: offsets that are no range are reported, and the list is empty") {
    NEEDS_BLOCKS();
    const std::pair<std::vector<int64_t>, int64_t> wrong[] = {
        {{-1, 1, 2}, 0},
        {{0, 1, 3}, 1},
        {{0, 1, (int64_t{1} << 32) + 2}, 1},
        {{0, 2, 1}, 1}};  // there are 2
    for (const bool partial : {false, true}) {
        const auto pattern = partial ? wb::local_pattern(140, 60, 30, 5)
                                     : wb::dense_pattern(140, 60, false);
        for (const auto& [offsets, row] : wrong) {
            HostBlocks blocks = to_blocks(pattern);
            (partial ? blocks.partial : blocks.full).offsets = offsets;
            auto right = without_rows(pattern, row * kRows, (row + 1) * kRows);
            if (offsets[1] == 2) {  // row 0 lists both blocks, each of all keys
                if (partial) continue;
                auto rows = rows_in(right);
                for (size_t i = 0; i < size_t{kRows}; ++i)
                    rows[i].insert(rows[i].end(), rows[i].begin(), rows[i].end());
                right = rows_of(60, rows);
            }
            const auto shape = shape_of(right, 64);
            const auto at = static_cast<size_t>(row);
            grade(shape,
                  right,
                  blocks,
                  random_attention(shape, 1),
                  "of 2 blocks, row " + std::to_string(row) + " has those from " +
                      std::to_string(offsets[at]) + " to " +
                      std::to_string(offsets[at + 1]),
                  {static_cast<int32_t>(PatternFault::offsets),
                   static_cast<int32_t>(row),
                   offsets[at],
                   offsets[at + 1]});
        }
    }
}

TEST_CASE("blocks: an end below 0 is reported") {
    NEEDS_BLOCKS();
    for (const bool partial : {false, true})
        for (const int64_t wrong : {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
            HostBlocks blocks = to_blocks(wb::dense_pattern(5, 60, false));
            (partial ? blocks.partial : blocks.full).offsets = {0, wrong};
            grade_lists(plain_attention(1, 2, 5, 60, partial ? 64 : 128),
                        blocks,
                        "the end is " + std::to_string(wrong));
        }
}

TEST_CASE("blocks: an empty range outside of the list is reported") {
    NEEDS_BLOCKS();
    const auto right = without_rows(wb::dense_pattern(5, 60, false), 0, 5);
    const auto shape = shape_of(right, 64);
    for (const int64_t wrong : {-1, 2}) {
        HostBlocks blocks = to_blocks(wb::dense_pattern(5, 60, false));
        blocks.full.offsets = {wrong, wrong};  // there is 1
        blocks.partial.offsets = {0, 0};
        grade(shape,
              right,
              blocks,
              random_attention(shape, 1),
              "of 1 block, none, from " + std::to_string(wrong) + " on",
              {static_cast<int32_t>(PatternFault::offsets), 0, wrong, wrong});
    }
}

TEST_CASE("blocks: wrong offsets of one list leave the other one as it is") {
    NEEDS_BLOCKS();
    // Every row of blocks has a full block, and a partial one behind it.
    const auto both = wb::dense_pattern(140, 64, false);
    HostBlocks blocks = to_blocks(both);
    blocks.partial.blocks.assign(2, 0);
    blocks.masks.assign(2 * kRows, 8);  // key 3
    for (const bool partial : {false, true}) {
        HostBlocks wrong = blocks;
        wrong.partial.offsets = {0, 1, 2};
        (partial ? wrong.partial : wrong.full).offsets[2] = 3;  // there are 2
        auto rows = rows_in(both);
        for (size_t i = 0; i < rows.size(); ++i) {
            const bool is_wrong = i >= size_t{kRows};
            if (is_wrong && !partial) rows[i].clear();
            if (!is_wrong || !partial) rows[i].push_back(3);
        }
        const auto right = rows_of(64, rows);
        const auto shape = shape_of(right, 64);
        grade(shape,
              right,
              wrong,
              random_attention(shape, 1),
              partial ? "partial blocks 1 to 3, of 2" : "full blocks 1 to 3, of 2",
              {static_cast<int32_t>(PatternFault::offsets), 1, 1, 3});
    }
}

TEST_CASE("blocks: of two faults one is reported, with its own numbers") {
    NEEDS_BLOCKS();
    // Several multiprocessors may find them at the same time.
    for (const unsigned seed : {0U, 1U, 2U}) {
        const ThreadOrder order(seed);
        wb::testing::Random random(seed);
        HostBlocks blocks = random_lists(300, 150, 2, 3, -1, random);
        for (const bool partial : {false, true}) {
            insert_block(blocks, partial, 5, random);
            insert_block(blocks, partial, -3, random);
        }
        blocks.partial.offsets.back() += 2;
        grade_lists(plain_attention(1, 3, 300, 150, 64), blocks, "five faults");
    }
}

TEST_CASE("blocks: a fault that an earlier call found is not forgotten") {
    NEEDS_BLOCKS();
    const PatternStatus earlier = {
        static_cast<int32_t>(PatternFault::offsets), 17, 18, 19};
    const auto right = wb::local_pattern(20, 20, 5, 5);
    const auto shape = shape_of(right, 64);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(right);
    const std::string text = "status holds a fault of an earlier call";
    grade(shape, right, blocks, inputs, text, earlier, true, earlier);
    blocks.full.blocks.push_back(7);
    ++blocks.full.offsets.back();
    grade(shape, right, blocks, inputs, text, earlier, true, earlier);
}

TEST_CASE("blocks: an order that names no row of blocks is reported") {
    NEEDS_BLOCKS();
    const struct {
        int64_t queries;
        int32_t place;
        int32_t wrong;
        bool one = true;  // multiprocessor, which goes through all tiles
    } cases[] = {{200, 1, -1},
                 {200, 0, -1, false},
                 {200, 1, 2, false},
                 {200, 0, 2},
                 {200, 1, std::numeric_limits<int32_t>::max()},
                 {200, 1, 1 << 25},  // 128 times it has no bit below 2^32
                 {200, 1, -(1 << 25)},
                 {200, 0, std::numeric_limits<int32_t>::min()},
                 {5, 0, 1}};
    for (const auto& [queries, place, wrong, one] : cases) {
        std::optional<FewMultiprocessors> few;
        if (one) few.emplace(1);
        const auto rows = wb::dense_pattern(queries, 5, false);
        const int64_t D = wrong < 2 ? 64 : 128;
        const auto shape = shape_of(rows, D, 2);
        const auto inputs = as_stored<T>(random_attention(shape, 1));
        HostBlocks blocks = to_blocks(rows);
        blocks.order[static_cast<size_t>(place)] = wrong;
        Grader grader(
            "hopper_block_sparse_attention",
            "order[" + std::to_string(place) + "] is " + std::to_string(wrong));
        const BlockPattern pattern = upload(grader, blocks);
        const T* q = grader.input("q", rounded<T>(inputs.q));
        const T* k = grader.input("k", rounded<T>(inputs.k));
        const T* v = grader.input("v", rounded<T>(inputs.v));
        const size_t elements = static_cast<size_t>(2 * queries * D);
        T* o = grader.in_out<T>(
            "o", {2, queries, D}, std::vector<T>(elements, static_cast<T>(100.0f)));
        const auto expected =
            words({static_cast<int32_t>(PatternFault::order), place, place, wrong});
        auto* status = reinterpret_cast<PatternStatus*>(
            grader.in_out<int32_t>("status",
                                   {static_cast<int64_t>(expected.size())},
                                   std::vector<int32_t>(expected.size())));
        grader.run([&](cudaStream_t stream) {
            hopper_block_sparse_attention(
                shape, pattern, q, k, v, o, nullptr, status, stream);
        });
        // The rows that `order` does not name are as they were; all others are right.
        const auto got = grader.read("o");
        const auto right = expect_listed(shape, rows, inputs);
        for (size_t i = 0; i < got.size(); ++i) {
            const auto row = static_cast<int64_t>(i) / D % queries;
            const auto at = std::find(blocks.order.begin(),
                                      blocks.order.end(),
                                      static_cast<int32_t>(row / kRows));
            INFO("row " << row << " of a head, number " << i << " of o");
            if (at == blocks.order.end()) {
                REQUIRE(got[i] == 100.0);
                continue;
            }
            REQUIRE(std::abs(got[i] - right.o[i]) <= right.o_bound[i]);
        }
        grader.expect("status", expected, [](int64_t) { return 0.0; });
    }
}
