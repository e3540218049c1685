// 01_one_number.cuh: mixed_precision_attention_v1, which loads and converts each number
// alone.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

#include "pairs.h"

// #region v1-kernel
/// mixed_precision_attention_v1: one warp, one row of q; for the scores a lane takes a
/// key, for the output the columns lane, lane + 32, ... Each number is loaded and
/// converted alone.
///
/// Launch   grid B * H * row_tiles, block kWarps * 32
template <class T, int D>
__global__ void attention_v1_kernel(const T* q,  // [B * H, queries, D]
                                    const T* k,  // [B * H, keys, D]
                                    const T* v,  // [B * H, keys, D]
                                    T* o,        // [B * H, queries, D]
                                    float* lse,  // [B * H, queries] or null
                                    int queries,
                                    int keys,
                                    unsigned row_tiles,  // blocks of a head
                                    bool causal,
                                    float scale) {
    constexpr int kColumns = D / wb::kWarpSize;  // of a lane
    __shared__ float s_q[kWarps][D];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles) * kWarps + warp;
    if (row >= queries) return;  // a whole warp, and no barrier below
    const int visible = wb::visible_keys(queries, keys, causal, row);
    const int64_t g_row = head * queries + row;  // in q, o and lse
    k += head * keys * D;
    v += head * keys * D;
    for (int d = lane; d < D; d += wb::kWarpSize)
        s_q[warp][d] = scale * static_cast<float>(q[g_row * D + d]);
    __syncwarp();

    float r_o[kColumns] = {};
    float maximum = -INFINITY;  // the same in all lanes
    float sum = 0.0f;           // of this lane's weights
    for (int first = 0; first < visible; first += wb::kWarpSize) {
        const int count = min(wb::kWarpSize, visible - first);
        float score = -INFINITY;
        if (lane < count) {
            const T* const key = k + int64_t{first + lane} * D;
            score = 0.0f;
            for (int d = 0; d < D; ++d)
                score += s_q[warp][d] * static_cast<float>(key[d]);
        }
        const float new_maximum = fmaxf(maximum, warp_max(score));
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (float& value : r_o)
            value *= factor;
        for (int j = 0; j < count; ++j) {
            const float other_weight = __shfl_sync(kAll, weight, j);
            const T* const value = v + int64_t{first + j} * D + lane;
            for (int c = 0; c < kColumns; ++c)
                r_o[c] += other_weight * static_cast<float>(value[c * wb::kWarpSize]);
        }
    }
    sum = warp_sum(sum);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int c = 0; c < kColumns; ++c)
        o[g_row * D + c * wb::kWarpSize + lane] = static_cast<T>(r_o[c] * inverse);
    if (lane == 0 && lse != nullptr) lse[g_row] = maximum + logf(sum);
}
// #endregion v1-kernel

template <class T>
static void attention_v1(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        attention_v1_kernel<T, head_dim()>
            <<<blocks, kWarps * wb::kWarpSize, 0, stream>>>(
                q,
                k,
                v,
                o,
                lse,
                static_cast<int>(shape.queries),
                static_cast<int>(shape.keys),
                row_tiles,
                shape.causal,
                shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
