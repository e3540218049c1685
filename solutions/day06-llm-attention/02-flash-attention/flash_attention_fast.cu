// flash_attention_fast.cu: v3: two matrix products with a tile of results in the
// registers of each thread. What you write is the products.
// #solution
// Only the short test cases: the ladder runs the long ones.
// #end
#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>

#include <cstdint>

#include "plain.cuh"
#include "tiles.cuh"

// #region scores
/// First product: r_s[i][j] += q[row i] . k[key j], four columns at a time.
template <class T>
__device__ __forceinline__ void tile_scores(const Workspace<T>& w,
                                            float (&r_s)[T::TM][T::TN]) {
    // TODO(learner): of this thread's TM rows and TN keys, four columns at a time: load
    // its TN keys (copy_vector<4>; they are T::kLanes apart, the first is w.col), then
    // row after row (T::kRowStep apart, the first is w.row), and with each row's four
    // columns do all 4 * TN multiply-adds. Loops over registers need "#pragma unroll",
    // for registers have no index (about 20 lines)
    // #solution
    const float* const q = w.s_q + w.row * T::kStride;
    const float* const k = w.s_k + w.col * T::kStride;
#pragma unroll 2
    for (int d = 0; d < T::D; d += 4) {
        __align__(16) float r_k[T::TN][4];
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
            copy_vector<4>(r_k[j], k + j * T::kLanes * T::kStride + d);
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
            __align__(16) float r_q[4];
            copy_vector<4>(r_q, q + i * T::kRowStep * T::kStride + d);
            // One sum after the other, not one sum at a time: the next addition to the
            // same sum comes TN instructions later, when the last has finished.
#pragma unroll
            for (int x = 0; x < 4; ++x) {
#pragma unroll
                for (int j = 0; j < T::TN; ++j)
                    r_s[i][j] += r_q[x] * r_k[j][x];
            }
        }
    }
    // #end
}
// #endregion scores

// #region values
/// Second product: r.o[i][c] += sum over keys of weight[row i][key] * v[key][c].
template <class T>
__device__ __forceinline__ void add_values(const Workspace<T>& w, RowSums<T>& r) {
    // TODO(learner): store_weights says where the weights stand: what lane L of the row
    // has of its keys L, L + kLanes, ... is in vectors of kVector, one after the other
    // for the lanes. For each vector of each lane: load it for all TM rows; then, for
    // each of its kVector keys, the TD columns of v that this thread has, four at a
    // time and 4 * kLanes apart, the first 4 * w.col; and do all TM * TD multiply-adds
    // (about 28 lines)
    // #solution
#pragma unroll 1
    for (int group = 0; group < T::TN; group += T::kVector) {
        const float* const p = w.s_p + w.row * T::kStrideP + group * T::kLanes;
        const float* const v = w.s_v + group * T::kLanes * T::D + 4 * w.col;
#pragma unroll 2
        for (int lane = 0; lane < T::kLanes; ++lane) {  // whose weights they are
            __align__(16) float r_p[T::TM][T::kVector];
#pragma unroll
            for (int i = 0; i < T::TM; ++i) {
                copy_vector<T::kVector>(
                    r_p[i], p + i * T::kRowStep * T::kStrideP + lane * T::kVector);
            }
#pragma unroll
            for (int x = 0; x < T::kVector; ++x) {
                __align__(16) float r_v[T::TD];
#pragma unroll
                for (int c = 0; c < T::TD; c += 4) {
                    copy_vector<4>(r_v + c,
                                   v + (lane + x * T::kLanes) * T::D + c * T::kLanes);
                }
#pragma unroll
                for (int i = 0; i < T::TM; ++i) {
#pragma unroll
                    for (int c = 0; c < T::TD; ++c)
                        r.o[i][c] += r_p[i][x] * r_v[c];
                }
            }
        }
    }
    // #end
}
// #endregion values

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
        const Tensors<float> t = {q, k, v, o, lse};
        if (launch_tiles<T>(flash_attention_v3_kernel<T>, shape, t, stream)) return;
        if constexpr (head_dim() <= 128) {
            using S = Tile<small_tiling(head_dim())>;
            if (launch_tiles<S>(flash_attention_v3_kernel<S>, shape, t, stream)) return;
        }
        attention_plain(shape, q, k, v, o, lse, stream);
    });
}
// #endregion v3-launch

// #solution
#ifndef WB_VERSION_ONLY  // flash_attention.cu has all versions, and the contract
// #end
// #region contract
void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const wb::Arguments arguments("flash_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads: heads are shared in chapter 03");
    if (shape.rows() == 0) return;
    // As float4, so that an address that is not a multiple of 16 is refused.
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    flash_attention_v3(shape, q, k, v, o, lse, stream);
}
// #endregion contract
// #solution
#endif
// #end
