// Tests v7 of Hopper attention, over the blocks of a pattern: numbers that are not
// finite, and products that are not.
#include "any_lists.h"

#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: NaN in keys and values of a block that no row lists") {
    NEEDS_BLOCKS();
    // The first row of blocks lists one block, which a step of two has room for beside:
    // not for the first block, nor for a neighbour. The second row's third block does
    // not exist.
    std::vector<std::vector<int32_t>> rows(130, {70});
    rows[129] = {200, 71};
    const auto pattern = rows_of(210, rows);
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D);
        auto stored = as_stored<T>(random_attention(shape, 1));
        const auto expected = expect_listed(shape, pattern, stored);
        for (auto* const values : {&stored.k, &stored.v})
            for (const int64_t block : {0, 2})
                std::fill_n(values->begin() + block * 64 * D, 64 * D, std::nanf(""));
        HostBlocks blocks = to_blocks(pattern);
        const std::string text = "blocks 0 and 2 are NaN";
        grade_stored(shape, blocks, stored, expected, text);
        for (const bool partial : {false, true}) {
            HostBlocks wrong = blocks;
            wb::HostBlockList& list = partial ? wrong.partial : wrong.full;
            const PatternStatus fault = {static_cast<int32_t>(PatternFault::index),
                                         1,
                                         std::ssize(list.blocks),
                                         4};
            list.blocks.push_back(4);
            ++list.offsets[2];
            if (partial) wrong.masks.resize(wrong.masks.size() + kRows, ~uint64_t{0});
            grade_stored(
                shape, wrong, stored, expected, text + ", 4 does not exist", fault);
        }
    }
}

TEST_CASE("blocks: a NaN of a key reaches the rows that see it, and no others") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(100, 100, true);
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D);
        auto stored = as_stored<T>(random_attention(shape, 1));
        auto expected = expect_listed(shape, pattern, stored);
        stored.k[static_cast<size_t>(70 * D + 3)] = std::nanf("");
        const auto from = [](std::vector<double>& values, int64_t first, double value) {
            std::fill(values.begin() + first, values.end(), value);
        };
        from(expected.o, 70 * D, std::nan(""));
        from(expected.o_bound, 70 * D, 0.0);
        from(expected.lse, 70, std::nan(""));
        from(expected.lse_bound, 70, 0.0);
        grade_stored(shape, to_blocks(pattern), stored, expected, "a NaN in key 70");
    }
}

TEST_CASE("blocks: what is multiplied with 0 counts: 0 times NaN is NaN") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(5, 7, false);
    for (const int64_t D : {64, 128}) {
        auto shape = shape_of(pattern, D, 1, 4);
        shape.kv_heads = 2;
        auto inputs = as_stored<T>(BesideZeros::zeros(shape));
        auto expected = expect_listed(shape, pattern, inputs);
        BesideZeros::spoil(shape, inputs, expected);
        grade_stored(shape, to_blocks(pattern), inputs, expected, BesideZeros::kText);
    }
}

TEST_CASE("blocks: a NaN of one tile is none of the next ones of its multiprocessor") {
    NEEDS_BLOCKS();
    const FewMultiprocessors few(1);
    const auto pattern = wb::local_pattern(260, 260, 70, 30);
    for (const int64_t D : {64, 128}) {
        const auto shape = shape_of(pattern, D, 1, 3);
        auto stored = as_stored<T>(random_attention(shape, 1));
        auto expected = expect_listed(shape, pattern, stored);
        for (const int64_t row : {3, 300, 700}) {
            const auto at = static_cast<size_t>(row);
            stored.q[static_cast<size_t>(row * D + 9)] = std::nanf("");
            std::fill_n(expected.o.begin() + row * D, D, std::nan(""));
            std::fill_n(expected.o_bound.begin() + row * D, D, 0.0);
            expected.lse[at] = std::nan("");
            expected.lse_bound[at] = 0.0;
        }
        grade_stored(shape, to_blocks(pattern), stored, expected, "NaN in 3 queries");
        if (wb::testing::is_watched()) break;
    }
}

TEST_CASE("blocks: the scores of some blocks are past the largest float", "[values]") {
    NEEDS_BLOCKS();
    // And negative: these keys weigh nothing, whether steps begin with them or end.
    constexpr size_t kWeightless = 64 * 5;
    for (const int64_t D : {64, 128})
        for (const bool last : {false, true}) {
            const auto pattern = wb::dense_pattern(3, 500, false);
            auto shape = shape_of(pattern, D);
            shape.scale = 0x1p127f;
            auto inputs = random_attention(shape, 1);
            std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
            std::fill(inputs.k.begin(), inputs.k.end(), 0.0f);
            const auto dim = static_cast<size_t>(D);
            for (size_t row = 0; row < 3; ++row)
                inputs.q[row * dim] = 1.0f;
            const size_t first = last ? 500 - kWeightless : 0;
            for (size_t key = first; key < first + kWeightless; ++key)
                inputs.k[key * dim] = -4.0f;
            inputs = as_stored<T>(inputs);
            const auto others = wb::dense_pattern(3, 500 - kWeightless, false);
            auto of_others = inputs;
            for (auto* values : {&of_others.k, &of_others.v})
                values->erase(values->begin() + int64_t(first * dim),
                              values->begin() + int64_t((first + kWeightless) * dim));
            auto fewer = shape;
            fewer.keys = others.keys;
            grade_stored(shape,
                         to_blocks(pattern),
                         inputs,
                         expect_listed(fewer, others, of_others),
                         last ? "the last scores -2^129" : "the first scores -2^129");
        }
}
