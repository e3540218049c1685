// grouped_query_attention_fast.cu: v3: the rows of a group, packed into chapter 02's
// register tiles. What you write is which rows and keys a block has.
#include "grouped_query_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/ptx/cp_async.h>

#include <cmath>
#include <cstdint>

#include "../02-flash-attention/plain.cuh"
#include "products.cuh"

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
    // TODO(learner): row i of this thread is packed row `row + i * T::kRowStep`. Which
    // query is it, of whichever head? How many keys does that query see? Scores of the
    // others become -infinity: this thread's key j is first_key + w.col + j * T::kLanes
    // (about 8 lines)
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
    int64_t kv_head = 0;    // of the block, counted over all batches
    int64_t first_row = 0;  // packed rows of the block
    int64_t last_row = 0;
    int least = 0;  // its rows see at least all keys below `least`,
    int most = 0;   // and none from `most` on
    // TODO(learner): find them. Blocks of a key/value head follow each other, and the
    // one with its last rows is the first: with a mask, these see the most. The rows of
    // a head are one query after the other, those of a group one head after the other:
    // a block whose rows are all of one head has least and most from its first and last
    // row, any other has queries 0 and queries - 1 in it (about 14 lines)
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

// #region v3-launch
/// Launches the kernel. Returns false where a block cannot have as much shared memory.
template <class T>
static bool launch_packed(const wb::AttentionShape& shape,
                          const Tensors<float>& t,
                          cudaStream_t stream) {
    if (!wb::allow_shared(gqa_v3_kernel<T>, T::kBytes)) return false;
    const int64_t packed_rows = shape.query_heads / shape.kv_heads * shape.queries;
    const unsigned row_tiles = wb::grid_size(packed_rows, T::BM);
    const int64_t blocks = shape.batch * shape.kv_heads * row_tiles;
    gqa_v3_kernel<T><<<wb::grid_size(blocks, 1), T::kThreads, T::kBytes, stream>>>(
        t.q,
        t.k,
        t.v,
        t.o,
        t.lse,
        packed_rows,
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        row_tiles,
        shape.causal,
        wb::log2_scale(shape.scale));
    CUDA_CHECK_LAUNCH();
    return true;
}

static void attend_packed(const wb::AttentionShape& shape,
                          const float* q,
                          const float* k,
                          const float* v,
                          float* o,
                          float* lse,
                          cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using Large = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        const Tensors<float> t = {q, k, v, o, lse};
        if (launch_packed<Large>(shape, t, stream)) return;
        if constexpr (head_dim() <= 128) {
            using Small = Tile<small_tiling(head_dim())>;
            if (launch_packed<Small>(shape, t, stream)) return;
        }
        attention_plain(shape, q, k, v, o, lse, stream);
    });
}
// #endregion v3-launch

// #region contract
void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    const wb::Arguments arguments("grouped_query_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
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
    attend_packed(shape, q, k, v, o, lse, stream);
}
// #endregion contract
