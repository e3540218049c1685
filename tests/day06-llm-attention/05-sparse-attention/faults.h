// faults.h: patterns in which something is wrong. Kernels must report it, leave it out,
// and get all else right.
#pragma once

#include <cmath>
#include <numeric>

#include "grade.h"

namespace faults {

using Offsets = std::vector<int64_t>;

/// The same pattern, but the rows from `first` to `last` - 1 are empty.
inline HostCsr without_rows(const HostCsr& pattern, int64_t first, int64_t last) {
    std::vector<std::vector<int32_t>> rows;
    for (int64_t row = 0; row < pattern.queries; ++row) {
        rows.emplace_back();
        if (row >= first && row < last) continue;
        const auto at = pattern.offsets.begin() + row;
        rows.back().assign(pattern.indices.begin() + at[0],
                           pattern.indices.begin() + at[1]);
    }
    return rows_of(pattern.keys, rows);
}

/// Makes NaN of the keys that no row lists, and of their values: a kernel that reads
/// one of them in place of one that does not exist shows, though its weight is 0.
inline void spoil_unlisted(const AttentionShape& shape,
                           const HostCsr& pattern,
                           AttentionInputs& inputs) {
    std::vector<bool> listed(static_cast<std::size_t>(shape.keys));
    for (const int32_t key : pattern.indices)
        listed[static_cast<std::size_t>(key)] = true;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const auto row = i / static_cast<std::size_t>(shape.head_dim);
        if (!listed[row % listed.size()]) inputs.k[i] = inputs.v[i] = NAN;
    }
}

/// A key that does not exist, before, between and behind two that do. The first key and
/// the last one are listed by no row.
inline void grade_index(int32_t wrong, int64_t batch, int64_t head_dim) {
    const auto right = rows_of(9, {{1, 2}, {3, 4}, {}, {7}});
    const auto shape = shape_of(right, head_dim, batch);
    auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, right, inputs);
    spoil_unlisted(shape, right, inputs);
    for (const auto& [place, row] : {std::pair{2, std::vector{wrong, 3, 4}},
                                     {3, {3, wrong, 4}},
                                     {4, {3, 4, wrong}}})
        for (const bool with_lse : {true, false})
            grade_rows(
                shape,
                rows_of(9, {{1, 2}, row, {}, {7}}),
                inputs,
                expected,
                "indices[" + std::to_string(place) + "] is " + std::to_string(wrong),
                {static_cast<int32_t>(PatternFault::index), 1, place, wrong},
                with_lse);
}

/// A row of one key, which does not exist: it is empty.
inline void grade_only_index(int32_t wrong, int64_t head_dim) {
    const auto right = rows_of(9, {{1, 2}, {}, {8}});
    const auto shape = shape_of(right, head_dim);
    const auto inputs = random_attention(shape, 1);
    grade_rows(shape,
               rows_of(9, {{1, 2}, {wrong}, {8}}),
               inputs,
               expect_sparse(shape, right, inputs),
               "a row has but the index " + std::to_string(wrong),
               {static_cast<int32_t>(PatternFault::index), 1, 2, wrong});
}

/// A key that does not exist, at the first places of a long row and at its last ones: a
/// kernel that takes four keys at a time must look at each of the four.
/// @param before  rows of one key each, before it
inline void grade_index_of_long_row(int64_t head_dim,
                                    int32_t many,
                                    std::size_t before,
                                    const std::vector<int64_t>& places) {
    std::vector<int32_t> keys(static_cast<std::size_t>(many));
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = static_cast<int32_t>(i);
    const auto with_row = [&](const std::vector<int32_t>& row) {
        std::vector<std::vector<int32_t>> rows(before, {7});
        rows.push_back(row);
        return rows_of(many, rows);
    };
    const auto right = with_row(keys);
    const auto shape = shape_of(right, head_dim, 1);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, right, inputs);
    for (const int64_t place : places) {
        auto listed = keys;
        listed.insert(listed.begin() + place, many);
        const auto first = static_cast<int64_t>(before);  // of its indices
        grade_rows(shape,
                   with_row(listed),
                   inputs,
                   expected,
                   "of a row of " + std::to_string(many + 1) + ", index " +
                       std::to_string(place) + " is " + std::to_string(many),
                   {static_cast<int32_t>(PatternFault::index),
                    static_cast<int32_t>(before),
                    place + first,
                    many});
    }
}

