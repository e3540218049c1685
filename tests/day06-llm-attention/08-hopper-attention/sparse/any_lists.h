// any_lists.h: lists of blocks at random, right or wrong, and what the contract says of
// any of them: which keys count for a query, and what there is to note.
#pragma once

#include "sparse_grading.h"

#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace sparse_grading {

/// While this lives, threads run in another order.
class ThreadOrder {
 public:
    explicit ThreadOrder(unsigned seed) { wb::testing::shuffle_threads(seed); }
    ~ThreadOrder() { wb::testing::shuffle_threads(0); }
    ThreadOrder(const ThreadOrder&) = delete;
    ThreadOrder& operator=(const ThreadOrder&) = delete;
};

/// Calls take(place, block) for what a row of blocks lists, and wrong(fault) for what
/// is wrong there.
template <class Take, class Wrong>
void walk_list(const wb::HostBlockList& list,
               int64_t block_row,
               int64_t key_blocks,
               Take take,
               Wrong wrong) {
    const auto row = static_cast<int32_t>(block_row);
    const int64_t begin = list.offsets[static_cast<size_t>(row)];
    const int64_t end = list.offsets[static_cast<size_t>(row) + 1];
    if (begin < 0 || begin > end || end > std::ssize(list.blocks)) {
        wrong({static_cast<int32_t>(PatternFault::offsets), row, begin, end});
        return;
    }
    for (int64_t place = begin; place < end; ++place) {
        const int32_t block = list.blocks[static_cast<size_t>(place)];
        if (block >= 0 && block < key_blocks)
            take(place, block);
        else
            wrong({static_cast<int32_t>(PatternFault::index), row, place, block});
    }
}

/// The keys that count for each query, as often as they do.
inline HostCsr keys_of(const HostBlocks& blocks) {
    constexpr int32_t kKeys = BlockPattern::kKeys;
    std::vector<std::vector<int32_t>> rows(static_cast<size_t>(blocks.queries));
    for (int64_t query = 0; query < blocks.queries; ++query) {
        const auto add = [&](int32_t block, uint64_t bits) {
            for (int32_t key = 0; key < kKeys; ++key)
                if ((bits >> key & 1) != 0 && block * kKeys + key < blocks.keys)
                    rows[static_cast<size_t>(query)].push_back(block * kKeys + key);
        };
        const auto ignore = [](const PatternStatus&) {};
        const int64_t block_row = query / kRows;
        const int64_t key_blocks = blocks.key_blocks();
        walk_list(
            blocks.full,
            block_row,
            key_blocks,
            [&](int64_t, int32_t block) { add(block, ~uint64_t{0}); },
            ignore);
        walk_list(
            blocks.partial,
            block_row,
            key_blocks,
            [&](int64_t place, int32_t block) {
                const int64_t word = place * kRows + query % kRows;
                add(block, blocks.masks[static_cast<size_t>(word)]);
            },
            ignore);
    }
    return rows_of(blocks.keys, rows);
}

/// What status may hold: any one of the faults, or that there is none.
inline std::vector<PatternStatus> faults_of(const HostBlocks& blocks) {
    std::vector<PatternStatus> faults;
    const auto ignore = [](int64_t, int32_t) {};
    const auto note = [&](const PatternStatus& fault) { faults.push_back(fault); };
    for (int64_t row = 0; row < blocks.block_rows(); ++row) {
        walk_list(blocks.full, row, blocks.key_blocks(), ignore, note);
        walk_list(blocks.partial, row, blocks.key_blocks(), ignore, note);
    }
    if (faults.empty()) faults.push_back({});
    return faults;
}

/// A call on any lists: what they say is expected of random numbers.
inline void grade_lists(const AttentionShape& shape,
                        const HostBlocks& blocks,
                        const std::string& text,
                        bool with_lse = true) {
    const auto stored = as_stored<T>(random_attention(shape, 1));
    grade_stored(shape,
                 blocks,
                 stored,
                 expect_listed(shape, keys_of(blocks), stored),
                 text,
                 faults_of(blocks),
                 with_lse);
}

/// The same blocks in every list, in another order.
inline void shuffle_lists(HostBlocks& blocks, wb::testing::Random& random) {
    for (const bool is_partial : {false, true}) {
        wb::HostBlockList& list = is_partial ? blocks.partial : blocks.full;
        for (size_t row = 0; row + 1 < list.offsets.size(); ++row)
            for (int64_t i = list.offsets[row + 1] - 1; i > list.offsets[row]; --i) {
                const int64_t begin = list.offsets[row];
                const int64_t other = begin + random.below(i - begin + 1);
                if (other == i) continue;
                std::swap(list.blocks[static_cast<size_t>(i)],
                          list.blocks[static_cast<size_t>(other)]);
                const auto masks = blocks.masks.begin();
                if (is_partial)
                    std::swap_ranges(masks + i * kRows,
                                     masks + (i + 1) * kRows,
                                     masks + other * kRows);
            }
    }
}

