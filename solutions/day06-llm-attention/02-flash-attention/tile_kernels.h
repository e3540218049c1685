// tile_kernels.h: v3, v4 and v5, which put the pieces of register_tiles.h together, and
// the sizes of tiles that they are launched with.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/ptx/cp_async.h>

#include <cmath>
#include <cstdint>

#include "register_tiles.h"

/// Lets a kernel have `bytes` of dynamic shared memory.
/// Returns false where the GPU does not have as much for a block.
template <class Kernel>
bool allow_shared(Kernel kernel, size_t bytes) {
    int device = 0;
    int most = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<size_t>(most)) return false;
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    return true;
}

/// Where a block of v3 and v4 works: found from its number.
template <class T>
struct BlockWork {
    int64_t head;
    int first_row;
    int rows;     // of the head from first_row on, at most T::BM count
    int visible;  // keys that first_row sees; may be negative: none, by so many
    int steps;    // tiles of keys that some row of the block sees

    __device__ BlockWork(int queries, int keys, unsigned row_tiles, bool causal) {
        head = blockIdx.x / row_tiles;
        unsigned tile = blockIdx.x % row_tiles;
        // The last rows of a causal head see the most keys. Those of all heads start
        // first, so that what runs at the very end is short.
        if (causal) {
            const unsigned heads = gridDim.x / row_tiles;
            head = blockIdx.x % heads;
            tile = row_tiles - 1 - blockIdx.x / heads;
        }
        first_row = static_cast<int>(tile) * T::BM;
        rows = queries - first_row;
        visible = first_row + 1 + keys - queries;
        const int last_row = min(first_row + T::BM, queries) - 1;
        const int block_keys = wb::visible_keys(queries, keys, causal, last_row);
        steps = (block_keys + T::BN - 1) / T::BN;
    }

    /// Whether some row does not see all keys of the step that begins at first_key.
    __device__ bool needs_mask(int first_key, int keys, bool causal) const {
        const int end = first_key + T::BN;
        return end > keys || (causal && end > visible);
    }
};

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
/// @tparam T       a Tile
/// @param  scale2  scale * log2(e): the softmax is computed in powers of two
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
                              float scale2) {
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * T::D;
    v += work.head * keys * T::D;
    load_queries<T>(w.s_q, q + g_row * T::D, work.rows, scale2);
    float r_o[T::TM][T::TD] = {};
    float r_sum[T::TM] = {};
    float r_max[T::TM];
#pragma unroll
    for (float& maximum : r_max)
        maximum = -INFINITY;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * T::BN;
        __syncthreads();  // nobody reads the tiles of the step before any more
        copy_tile<T, T::kStride>(w.s_k, k, keys - first_key);
        copy_tile<T, T::D>(w.s_v, v, keys - first_key);
        k += T::BN * T::D;
        v += T::BN * T::D;
        __syncthreads();
        float r_s[T::TM][T::TN];
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r_o, r_max, r_sum);
        store_weights(w, r_s);
        __syncwarp();  // the weights of a row are read by lanes of the same warp only
        add_values(w, r_o);
    }
    store_output(w,
                 r_o,
                 r_max,
                 r_sum,
                 o + g_row * T::D,
                 lse == nullptr ? nullptr : lse + g_row,
                 work.rows);
}
// #endregion v3-kernel

// #region v4-kernel
/// Starts copying a tile of BN rows to shared memory; zeros past the last row.
template <class T, int kStride>
__device__ __forceinline__ void start_copy(float* s,        // [BN, kStride]
                                           const float* g,  // [rows, D]
                                           int rows) {
    constexpr int kRows = T::kThreads * 4 / T::D;
    const int r = threadIdx.x / (T::D / 4);
    const int c = threadIdx.x % (T::D / 4) * 4;
#pragma unroll
    for (int i = 0; i < T::BN; i += kRows) {
        wb::ptx::cp_async_zfill<16>(
            s + (r + i) * kStride + c, g + (r + i) * T::D + c, r + i < rows ? 16 : 0);
    }
    wb::ptx::cp_async_commit();
}

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
                              float scale2) {
    extern __shared__ float4 s_tiles[];
    const Workspace<T> w(s_tiles);
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * T::D;
    v += work.head * keys * T::D;
    if (work.steps > 0) start_copy<T, T::kStride>(w.s_k, k, keys);
    load_queries<T>(w.s_q, q + g_row * T::D, work.rows, scale2);
    float r_o[T::TM][T::TD] = {};
    float r_sum[T::TM] = {};
    float r_max[T::TM];
#pragma unroll
    for (float& maximum : r_max)
        maximum = -INFINITY;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::D>(w.s_v, v, keys - first_key);
        v += T::BN * T::D;
        float r_s[T::TM][T::TN];
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<T>(r_s, r_o, r_max, r_sum);
        store_weights(w, r_s);
        wb::ptx::cp_async_wait<0>();
        __syncthreads();  // the values are here, and nobody reads the keys any more
        k += T::BN * T::D;
        if (step + 1 < work.steps) {
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
                 work.rows);
}
// #endregion v4-kernel

// #region tiles
/// The fastest tiles on an H100 of some forty that were timed: on it, two blocks share
/// a multiprocessor up to D = 64. D = 256 takes 217 KB, which sm_90 has, but not sm_80.
template <int D>
struct Tiles {
    using Large = Tile<D, 128, D == 256 ? 32 : 64, D >= 128 ? 16 : 8>;
    using Pairs = Tile<D, 128, D == 256 ? 32 : 64, D >= 128 ? 16 : 8, true>;
    /// For GPUs with 99 KB for a block (sm_86, sm_89, sm_120), up to D = 128.
    using Small = Tile<D, 64, D == 128 ? 32 : 64, D == 32 ? 8 : 16>;
};
// #endregion tiles

/// Launches a kernel of v3 or v4. Returns false where its shared memory is too large.
template <class T, class Kernel>
inline bool launch_tiles(Kernel kernel,
                         const wb::AttentionShape& shape,
                         const float* q,
                         const float* k,
                         const float* v,
                         float* o,
                         float* lse,
                         cudaStream_t stream) {
    constexpr double kLog2e = 1.44269504088896340736;
    if (!allow_shared(kernel, T::kBytes)) return false;
    const unsigned row_tiles = wb::grid_size(shape.queries, T::BM);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    kernel<<<blocks, T::kThreads, T::kBytes, stream>>>(
        q,
        k,
        v,
        o,
        lse,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        row_tiles,
        shape.causal,
        static_cast<float>(double{shape.scale} * kLog2e));
    CUDA_CHECK_LAUNCH();
    return true;
}