/// Offsets of three rows of two keys each.
inline void grade_offsets(const Offsets& offsets,
                          int64_t wrong_row,
                          int64_t batch,
                          int64_t head_dim) {
    auto pattern = rows_of(9, {{1, 2}, {3, 4}, {5, 6}});
    pattern.offsets = offsets;
    const auto right = without_rows(pattern, wrong_row, wrong_row + 1);
    const auto shape = shape_of(right, head_dim, batch);
    const auto inputs = random_attention(shape, 1);
    const auto row = static_cast<std::size_t>(wrong_row);
    grade_rows(shape,
               pattern,
               inputs,
               expect_sparse(shape, right, inputs),
               "of 6 indices, row " + std::to_string(wrong_row) + " has those from " +
                   std::to_string(offsets[row]) + " to " +
                   std::to_string(offsets[row + 1]),
               {static_cast<int32_t>(PatternFault::offsets),
                static_cast<int32_t>(wrong_row),
                offsets[row],
                offsets[row + 1]});
}

/// A key block that does not exist, behind more of them than a byte counts: the last
/// version, or the learner's function.
inline void grade_block_of_long_list() {
    constexpr int32_t kMany = 260;
    constexpr int32_t kKeys = 3;
    const auto once = wb::dense_pattern(1, kKeys, false);
    const auto shape = shape_of(once, 32);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(once);
    blocks.full.blocks.assign(kMany, 0);
    blocks.full.blocks.push_back(1);
    blocks.full.offsets.back() = kMany + 1;
    std::vector<int32_t> row;
    for (int32_t i = 0; i < kMany * kKeys; ++i)
        row.push_back(i % kKeys);
    wb::testing::grade_sparse<wb::BlockPattern>(
        wb::testing::last_of(
            wb::implementations("block_sparse_attention", block_sparse_attention)),
        shape,
        blocks,
        inputs,
        expect_sparse(shape, rows_of(kKeys, {row}), inputs),
        "block 0 260 times, and block 1, which is none",
        {static_cast<int32_t>(PatternFault::index), 0, kMany, 1});
}

inline std::string name_of(bool partial) {
    return partial ? "partial" : "full";
}

/// A row of blocks that lists one block in the middle, and one that does not exist.
/// What nobody lists is NaN: the first block, and the last one.
inline void grade_block_beside_nan(int32_t wrong, bool partial, int64_t head_dim) {
    std::vector<int32_t> keys;
    for (int32_t key = 64; key < 128; key += 1 + partial)
        keys.push_back(key);
    const auto right = rows_of(192, {keys, keys, keys});
    const auto shape = shape_of(right, head_dim);
    auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, right, inputs);
    std::vector<int32_t> all(64);
    std::iota(all.begin(), all.end(), 64);
    spoil_unlisted(shape, rows_of(192, {all}), inputs);
    HostBlocks blocks = to_blocks(right);
    wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
    list.blocks.push_back(wrong);
    ++list.offsets.back();
    if (partial) blocks.masks.resize(blocks.masks.size() + 128, ~uint64_t{0});
    grade_blocks(shape,
                 blocks,
                 inputs,
                 expected,
                 "of " + name_of(partial) + " blocks, block 1 and block " +
                     std::to_string(wrong) + ", other keys are NaN",
                 {static_cast<int32_t>(PatternFault::index), 0, 1, wrong});
}

/// A key block that does not exist, in front of those of one row of blocks.
/// @param behind  how many of these are in front of it
inline void grade_block(int32_t wrong,
                        bool partial,
                        int64_t batch,
                        int64_t head_dim,
                        int32_t block_row = 1,
                        int64_t behind = 0) {
    const int64_t queries = block_row < 2 ? 140 : 268;
    const auto right = partial ? wb::local_pattern(queries, 130, 20, 10)
                               : wb::dense_pattern(queries, 130, false);
    const auto shape = shape_of(right, head_dim, batch);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(right);  // of three key blocks
    wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
    const auto row = static_cast<std::size_t>(block_row);
    const int64_t place = list.offsets[row] + behind;
    list.blocks.insert(list.blocks.begin() + place, wrong);
    for (std::size_t next = row + 1; next < list.offsets.size(); ++next)
        ++list.offsets[next];
    if (partial) {
        constexpr int64_t kRows = wb::BlockPattern::kRows;
        blocks.masks.insert(
            blocks.masks.begin() + place * kRows,
            std::size_t{kRows},
            behind == 0 ? ~uint64_t{0} : 0);  // what nobody sees is wrong all the same
    }
    grade_blocks(shape,
                 blocks,
                 inputs,
                 expect_sparse(shape, right, inputs),
                 name_of(partial) + ".blocks[" + std::to_string(place) + "] is " +
                     std::to_string(wrong),
                 {static_cast<int32_t>(PatternFault::index), block_row, place, wrong});
}

