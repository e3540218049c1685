// rows.cuh: given with "Go faster": a warp a row, for patterns of rows, and for
// patterns of blocks where a block of threads cannot have as much shared memory as
// tiles take.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/sparse_pattern.h>

#include <cstdint>
#include <type_traits>

/// A row of q, and what its warp has summed up; a lane has the columns lane, lane + 32,
/// ...
template <int D>
struct WarpRow {
    static constexpr int kColumns = D / wb::kWarpSize;
    float query[kColumns];
    wb::OnlineSoftmax<kColumns> state;

    __device__ WarpRow(const float* q, float scale) {  // [D]
        for (int c = 0; c < kColumns; ++c)
            query[c] = scale * q[c * wb::kWarpSize + threadIdx.x];
    }

    /// One more key.
    __device__ void add(const float* key, const float* value) {  // [D] each
        float score = 0.0f;
        float its[kColumns];
        for (int c = 0; c < kColumns; ++c) {
            score += query[c] * key[c * wb::kWarpSize + threadIdx.x];
            its[c] = value[c * wb::kWarpSize + threadIdx.x];
        }
        for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
            score += __shfl_xor_sync(0xFFFFFFFFu, score, step);
        state.add(score, its);
    }

    __device__ void store(float* o, float* lse) const {  // [D], [1] or null
        for (int c = 0; c < kColumns; ++c)
            o[c * wb::kWarpSize + threadIdx.x] = state.o[c] * state.scale();
        if (lse != nullptr && threadIdx.x == 0) *lse = state.log_sum_exp();
    }
};

/// listed_rows_kernel: the keys that a CsrPattern lists for a row.
///
/// Launch   grid B * H * queries, block one warp, no shared memory
template <int D>
__global__ void listed_rows_kernel(wb::CsrPattern pattern,
                                   const float* q,  // [B * H, queries, D]
                                   const float* k,  // [B * H, keys, D]
                                   const float* v,  // [B * H, keys, D]
                                   float* o,        // [B * H, queries, D]
                                   float* lse,      // [B * H, queries] or null
                                   wb::PatternStatus* status,
                                   int queries,
                                   int keys,
                                   float scale) {
    const int64_t row = blockIdx.x;
    const int query = static_cast<int>(row % queries);
    const int64_t first = row / queries * keys;
    WarpRow<D> mine(q + row * D, scale);
    const auto places =
        wb::row_places(pattern.offsets, query, pattern.num_indices, status);
    for (int64_t place = places.begin; place < places.end; ++place) {
        const int32_t key = pattern.indices[place];
        if (!wb::check_index(key, keys, query, place, status)) continue;
        mine.add(k + (first + key) * D, v + (first + key) * D);
    }
    mine.store(o + row * D, lse == nullptr ? nullptr : lse + row);
}

/// listed_blocks_kernel: the keys of the blocks that a BlockPattern lists for a row.
///
/// Launch   as listed_rows_kernel
template <int D>
__global__ void listed_blocks_kernel(wb::BlockPattern pattern,
                                     const float* q,  // [B * H, queries, D]
                                     const float* k,  // [B * H, keys, D]
                                     const float* v,  // [B * H, keys, D]
                                     float* o,        // [B * H, queries, D]
                                     float* lse,      // [B * H, queries] or null
                                     wb::PatternStatus* status,
                                     int queries,
                                     int keys,
                                     float scale) {
    constexpr int kRows = wb::BlockPattern::kRows;
    constexpr int kKeys = wb::BlockPattern::kKeys;
    const int64_t row = blockIdx.x;
    const int query = static_cast<int>(row % queries);
    const int block_row = query / kRows;
    const int64_t first = row / queries * keys;
    WarpRow<D> mine(q + row * D, scale);
    for (const bool partial : {false, true}) {
        const wb::BlockList& list = partial ? pattern.partial : pattern.full;
        const auto places =
            wb::row_places(list.offsets, block_row, list.num_blocks, status);
        for (int64_t place = places.begin; place < places.end; ++place) {
            const int32_t block = list.blocks[place];
            const int limit = wb::BlockPattern::key_blocks(keys);
            if (!wb::check_index(block, limit, block_row, place, status)) continue;
            const uint64_t mask =
                partial ? pattern.masks[place * kRows + query % kRows] : ~uint64_t{0};
            const int count = min(kKeys, keys - block * kKeys);
            for (int j = 0; j < count; ++j) {
                if ((mask >> j & 1) == 0) continue;
                const int64_t key = first + block * kKeys + j;
                mine.add(k + key * D, v + key * D);
            }
        }
    }
    mine.store(o + row * D, lse == nullptr ? nullptr : lse + row);
}

/// Launches one of the two.
template <class Pattern>
void attend_rows(const wb::AttentionShape& shape,
                 const Pattern& pattern,
                 const float* q,
                 const float* k,
                 const float* v,
                 float* o,
                 float* lse,
                 wb::PatternStatus* status,
                 cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        const auto launch = [&](auto kernel) {
            kernel<<<wb::grid_size(shape.rows(), 1), wb::kWarpSize, 0, stream>>>(
                pattern,
                q,
                k,
                v,
                o,
                lse,
                status,
                static_cast<int>(shape.queries),
                static_cast<int>(shape.keys),
                shape.scale);
        };
        if constexpr (std::is_same_v<Pattern, wb::CsrPattern>)
            launch(listed_rows_kernel<head_dim()>);
        else
            launch(listed_blocks_kernel<head_dim()>);
        CUDA_CHECK_LAUNCH();
    });
}
