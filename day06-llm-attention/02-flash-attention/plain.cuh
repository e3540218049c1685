// plain.cuh: given with "Go faster": attention for a GPU whose blocks cannot have as
// much shared memory as the tiles take. Slow, and right everywhere.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include <cstdint>

/// The largest head dimension.
inline constexpr int kPlainDim = 256;

/// plain_rows_kernel: one warp, one row of q; a lane has columns lane, lane + 32, ...
///
/// @tparam Number    float, __half or __nv_bfloat16
/// @param  group     heads of q that share a head of k and v
/// @param  head_dim  a multiple of 32, at most kPlainDim
///
/// Launch   grid B * Hq * queries, block one warp, no shared memory
template <class Number>
__global__ void plain_rows_kernel(const Number* q,  // [B * Hq, queries, D]
                                  const Number* k,  // [B * Hkv, keys, D]
                                  const Number* v,  // [B * Hkv, keys, D]
                                  Number* o,        // [B * Hq, queries, D]
                                  float* lse,       // [B * Hq, queries] or null
                                  int64_t group,
                                  int queries,
                                  int keys,
                                  int head_dim,
                                  bool causal,
                                  float scale) {
    constexpr int kColumns = kPlainDim / wb::kWarpSize;
    const int lane = threadIdx.x;
    const int64_t row = blockIdx.x;
    const int visible =
        wb::visible_keys(queries, keys, causal, static_cast<int>(row % queries));
    const int64_t first = row / queries / group * keys * head_dim;  // of its keys
    float query[kColumns] = {};
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int col = c * wb::kWarpSize + lane;
        if (col < head_dim)
            query[c] = scale * static_cast<float>(q[row * head_dim + col]);
    }
    wb::OnlineSoftmax<kColumns> state;
    for (int j = 0; j < visible; ++j) {
        const int64_t at = first + int64_t{j} * head_dim;
        float score = 0.0f;
        float value[kColumns] = {};
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
            const int col = c * wb::kWarpSize + lane;
            if (col >= head_dim) continue;
            score += query[c] * static_cast<float>(k[at + col]);
            value[c] = static_cast<float>(v[at + col]);
        }
        for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
            score += __shfl_xor_sync(0xFFFFFFFFu, score, step);
        state.add(score, value);
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int col = c * wb::kWarpSize + lane;
        if (col < head_dim)
            o[row * head_dim + col] = static_cast<Number>(state.o[c] * state.scale());
    }
    if (lse != nullptr && lane == 0) lse[row] = state.log_sum_exp();
}

/// Launches it.
template <class Number>
void attention_plain(const wb::AttentionShape& shape,
                     const Number* q,
                     const Number* k,
                     const Number* v,
                     Number* o,
                     float* lse,
                     cudaStream_t stream) {
    plain_rows_kernel<<<wb::grid_size(shape.rows(), 1), wb::kWarpSize, 0, stream>>>(
        q,
        k,
        v,
        o,
        lse,
        shape.query_heads / shape.kv_heads,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        static_cast<int>(shape.head_dim),
        shape.causal,
        shape.scale);
    CUDA_CHECK_LAUNCH();
}
