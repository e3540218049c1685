#include <wb/errors.h>
#include <wb/sparse_builders.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

namespace wb {
namespace {

constexpr int64_t kRows = BlockPattern::kRows;
constexpr int64_t kKeys = BlockPattern::kKeys;

/// A pattern whose row i is what add(p, row) puts into an empty row.
template <class AddRow>
HostCsr build(int64_t queries, int64_t keys, AddRow add) {
    HostCsr pattern;
    pattern.queries = queries;
    pattern.keys = keys;
    for (int64_t i = 0; i < queries; ++i) {
        add(i + keys - queries, pattern.indices);
        pattern.offsets.push_back(static_cast<int64_t>(pattern.indices.size()));
    }
    return pattern;
}

/// Adds the keys of [first, last] that exist.
void add_range(std::vector<int32_t>& row, int64_t first, int64_t last, int64_t keys) {
    for (int64_t j = std::max(first, int64_t{0}); j <= std::min(last, keys - 1); ++j)
        row.push_back(static_cast<int32_t>(j));
}

/// SplitMix64 (Steele, Lea, Flood 2014): a hash of a counter.
uint64_t random_bits(uint64_t& state) {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// Uniform in [0, 1).
double uniform(uint64_t& state) {
    return static_cast<double>(random_bits(state) >> 11) * 0x1p-53;
}

int64_t round_up(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple;
}

[[noreturn]] void refuse(const std::string& what) {
    throw PatternError("sparse pattern: " + what);
}

/// name[0] must be 0, name[rows] the length of the list, and no offset may fall.
void check_offsets(const std::string& name,
                   const std::vector<int64_t>& offsets,
                   int64_t rows,
                   std::size_t length) {
    if (static_cast<int64_t>(offsets.size()) != rows + 1) {
        refuse(name + " has " + std::to_string(offsets.size()) +
               " elements, but must have " + std::to_string(rows + 1));
    }
    if (offsets.front() != 0)
        refuse(name + "[0] is " + std::to_string(offsets.front()) + ", but must be 0");
    for (std::size_t i = 1; i < offsets.size(); ++i) {
        if (offsets[i] >= offsets[i - 1]) continue;
        refuse(name + "[" + std::to_string(i) + "] is " + std::to_string(offsets[i]) +
               ", less than the " + std::to_string(offsets[i - 1]) + " before it");
    }
    if (offsets.back() != static_cast<int64_t>(length)) {
        refuse(name + " ends with " + std::to_string(offsets.back()) +
               ", but the list has " + std::to_string(length) + " elements");
    }
}

/// Every index must be in [0, limit).
void check_indices(const std::string& name,
                   const std::vector<int64_t>& offsets,
                   const std::vector<int32_t>& indices,
                   int64_t limit) {
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at) {
            const int32_t index = indices[static_cast<std::size_t>(at)];
            if (index >= 0 && index < limit) continue;
            refuse(name + "[" + std::to_string(at) + "], of row " +
                   std::to_string(row) + ", is " + std::to_string(index) +
                   ", but must be in [0, " + std::to_string(limit) + ")");
        }
    }
}

/// One block's bits.
using Masks = std::array<uint64_t, kRows>;

/// The bits of a block in which every pair that exists is seen.
Masks full_masks(int64_t rows, int64_t keys) {
    Masks masks{};
    const uint64_t all = keys >= kKeys ? ~uint64_t{0} : (uint64_t{1} << keys) - 1;
    for (int64_t r = 0; r < std::min(rows, kRows); ++r)
        masks[static_cast<std::size_t>(r)] = all;
    return masks;
}

/// What the queries from first_row on see, by key block.
std::map<int32_t, Masks> block_row(const HostCsr& pattern, int64_t first_row) {
    std::map<int32_t, Masks> blocks;
    const int64_t end = std::min(first_row + kRows, pattern.queries);
    for (int64_t i = first_row; i < end; ++i) {
        int32_t block = -1;  // of the key before: mostly that of this one, too
        Masks* masks = nullptr;
        for (int64_t at = pattern.offsets[static_cast<std::size_t>(i)];
             at < pattern.offsets[static_cast<std::size_t>(i) + 1];
             ++at) {
            const int32_t key = pattern.indices[static_cast<std::size_t>(at)];
            if (masks == nullptr || key / kKeys != block) {
                block = key / static_cast<int32_t>(kKeys);
                masks = &blocks.try_emplace(block).first->second;
            }
            uint64_t& mask = (*masks)[static_cast<std::size_t>(i - first_row)];
            const uint64_t bit = uint64_t{1} << (key % kKeys);
            if ((mask & bit) != 0) {
                refuse("row " + std::to_string(i) + " lists key " +
                       std::to_string(key) + " twice: blocks cannot");
            }
            mask |= bit;
        }
    }
    return blocks;
}

}  // namespace

int64_t HostBlocks::block_rows() const {
    return round_up(queries, kRows);
}

int64_t HostBlocks::key_blocks() const {
    return round_up(keys, kKeys);
}

HostCsr dense_pattern(int64_t queries, int64_t keys, bool causal) {
    return build(queries, keys, [=](int64_t p, auto& row) {
        add_range(row, 0, causal ? p : keys - 1, keys);
    });
}

