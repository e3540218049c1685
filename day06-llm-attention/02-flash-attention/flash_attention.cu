// flash_attention.cu: attention in one kernel, without the matrix of scores.
#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

/// Threads in a block of v1, and so its rows.
constexpr int kThreads = 128;

/// Keys in shared memory at a time, in v1 and v2.
constexpr int kTileKeys = 32;

/// Shared memory that every kernel may have without asking for more.
constexpr size_t kSharedWithoutAsking = 48 * 1024;

// #region v1-kernel
/// flash_attention_v1: one thread, one row of q; the block walks over the keys, a tile
/// of kTileKeys in shared memory at a time.
///
/// @tparam D  head dimension
///
/// Launch   grid B * H * row_tiles, block kThreads, dynamic shared memory of
///          2 * kTileKeys * D floats
template <int D>
__global__ void flash_attention_v1_kernel(const float* q,  // [B * H, queries, D]
                                          const float* k,  // [B * H, keys, D]
                                          const float* v,  // [B * H, keys, D]
                                          float* o,        // [B * H, queries, D]
                                          float* lse,      // [B * H, queries] or null
                                          int queries,
                                          int keys,
                                          unsigned row_tiles,  // blocks of a head
                                          bool causal,
                                          float scale) {
    extern __shared__ float4 s_tiles[];
    float* const s_k = reinterpret_cast<float*>(s_tiles);  // [kTileKeys, D]
    float* const s_v = s_k + kTileKeys * D;                // [kTileKeys, D]
    const int64_t head = blockIdx.x / row_tiles;
    const int first_row = static_cast<int>(blockIdx.x % row_tiles) * kThreads;
    const int row = first_row + static_cast<int>(threadIdx.x);
    const bool has_row = row < queries;
    // What this row sees, and what the last row of the block sees: no key beyond is of
    // use to anybody here.
    const int visible = has_row ? wb::visible_keys(queries, keys, causal, row) : 0;
    const int block_keys =
        wb::visible_keys(queries, keys, causal, min(first_row + kThreads, queries) - 1);
    k += head * keys * D;
    v += head * keys * D;
    const int64_t g_row = head * queries + row;  // in q, o and lse

    float r_q[D];
    float r_o[D] = {};          // sum of weight * value, not divided yet
    float maximum = -INFINITY;  // of the scores so far
    float sum = 0.0f;           // of exp(score - maximum) so far
    for (int d = 0; d < D; ++d) {
        r_q[d] = has_row ? q[g_row * D + d] : 0.0f;
    }
    // TODO(learner): for each tile of keys below block_keys: let the block copy it and
    // its values into s_k and s_v, with a barrier before and after. Then, for each key
    // of the tile that this row sees: the score; if it is a new maximum, rescale sum
    // and r_o to it; add the weight to sum, and weight * value to r_o (about 23 lines)
    (void)s_k, (void)s_v, (void)r_q;          // delete these two lines,
    (void)visible, (void)block_keys;          // which prevent warnings
    if (!has_row) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[g_row * D + d] = r_o[d] * inverse;
    if (lse != nullptr) lse[g_row] = maximum + logf(sum);
}
// #endregion v1-kernel

// #region v1-launch
static void flash_attention_v1(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    const unsigned row_tiles = wb::grid_size(shape.queries, kThreads);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = flash_attention_v1_kernel<head_dim()>;
        // TODO(learner): how many bytes of shared memory does a block need? Where they
        // are more than kSharedWithoutAsking, allow the kernel as many with
        // cudaFuncSetAttribute. Launch it (about 8 lines)
        (void)kernel, (void)blocks, (void)queries, (void)keys;
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v1-launch

// #region contract
void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
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
    flash_attention_v1(shape, q, k, v, o, lse, stream);
}
// #endregion contract