/// A row of blocks whose only block does not exist: its rows are empty.
inline void grade_only_block(bool partial, int64_t head_dim) {
    const int64_t before = wb::BlockPattern::kRows;
    const auto right = without_rows(wb::dense_pattern(140, 60, false), before, 140);
    const auto shape = shape_of(right, head_dim);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(right);
    wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
    const int64_t place = list.offsets.back()++;
    list.blocks.push_back(1);  // there is one block of keys
    if (partial) blocks.masks.resize(blocks.masks.size() + 128, ~uint64_t{0});
    grade_blocks(shape,
                 blocks,
                 inputs,
                 expect_sparse(shape, right, inputs),
                 name_of(partial) + ": a row of blocks has but one, which is 1",
                 {static_cast<int32_t>(PatternFault::index), 1, place, 1});
}

/// Offsets of two rows of blocks, which have one block each.
inline void grade_block_offsets(const Offsets& offsets,
                                int64_t wrong_row,
                                bool partial,
                                int64_t head_dim) {
    const auto pattern =
        partial ? wb::local_pattern(140, 60, 30, 5) : wb::dense_pattern(140, 60, false);
    constexpr int64_t kRows = wb::BlockPattern::kRows;
    const auto right =
        without_rows(pattern, wrong_row * kRows, (wrong_row + 1) * kRows);
    const auto shape = shape_of(right, head_dim);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(pattern);
    (partial ? blocks.partial : blocks.full).offsets = offsets;
    const auto row = static_cast<std::size_t>(wrong_row);
    grade_blocks(shape,
                 blocks,
                 inputs,
                 expect_sparse(shape, right, inputs),
                 "of 2 " + name_of(partial) + " blocks, row " +
                     std::to_string(wrong_row) + " has those from " +
                     std::to_string(offsets[row]) + " to " +
                     std::to_string(offsets[row + 1]),
                 {static_cast<int32_t>(PatternFault::offsets),
                  static_cast<int32_t>(wrong_row),
                  offsets[row],
                  offsets[row + 1]});
}

/// No index and no block at all, but the offsets of the last row say that there is one.
inline void grade_offsets_of_nothing(int64_t head_dim) {
    const PatternStatus fault = {static_cast<int32_t>(PatternFault::offsets), 1, 0, 1};
    const std::string text = "nothing is listed, and offsets are 0, 0, 1";
    auto rows = rows_of(9, {{}, {}});
    const auto of_rows = shape_of(rows, head_dim);
    const auto row_inputs = random_attention(of_rows, 1);
    const auto row_expected = expect_sparse(of_rows, rows, row_inputs);
    rows.offsets = {0, 0, 1};
    grade_rows(of_rows, rows, row_inputs, row_expected, text, fault);
    const auto none = rows_of(9, std::vector<std::vector<int32_t>>(140));
    const auto shape = shape_of(none, head_dim);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, none, inputs);
    for (const bool partial : {false, true}) {
        HostBlocks blocks = to_blocks(none);
        (partial ? blocks.partial : blocks.full).offsets = {0, 0, 1};
        grade_blocks(
            shape, blocks, inputs, expected, name_of(partial) + ": " + text, fault);
    }
}

/// A fault that an earlier call found is not forgotten: neither where nothing is wrong
/// now, nor where something else is.
inline void grade_earlier_fault() {
    const PatternStatus earlier = {
        static_cast<int32_t>(PatternFault::offsets), 17, 18, 19};
    const auto right = wb::local_pattern(20, 20, 5, 5);
    const auto shape = shape_of(right, 32);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, right, inputs);
    const std::string text = "status holds a fault of an earlier call";
    grade_rows(shape, right, inputs, expected, text, earlier, true, earlier);
    HostBlocks blocks = to_blocks(right);
    grade_blocks(shape, blocks, inputs, expected, text, earlier, true, earlier);
    HostCsr wrong = right;
    wrong.indices.push_back(-1);
    ++wrong.offsets.back();
    grade_rows(shape, wrong, inputs, expected, text, earlier, true, earlier);
    blocks.full.blocks.push_back(7);
    ++blocks.full.offsets.back();
    grade_blocks(shape, blocks, inputs, expected, text, earlier, true, earlier);
}

}  // namespace faults
