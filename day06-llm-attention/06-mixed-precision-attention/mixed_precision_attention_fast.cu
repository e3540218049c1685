// mixed_precision_attention_fast.cu: v3: chapter 02's register tiles. What you write is
// the way in, where 16 bits become 32, and the way out, where 32 become 16.
#include "mixed_precision_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>

#include <cstdint>
#include <cstring>

#include "../02-flash-attention/plain.cuh"
#include "../03-grouped-query-attention/products.cuh"
#include "pairs.h"

/// Numbers of 16 bits that one load or one copy brings: 16 bytes.
constexpr int kEight = 8;

// #region convert
/// Eight numbers of Number, times a scale, to shared memory as eight floats.
template <class Number>
__device__ __forceinline__ void store_floats(float* s,  // [8], 16-byte aligned
                                             uint4 eight,
                                             float scale = 1.0f) {
    // TODO(learner): eight is four pairs: copy its bits into a Pair<Number>[4] with
    // memcpy, which costs no instruction. Make floats of each pair with to_floats,
    // times the scale, and store them as two float4 (about 10 lines)
}

/// Copies kRows rows of Number to shared memory as floats; zeros past the last row.
template <class Number, class T, int kRows, int kStride>
__device__ __forceinline__ void load_rows(float* s,         // [kRows, kStride]
                                          const Number* g,  // [rows, D]
                                          int rows,
                                          float scale = 1.0f) {
    // TODO(learner): a row is D / kEight vectors of 16 bytes, and the tile is kRows of
    // them. Deal the vectors to the block's T::kThreads threads, so that neighbours
    // load neighbours: load one as a uint4, or take zeros if its row is not below
    // `rows`, and give it to store_floats (about 9 lines)
}
// #endregion convert

// #region store
/// Four columns of the output, only now rounded to 16 bits.
template <class Number>
__device__ __forceinline__ void store_four(Number* to,  // [4], 8-byte aligned
                                           float4 x) {
    // TODO(learner): two pairs, to_pair<Number>, in one store (about 5 lines)
}
// #endregion store

// #region v3-kernel
/// mixed_precision_attention_v3: chapter 02's v3. Each number of k and v is converted
/// once, by the thread that loads it, eight of them at a time; the two products then
/// see nothing but floats.
///
/// @tparam Number      __half or __nv_bfloat16
/// @tparam T           a Tile of chapter 02
/// @param  scale_log2  scale * log2(e): the softmax is computed in powers of two
///
/// Launch   grid B * H * row_tiles, block T::kThreads, dynamic shared memory
///          T::kBytes
template <class Number, class T>
__global__ void __launch_bounds__(T::kThreads)
    attention_v3_kernel(const Number* q,  // [B * H, queries, D]
                        const Number* k,  // [B * H, keys, D]
                        const Number* v,  // [B * H, keys, D]
                        Number* o,        // [B * H, queries, D]
                        float* lse,       // [B * H, queries] or null
                        int queries,
                        int keys,
                        unsigned row_tiles,
                        bool causal,
                        float scale_log2) {
    extern __shared__ float4 s_tiles[];
    constexpr int D = T::D;
    constexpr int BN = T::BN;
    const Workspace<T> w(s_tiles);
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * D;
    v += work.head * keys * D;
    load_rows<Number, T, T::BM, T::kStride>(
        w.s_q, q + g_row * D, work.rows, scale_log2);
    RowSums<T> r;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * BN;
        __syncthreads();  // nobody reads the tiles of the step before any more
        load_rows<Number, T, BN, T::kStride>(w.s_k, k, keys - first_key);
        load_rows<Number, T, BN, D>(w.s_v, v, keys - first_key);
        k += BN * D;
        v += BN * D;
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
    store_output(w,
                 r,
                 o + g_row * D,
                 lse == nullptr ? nullptr : lse + g_row,
                 work.rows,
                 [](Number* to, float4 x) { store_four(to, x); });
}
// #endregion v3-kernel

// #region v3-launch
template <class Number>
static void attention_v3(const wb::AttentionShape& shape,
                         const Number* q,
                         const Number* k,
                         const Number* v,
                         Number* o,
                         float* lse,
                         cudaStream_t stream) {
    const Tensors<Number> t = {q, k, v, o, lse};
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        using Large = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        using Small = Tile<small_tiling(head_dim())>;
        if (!launch_tiles<Large>(
                attention_v3_kernel<Number, Large>, shape, t, stream) &&
            !launch_tiles<Small>(
                attention_v3_kernel<Number, Small>, shape, t, stream)) {
            attention_plain(shape, q, k, v, o, lse, stream);  // sm_75
        }
    });
}
// #endregion v3-launch

// #region contract
/// Both functions of the contract.
template <class T>
static void checked_attention(const wb::AttentionShape& shape,
                              const T* q,
                              const T* k,
                              const T* v,
                              T* o,
                              float* lse,
                              cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when all three TODOs are written
    const wb::Arguments arguments("mixed_precision_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads: heads are shared in chapter 03");
    if (shape.rows() == 0) return;
    // As uint4, so that an address that is not a multiple of 16 is refused.
    const auto vectors = [](const T* p) { return reinterpret_cast<const uint4*>(p); };
    arguments.device("q", vectors(q), shape.query_elements() / 8)
        .device("k", vectors(k), shape.kv_elements() / 8)
        .device("v", vectors(v), shape.kv_elements() / 8)
        .device("o", vectors(o), shape.query_elements() / 8);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    attention_v3(shape, q, k, v, o, lse, stream);
}

void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __half* q,
                               const __half* k,
                               const __half* v,
                               __half* o,
                               float* lse,
                               cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}

void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __nv_bfloat16* q,
                               const __nv_bfloat16* k,
                               const __nv_bfloat16* v,
                               __nv_bfloat16* o,
                               float* lse,
                               cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}
// #endregion contract
