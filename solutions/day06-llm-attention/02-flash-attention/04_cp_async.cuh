// 04_cp_async.cuh: flash_attention_v4. Included by flash_attention.cu, below v3.
#pragma once

#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/ptx/cp_async.h>

#include <cstdint>

#include "tiles.cuh"

// #region v4-kernel
/// flash_attention_v4: v3, with copies that run while the block computes. There is one
/// buffer for keys and one for values, and each is filled while the other is in use:
///
///     keys    | use 0      | copy 1     | use 1      | copy 2     |
///     values  | copy 0     | use 0      | copy 1     | use 1      |
///
/// Launch   as v3
template <class T>
__global__ void __launch_bounds__(T::kThreads)
    flash_attention_v4_kernel(const float* q,  // [B * H, queries, D]
                              const float* k,  // [B * H, keys, D]
                              const float* v,  // [B * H, keys, D]
                              float* o,        // [B * H, queries, D]
                              float* lse,      // [B * H, queries] or null
                              int queries,
                              int keys,
                              unsigned row_tiles,
                              bool causal,
                              float scale_log2) {
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * T::D;
    v += work.head * keys * T::D;
    if (work.steps > 0) start_copy<T, T::kStride>(w.s_k, k, keys);
    load_queries<T>(w.s_q, q + g_row * T::D, work.rows, scale_log2);
    RowSums<T> r;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v, keys - first_key);
        v += T::BN * T::D;
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        k += T::BN * T::D;
        if (step + 1 < work.steps) {
            start_copy<T, T::kStride>(w.s_k, k, keys - first_key - T::BN);
        }
        add_values(w, r);
    }
    store_output(
        w, r, o + g_row * T::D, lse == nullptr ? nullptr : lse + g_row, work.rows);
}
// #endregion v4-kernel

// #region v4-launch
static void flash_attention_v4(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = Tile<large_tiling(head_dim())>;
        if (launch_tiles<T>(flash_attention_v4_kernel<T>,
                            shape,
                            Tensors{q, k, v, o, lse},
                            stream)) {
            return;
        }
        using S = Tile<small_tiling(head_dim() == 256 ? 128 : head_dim())>;
        if (head_dim() == 256 || !launch_tiles<S>(flash_attention_v4_kernel<S>,
                                                  shape,
                                                  Tensors{q, k, v, o, lse},
                                                  stream)) {
            flash_attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v4-launch
WB_RUNG(flash_attention, flash_attention_v4, "cp.async: copies under the products");
