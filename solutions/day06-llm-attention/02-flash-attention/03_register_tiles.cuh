// 03_register_tiles.cuh: flash_attention_v3. Included by flash_attention.cu, below v2.
#pragma once

#include <wb/head_dim.h>
#include <wb/ladder.h>

#include <cstdint>

#include "tiles.cuh"

// #region v3-kernel
/// Copies a tile of BN rows to shared memory; zeros past the last row.
template <class T, int kStride>
__device__ __forceinline__ void copy_tile(float* s,        // [BN, kStride]
                                          const float* g,  // [rows, D]
                                          int rows) {
    constexpr int kRows = T::kThreads * 4 / T::D;  // that the block copies at once
    const int r = threadIdx.x / (T::D / 4);
    const int c = threadIdx.x % (T::D / 4) * 4;
#pragma unroll
    for (int i = 0; i < T::BN; i += kRows) {
        float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r + i < rows) x = *reinterpret_cast<const float4*>(g + (r + i) * T::D + c);
        *reinterpret_cast<float4*>(s + (r + i) * kStride + c) = x;
    }
}

/// flash_attention_v3: two matrix products with their operands in shared memory and
/// their results in registers, and the softmax between them in the same registers.
///
/// @tparam T           a Tile
/// @param  scale_log2  scale * log2(e): the softmax is computed in powers of two
///
/// Launch   grid B * H * row_tiles, block T::kThreads, dynamic shared memory T::kBytes
template <class T>
__global__ void __launch_bounds__(T::kThreads)
    flash_attention_v3_kernel(const float* q,  // [B * H, queries, D]
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
    load_queries<T>(w.s_q, q + g_row * T::D, work.rows, scale_log2);
    RowSums<T> r;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * T::BN;
        __syncthreads();  // nobody reads the tiles of the step before any more
        copy_tile<T, T::kStride>(w.s_k, k, keys - first_key);
        copy_tile<T, T::D>(w.s_v, v, keys - first_key);
        k += T::BN * T::D;
        v += T::BN * T::D;
        __syncthreads();
        float r_s[T::TM][T::TN] = {};
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r);
        store_weights(w, r_s);
        __syncwarp();  // the weights of a row are read by lanes of the same warp only
        add_values(w, r);
    }
    store_output(
        w, r, o + g_row * T::D, lse == nullptr ? nullptr : lse + g_row, work.rows);
}
// #endregion v3-kernel

// #region v3-launch
static void flash_attention_v3(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = Tile<large_tiling(head_dim())>;
        if (!launch_tiles<T>(flash_attention_v3_kernel<T>,
                             shape,
                             Tensors{q, k, v, o, lse},
                             stream)) {
            flash_attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v3-launch
WB_RUNG(flash_attention, flash_attention_v3, "register tiles and float4");
