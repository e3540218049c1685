/// wb/sparse_builders.h: sparse patterns, made on the host.
///
/// Query i stands at the position p = i + keys - queries: the last query at the last
/// key, as in causal attention. Indices come out ascending and without duplicates.
/// Causal patterns have no key after p.
#pragma once

#include <wb/sparse_pattern.h>

#include <cstdint>
#include <vector>

namespace wb {

/// A CsrPattern on the host.
struct HostCsr {
    int64_t queries = 0;
    int64_t keys = 0;
    std::vector<int64_t> offsets = {0};  ///< [queries + 1]
    std::vector<int32_t> indices;        ///< [offsets.back()]
};

/// A BlockList on the host.
struct HostBlockList {
    std::vector<int64_t> offsets = {0};
    std::vector<int32_t> blocks;
};

/// A BlockPattern on the host.
struct HostBlocks {
    int64_t queries = 0;
    int64_t keys = 0;
    HostBlockList full;
    HostBlockList partial;
    std::vector<uint64_t> masks;
    std::vector<int32_t> order;

    /// ceil(queries / BlockPattern::kRows), and of keys.
    int64_t block_rows() const;
    int64_t key_blocks() const;
};

/// Every key; causal: those up to p.
HostCsr dense_pattern(int64_t queries, int64_t keys, bool causal);

/// Local: the keys from p - left to p + right. A causal sliding window of w keys is
/// local_pattern(queries, keys, w - 1, 0).
HostCsr local_pattern(int64_t queries, int64_t keys, int64_t left, int64_t right);

/// A causal sliding window of `window` keys, and the first `sinks` keys, which get a
/// large weight in many models whatever they say (Xiao et al. 2023, StreamingLLM).
HostCsr window_with_sinks(int64_t queries, int64_t keys, int64_t window, int64_t sinks);

/// Causal: the last `stride` keys, and every stride-th before them, counted back from
/// p (Child et al. 2019, Sparse Transformers).
HostCsr strided_pattern(int64_t queries, int64_t keys, int64_t stride);

/// `count` different keys for each query, anywhere; all of them if there are no more.
HostCsr random_pattern(int64_t queries, int64_t keys, int64_t count, uint64_t seed);

/// Causal, coarser with distance: the last `near` keys, of the 2 * near before them
/// every 2nd, of the 4 * near before these every 4th, ...: near * log2(keys / near)
/// keys or so.
HostCsr hierarchical_pattern(int64_t queries, int64_t keys, int64_t near);

/// Random blocks of BlockPattern::kRows x kKeys, each with the probability `density`.
HostCsr block_sparse_pattern(int64_t queries,
                             int64_t keys,
                             double density,
                             uint64_t seed);

/// The same pattern in blocks: full where all pairs that exist are in it.
/// Throws wb::PatternError for what check_pattern() refuses, and for a key that is
/// listed twice: a bit cannot be set twice.
HostBlocks to_blocks(const HostCsr& pattern);

/// Throws wb::PatternError, which names what is wrong with the first wrong offset or
/// index. Duplicates and any order are right.
void check_pattern(const HostCsr& pattern);

/// The same for a pattern of blocks.
void check_pattern(const HostBlocks& pattern);

}  // namespace wb