/// Bits of a partial block: some, all or none of a row, or one; or none at all. Those
/// of queries and keys that do not exist are no others.
inline void add_masks(std::vector<uint64_t>& masks, wb::testing::Random& random) {
    const bool is_empty = random.below(6) == 0;
    for (int64_t row = 0; row < kRows; ++row) {
        const uint64_t words[] = {
            random.bits(), ~uint64_t{0}, 0, uint64_t{1} << random.below(64)};
        masks.push_back(is_empty ? 0 : words[random.below(4)]);
    }
}

/// Lists of these lengths in the last row of blocks, and of up to three blocks in those
/// before it. A block may be in both lists, or twice in one.
/// @param unlisted  a block that is in none of them; -1: it may be any
inline HostBlocks random_lists(int64_t queries,
                               int64_t keys,
                               int64_t full,
                               int64_t partial,
                               int64_t unlisted,
                               wb::testing::Random& random) {
    HostBlocks blocks;
    blocks.queries = queries;
    blocks.keys = keys;
    const int64_t rows = blocks.block_rows();
    for (int64_t row = 0; row < rows; ++row) {
        const bool is_last = row + 1 == rows;
        for (const bool is_partial : {false, true}) {
            wb::HostBlockList& list = is_partial ? blocks.partial : blocks.full;
            const int64_t length = !is_last     ? random.below(4)
                                   : is_partial ? partial
                                                : full;
            for (int64_t i = 0; i < length; ++i) {
                int64_t block = random.below(blocks.key_blocks());
                while (block == unlisted)
                    block = random.below(blocks.key_blocks());
                list.blocks.push_back(static_cast<int32_t>(block));
                if (is_partial) add_masks(blocks.masks, random);
            }
            list.offsets.push_back(std::ssize(list.blocks));
        }
    }
    blocks.order.resize(static_cast<size_t>(rows));
    std::iota(blocks.order.begin(), blocks.order.end(), 0);
    for (int64_t i = rows - 1; i > 0; --i)
        std::swap(blocks.order[static_cast<size_t>(i)],
                  blocks.order[static_cast<size_t>(random.below(i + 1))]);
    return blocks;
}

/// Puts a block into a list, at any place of any row of blocks.
inline void insert_block(HostBlocks& blocks,
                         bool is_partial,
                         int32_t block,
                         wb::testing::Random& random) {
    wb::HostBlockList& list = is_partial ? blocks.partial : blocks.full;
    const auto row = static_cast<size_t>(random.below(blocks.block_rows()));
    const int64_t length = list.offsets[row + 1] - list.offsets[row];
    const int64_t place = list.offsets[row] + random.below(length + 1);
    list.blocks.insert(list.blocks.begin() + place, block);
    for (size_t next = row + 1; next < list.offsets.size(); ++next)
        ++list.offsets[next];
    if (is_partial)
        blocks.masks.insert(
            blocks.masks.begin() + place * kRows, size_t{kRows}, ~uint64_t{0});
}

/// A block that does not exist, of those that are next to one that does, or far.
inline int32_t wrong_block(const HostBlocks& blocks, int64_t which) {
    const auto limit = static_cast<int32_t>(blocks.key_blocks());
    const int32_t wrong[] = {limit,
                             -1,
                             limit + 1,
                             std::numeric_limits<int32_t>::max(),
                             std::numeric_limits<int32_t>::min(),
                             1 << 26,
                             -(1 << 26)};
    return wrong[which % 7];
}

/// Makes the offsets of a row of blocks no range of the list.
inline void break_offsets(HostBlocks& blocks,
                          bool is_partial,
                          int64_t which,
                          wb::testing::Random& random) {
    constexpr int64_t kPastInt = int64_t{1} << 32;
    wb::HostBlockList& list = is_partial ? blocks.partial : blocks.full;
    std::vector<int64_t>& offsets = list.offsets;
    const auto row = static_cast<size_t>(random.below(blocks.block_rows()));
    switch (which % 8) {
        case 0:
            offsets.back() += 1;
            break;
        case 1:
            offsets.front() = -1;
            break;
        case 2:
            offsets.back() += kPastInt;  // its lower half is right
            break;
        case 3:
            offsets.front() -= kPastInt;
            break;
        case 4:
            offsets[row] = offsets[row + 1] + 1;
            break;
        case 5:
            offsets.back() = -1;
            break;
        case 6:
            offsets.front() = std::numeric_limits<int64_t>::min();
            break;
        default:
            offsets[row] = std::numeric_limits<int64_t>::max();
    }
}

/// Blocks in front of all lists, and behind them, that no row lists and that do not
/// exist.
inline void add_unused(HostBlocks& blocks, wb::testing::Random& random) {
    for (const bool is_partial : {false, true}) {
        wb::HostBlockList& list = is_partial ? blocks.partial : blocks.full;
        const int64_t before = 1 + random.below(3);
        list.blocks.insert(list.blocks.begin(), size_t(before), -7);
        for (int64_t& offset : list.offsets)
            offset += before;
        list.blocks.insert(list.blocks.end(), 2, wrong_block(blocks, 3));
        if (!is_partial) continue;
        blocks.masks.insert(blocks.masks.begin(), size_t(before * kRows), ~uint64_t{0});
        blocks.masks.insert(blocks.masks.end(), size_t{2 * kRows}, ~uint64_t{0});
    }
}

}  // namespace sparse_grading