HostCsr local_pattern(int64_t queries, int64_t keys, int64_t left, int64_t right) {
    return build(queries, keys, [=](int64_t p, auto& row) {
        add_range(row, p - left, p + right, keys);
    });
}

HostCsr window_with_sinks(int64_t queries,
                          int64_t keys,
                          int64_t window,
                          int64_t sinks) {
    return build(queries, keys, [=](int64_t p, auto& row) {
        const int64_t first = p - window + 1;
        add_range(row, 0, std::min(sinks, first) - 1, keys);
        add_range(row, first, p, keys);
    });
}

HostCsr strided_pattern(int64_t queries, int64_t keys, int64_t stride) {
    return build(queries, keys, [=](int64_t p, auto& row) {
        for (int64_t j = p < 0 ? 0 : p % stride; j <= p - stride; j += stride)
            row.push_back(static_cast<int32_t>(j));
        add_range(row, p - stride + 1, p, keys);
    });
}

HostCsr random_pattern(int64_t queries, int64_t keys, int64_t count, uint64_t seed) {
    uint64_t state = seed;
    return build(queries, keys, [=](int64_t, auto& row) mutable {
        // Each key in turn, with the chance that is left for it: exactly `count`, in
        // ascending order (Knuth, volume 2, algorithm S).
        int64_t wanted = std::min(count, keys);
        for (int64_t j = 0; wanted > 0; ++j) {
            if (uniform(state) * static_cast<double>(keys - j) >=
                static_cast<double>(wanted)) {
                continue;
            }
            row.push_back(static_cast<int32_t>(j));
            --wanted;
        }
    });
}

HostCsr hierarchical_pattern(int64_t queries, int64_t keys, int64_t near) {
    return build(queries, keys, [=](int64_t p, auto& row) {
        for (int64_t j = 0; j <= p; ++j) {
            // Level L holds the distances from near (2^L - 1) to near (2^(L+1) - 1).
            int64_t step = 1;
            while (p - j >= near * (2 * step - 1))
                step *= 2;
            if (j % step == 0) row.push_back(static_cast<int32_t>(j));
        }
    });
}

HostCsr block_sparse_pattern(int64_t queries,
                             int64_t keys,
                             double density,
                             uint64_t seed) {
    uint64_t state = seed;
    int64_t query = 0;
    std::vector<int64_t> chosen;  // first keys of this row's blocks
    return build(queries, keys, [=](int64_t, auto& row) mutable {
        if (query++ % kRows == 0) {
            chosen.clear();
            for (int64_t first = 0; first < keys; first += kKeys) {
                if (uniform(state) < density) chosen.push_back(first);
            }
        }
        for (const int64_t first : chosen)
            add_range(row, first, first + kKeys - 1, keys);
    });
}

HostBlocks to_blocks(const HostCsr& pattern) {
    check_pattern(pattern);
    HostBlocks result;
    result.queries = pattern.queries;
    result.keys = pattern.keys;
    std::vector<int64_t> work;
    for (int64_t first = 0; first < pattern.queries; first += kRows) {
        const auto blocks = block_row(pattern, first);
        for (const auto& [block, masks] : blocks) {
            const bool full = masks == full_masks(pattern.queries - first,
                                                  pattern.keys - block * kKeys);
            (full ? result.full : result.partial).blocks.push_back(block);
            if (!full) {
                result.masks.insert(result.masks.end(), masks.begin(), masks.end());
            }
        }
        for (HostBlockList* list : {&result.full, &result.partial})
            list->offsets.push_back(static_cast<int64_t>(list->blocks.size()));
        work.push_back(static_cast<int64_t>(blocks.size()));
    }
    result.order.resize(work.size());
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(
        result.order.begin(), result.order.end(), [&](int32_t a, int32_t b) {
            return work[static_cast<std::size_t>(a)] >
                   work[static_cast<std::size_t>(b)];
        });
    return result;
}

void check_pattern(const HostCsr& pattern) {
    check_offsets("offsets", pattern.offsets, pattern.queries, pattern.indices.size());
    check_indices("indices", pattern.offsets, pattern.indices, pattern.keys);
}

void check_pattern(const HostBlocks& pattern) {
    const int64_t rows = pattern.block_rows();
    const auto check_list = [&](const std::string& name, const HostBlockList& list) {
        check_offsets(name + ".offsets", list.offsets, rows, list.blocks.size());
        check_indices(
            name + ".blocks", list.offsets, list.blocks, pattern.key_blocks());
    };
    check_list("full", pattern.full);
    check_list("partial", pattern.partial);
    const std::size_t words = pattern.partial.blocks.size() * std::size_t{kRows};
    if (pattern.masks.size() != words) {
        refuse("masks has " + std::to_string(pattern.masks.size()) +
               " words, but must have " + std::to_string(words));
    }
    std::vector<int32_t> sorted = pattern.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<int32_t>(i)) refuse("order is no permutation");
    }
    if (static_cast<int64_t>(sorted.size()) != rows) refuse("order is no permutation");
}

}  // namespace wb
