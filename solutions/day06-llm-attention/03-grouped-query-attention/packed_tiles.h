// packed_tiles.h: v3, which puts the pieces of chapter 02 together for packed rows.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/ptx/cp_async.h>

#include <cmath>
#include <cstdint>

#include "../02-flash-attention/register_tiles.h"
#include "../02-flash-attention/tile_kernels.h"

// #region packed-mask
/// -infinity for the keys that a packed row does not see.
/// @param row  packed, of this thread's first row
template <class T>
__device__ __forceinline__ void mask_packed(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN],
                                            int first_key,
                                            int64_t row,
                                            int queries,
                                            int keys,
                                            bool causal) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
        const int query = static_cast<int>((row + i * T::kRowStep) % queries);
        const int limit = wb::visible_keys(queries, keys, causal, query);
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
            if (first_key + w.col + j * T::kLanes >= limit) r_s[i][j] = -INFINITY;
        }
    }
}
// #endregion packed-mask

// #region v3-kernel
/// grouped_query_attention_v3: chapter 02's v5. A block has T::BM packed rows of one
/// key/value head, of whichever query heads of the group they are.
///
/// Launch   grid B * Hkv * row_tiles, block T::kThreads, dynamic shared memory
///          T::kBytes
template <class T>
__global__ void __launch_bounds__(T::kThreads)
    gqa_v3_kernel(const float* q,  // [B, Hkv, G * queries, D]
                  const float* k,  // [B, Hkv, keys, D]
                  const float* v,  // [B, Hkv, keys, D]
                  float* o,        // [B, Hkv, G * queries, D]
                  float* lse,      // [B, Hkv, G * queries] or null
                  int64_t packed_rows,
                  int queries,
                  int keys,
                  unsigned row_tiles,
                  bool causal,
                  float scale2) {
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const int64_t kv_head = blockIdx.x / row_tiles;
    const int64_t first_row = int64_t{row_tiles - 1 - blockIdx.x % row_tiles} * T::BM;
    const int64_t last_row = min(first_row + T::BM, packed_rows) - 1;
    const bool one_head = first_row / queries == last_row / queries;
    // The block's rows see at least all keys below `least`, and none from `most` on.
    const int least = wb::visible_keys(
        queries, keys, causal, one_head ? static_cast<int>(first_row % queries) : 0);
    const int most =
        wb::visible_keys(queries,
                         keys,
                         causal,
                         one_head ? static_cast<int>(last_row % queries) : queries - 1);
    const int steps = (most + T::BN - 1) / T::BN;
    const int rows = static_cast<int>(last_row + 1 - first_row);
    const int64_t g_row = kv_head * packed_rows + first_row;
    k += kv_head * keys * T::D;
    v += kv_head * keys * T::D;
    if (steps > 0) start_copy<T, T::kStride>(w.s_k, k, keys);
    load_queries<T>(w.s_q, q + g_row * T::D, rows, scale2);
    float r_o[T::TM][T::TD] = {};
    float r_sum[T::TM] = {};
    float r_max[T::TM];
#pragma unroll
    for (float& maximum : r_max)
        maximum = -INFINITY;
    for (int step = 0; step < steps; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v, keys - first_key);
        v += T::BN * T::D;
        float r_s[T::TM][T::TN];
        tile_scores(w, r_s);
        if (first_key + T::BN > least) {
            mask_packed(w, r_s, first_key, first_row + w.row, queries, keys, causal);
        }
        softmax_step<T>(r_s, r_o, r_max, r_sum);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        k += T::BN * T::D;
        if (step + 1 < steps) {
            start_copy<T, T::kStride>(w.s_k, k, keys - first_key - T::BN);
        }
        add_values(w, r_o);
    }
    store_output(w,
                 r_o,
                 r_max,
                 r_sum,
                 o + g_row * T::D,
                 lse == nullptr ? nullptr : lse + g_row,
                 rows);
}
// #endregion v3-kernel

/// Launches v3. Returns false where its shared memory is too large for the GPU.
template <class T>
bool launch_packed(const wb::AttentionShape& shape,
                   const float* q,
                   const float* k,
                   const float* v,
                   float* o,
                   float* lse,
                   cudaStream_t stream) {
    constexpr double kLog2e = 1.44269504088896340736;
    const auto kernel = gqa_v3_kernel<T>;
    if (!allow_shared(kernel, T::kBytes)) return false;
    const int64_t packed_rows = shape.query_heads / shape.kv_heads * shape.queries;
    const unsigned row_tiles = wb::grid_size(packed_rows, T::BM);
    const unsigned blocks = wb::grid_size(shape.batch * shape.kv_heads * row_tiles, 1);
    kernel<<<blocks, T::kThreads, T::kBytes, stream>>>(
        q,
        k,
        v,
        o,
        lse,
        packed_rows,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        row_tiles,
        shape.causal,
        static_cast<float>(double{shape.scale} * kLog2e));
    CUDA_CHECK_LAUNCH();
    return true;
}
