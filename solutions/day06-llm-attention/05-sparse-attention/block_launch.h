// block_launch.h: the launches of v2 to v4 of block_sparse_attention. Included by
// sparse_attention.cu.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include <cstdint>

#include "block_tiles.h"

/// Launches the tile kernel. Returns false where the GPU has not enough shared memory
/// for a block.
template <class T, bool kOrder, bool kAtOnce>
static bool launch_blocks(const wb::AttentionShape& shape,
                          const wb::BlockPattern& pattern,
                          const float* q,
                          const float* k,
                          const float* v,
                          float* o,
                          float* lse,
                          wb::PatternStatus* status,
                          cudaStream_t stream) {
    constexpr double kLog2e = 1.44269504088896340736;
    constexpr int kParts = wb::BlockPattern::kRows / T::BM;
    const auto kernel = block_sparse_tiles_kernel<T, kOrder, kAtOnce>;
    if (!allow_shared(kernel, T::kBytes)) return false;
    const unsigned row_tiles =
        kParts * wb::grid_size(shape.queries, wb::BlockPattern::kRows);
    const int64_t heads = shape.batch * shape.query_heads;
    const unsigned blocks = wb::grid_size(heads * row_tiles, 1);
    kernel<<<blocks, T::kThreads, T::kBytes, stream>>>(
        pattern,
        q,
        k,
        v,
        o,
        lse,
        status,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        static_cast<unsigned>(heads),
        row_tiles,
        static_cast<float>(double{shape.scale} * kLog2e));
    CUDA_CHECK_LAUNCH();
    return true;
}

// #region v3-launch
/// The largest tiles that fit. sm_75 has no room even for the small ones of D = 128.
template <bool kOrder, bool kAtOnce>
static void launch_largest(const wb::AttentionShape& shape,
                           const wb::BlockPattern& pattern,
                           const float* q,
                           const float* k,
                           const float* v,
                           float* o,
                           float* lse,
                           wb::PatternStatus* status,
                           cudaStream_t stream) {
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using Large = typename Tiles<head_dim()>::Pairs;
        using Small = typename Tiles<head_dim()>::Small;
        if (!launch_blocks<Large, kOrder, kAtOnce>(
                shape, pattern, q, k, v, o, lse, status, stream) &&
            !launch_blocks<Small, kOrder, kAtOnce>(
                shape, pattern, q, k, v, o, lse, status, stream)) {
            block_sparse_attention_v1(shape, pattern, q, k, v, o, lse, status, stream);
        }
    });
}

static void block_sparse_attention_v2(const wb::AttentionShape& shape,
                                      const wb::BlockPattern& pattern,
                                      const float* q,
                                      const float* k,
                                      const float* v,
                                      float* o,
                                      float* lse,
                                      wb::PatternStatus* status,
                                      cudaStream_t stream) {
    launch_largest<false, false>(shape, pattern, q, k, v, o, lse, status, stream);
}
WB_RUNG(block_sparse_attention, block_sparse_attention_v2, "register tiles on a list");

static void block_sparse_attention_v3(const wb::AttentionShape& shape,
                                      const wb::BlockPattern& pattern,
                                      const float* q,
                                      const float* k,
                                      const float* v,
                                      float* o,
                                      float* lse,
                                      wb::PatternStatus* status,
                                      cudaStream_t stream) {
    launch_largest<true, false>(shape, pattern, q, k, v, o, lse, status, stream);
}
// #endregion v3-launch
WB_RUNG(block_sparse_attention, block_sparse_attention_v3, "the longest rows first");

// #region v4-launch
static void block_sparse_attention_v4(const wb::AttentionShape& shape,
                                      const wb::BlockPattern& pattern,
                                      const float* q,
                                      const float* k,
                                      const float* v,
                                      float* o,
                                      float* lse,
                                      wb::PatternStatus* status,
                                      cudaStream_t stream) {
    launch_largest<true, true>(shape, pattern, q, k, v, o, lse, status, stream);
}
// #endregion v4-launch
WB_RUNG(block_sparse_attention, block_sparse_attention_v4, "all queries at once");
