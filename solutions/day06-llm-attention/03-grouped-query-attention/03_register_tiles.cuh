// 03_register_tiles.cuh: grouped_query_attention_v3, the pieces of chapter 02 put
// together for packed rows. Included by grouped_query_attention.cu, below v2.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/ptx/cp_async.h>
#include <wb/shared_memory.h>

#include <cmath>
#include <cstdint>

#include "../02-flash-attention/tiles.cuh"

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
                  float scale_log2) {
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
    load_queries<T>(w.s_q, q + g_row * T::D, rows, scale_log2);
    RowSums<T> r;
    for (int step = 0; step < steps; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v, keys - first_key);
        v += T::BN * T::D;
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        if (first_key + T::BN > least) {
            mask_packed(w, r_s, first_key, first_row + w.row, queries, keys, causal);
        }
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        k += T::BN * T::D;
        if (step + 1 < steps) {
            start_copy<T, T::kStride>(w.s_k, k, keys - first_key - T::BN);
        }
        add_values(w, r);
    }
    store_output(w, r, o + g_row * T::D, lse == nullptr ? nullptr : lse + g_row, rows);
}
// #endregion v3-kernel

/// Packed rows from which on tiles of 128 rows are worth it.
constexpr int64_t kEnoughRows = 32;

// #region v3-launch
static void grouped_query_attention_v3(const wb::AttentionShape& shape,
                                       const float* q,
                                       const float* k,
                                       const float* v,
                                       float* o,
                                       float* lse,
                                       cudaStream_t stream) {
    const int64_t packed_rows = shape.query_heads / shape.kv_heads * shape.queries;
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        const auto kernel = gqa_v3_kernel<T>;
        if (packed_rows < kEnoughRows || !wb::allow_shared(kernel, T::kBytes)) {
            return grouped_query_attention_v2(shape, q, k, v, o, lse, stream);
        }
        const unsigned row_tiles = wb::grid_size(packed_rows, T::BM);
        const int64_t blocks = shape.batch * shape.kv_heads * row_tiles;
        kernel<<<wb::grid_size(blocks, 1), T::kThreads, T::kBytes, stream>>>(
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
            wb::log2_scale(shape.scale));
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v3-launch
WB_RUNG(grouped_query_attention,
        grouped_query_attention_v3,
        "register tiles on packed rows");
