// flash_attention.cu: attention in one kernel, without the matrix of scores.
// #solution
//
// Each version from v2 on has a file; v3 is the second stage, flash_attention_fast.cu,
// and v3 to v7 share tiles.cuh.
//
// <Ladder of="flash_attention" at="B4 H16 N4096 D64">
//       TFLOP/s  idea                         what limits it
//   v1     24.9  one thread a row             each value read is used once
//   v2     8.79  one warp a row               as v1, and tiles serve fewer rows
//   v3     41.1  register tiles, float4       the block waits while a tile comes in
//   v4     41.7  cp.async under the products  48 passes of shared memory in 64 cycles
//   v5     42.3  lanes in pairs               multiply-adds: 32 passes
//   v6        -  few rows: the keys in parts  as v5; few rows: the copies
//   v7        -  3xTF32 on tensor cores       not looked into yet
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
// #solution
#include <wb/ladder.h>
// #end
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
    // #starter (void)s_k, (void)s_v, (void)r_q;          // delete these two lines,
    // #starter (void)visible, (void)block_keys;          // which prevent warnings
    // #solution
    for (int first = 0; first < block_keys; first += kTileKeys) {
        const int count = min(kTileKeys, keys - first);
        __syncthreads();  // nobody reads the tile before any more
        for (int e = threadIdx.x; e < count * D; e += kThreads) {
            s_k[e] = k[int64_t{first} * D + e];
            s_v[e] = v[int64_t{first} * D + e];
        }
        __syncthreads();
        const int end = min(count, visible - first);
        for (int j = 0; j < end; ++j) {
            float score = 0.0f;
            for (int d = 0; d < D; ++d)
                score += r_q[d] * s_k[j * D + d];
            score *= scale;
            if (score > maximum) {
                const float factor = expf(maximum - score);  // exp(-infinity) is 0
                sum *= factor;
                for (int d = 0; d < D; ++d)
                    r_o[d] *= factor;
                maximum = score;
            }
            const float weight = expf(score - maximum);
            sum += weight;
            for (int d = 0; d < D; ++d)
                r_o[d] += weight * s_v[j * D + d];
        }
    }
    // #end
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
        // #starter (void)kernel, (void)blocks, (void)queries, (void)keys;
        // #solution
        const size_t bytes = 2 * kTileKeys * head_dim() * sizeof(float);
        if (bytes > kSharedWithoutAsking) {
            CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
        }
        kernel<<<blocks, kThreads, bytes, stream>>>(
            q, k, v, o, lse, queries, keys, row_tiles, shape.causal, shape.scale);
        // #end
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v1-launch

// #solution
WB_RUNG(flash_attention, flash_attention_v1, "one thread a row");

#include "02_warp_a_row.cuh"
#define WB_VERSION_ONLY
#include "flash_attention_fast.cu"

WB_RUNG(flash_attention, flash_attention_v3, "register tiles and float4");
#include "04_cp_async.cuh"
#include "05_lanes_in_pairs.cuh"
#include "06_keys_in_parts.cuh"
#include "07_three_products.cuh"
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
    // #solution
    flash_attention_v7(shape, q, k, v, o, lse, stream);
    // #end
    // #starter flash_attention_v1(shape, q, k, v, o, lse, stream);
}
// #endregion contract
