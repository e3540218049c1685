// grouped_query_attention.cu: flash attention in which query heads share keys and
// values.
// #solution
//
// v1 and v2 are here, v3 is the second stage, grouped_query_attention_fast.cu.
//
// <Ladder of="grouped_query_attention" at="B1 Hq32 Hkv8 N2048 D128 causal">
//       TFLOP/s  idea                         what limits it
//   v1     9.25  head mapping                 keys are read once for each query head
//   v2     9.27  packed rows                  each value read is used once
//   v3     30.3  chapter 02's register tiles  as there; needs many rows
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "grouped_query_attention.h"

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

/// Warps in a block, each with a row of its own.
constexpr int kWarps = 8;
constexpr int kThreads = kWarps * wb::kWarpSize;

/// Keys in shared memory at a time: one for each lane.
constexpr int kTileKeys = wb::kWarpSize;

/// Floats from key to key in shared memory: with 4 more than D, the float4 of eight
/// lanes with eight keys are in different banks.
template <int D>
constexpr int kStride = D + 4;

/// Floats of dynamic shared memory: a row of q for each warp, a tile of keys, one of
/// values.
template <int D>
constexpr int kSharedFloats = kWarps* D + kTileKeys*(kStride<D> + D);

// #region attend
/// One row of attention for each warp of the block: chapter 02's v2. All warps walk
/// over the same keys together, a tile in shared memory at a time.
///
/// @param q           [D] this warp's row; null: this warp has none, and only helps
/// @param k, v        [keys, D] of the head that all rows of the block use
/// @param visible     keys that this warp's row sees
/// @param block_keys  keys that some row of the block sees; the same in all warps
/// @param o           [D] this warp's row
/// @param lse         [1] or null
template <int D>
__device__ void attend(const float* q,
                       const float* k,
                       const float* v,
                       int keys,
                       int visible,
                       int block_keys,
                       float scale,
                       float* o,
                       float* lse) {
    constexpr unsigned kAll = 0xFFFFFFFFu;
    extern __shared__ float4 s_tiles[];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    float* const s_k = reinterpret_cast<float*>(s_tiles);  // [kTileKeys, kStride]
    float* const s_v = s_k + kTileKeys * kStride<D>;       // [kTileKeys, D]
    float* const s_q = s_v + kTileKeys * D + warp * D;     // [D] of this warp
    for (int d = lane; d < D; d += wb::kWarpSize)
        s_q[d] = q == nullptr ? 0.0f : scale * q[d];
    float r_o[D / wb::kWarpSize] = {};  // columns lane, lane + 32, ...
    float maximum = -INFINITY;          // the same in all lanes
    float sum = 0.0f;                   // of this lane's weights
    for (int first = 0; first < block_keys; first += kTileKeys) {
        __syncthreads();
        for (int e = threadIdx.x; e < kTileKeys * D / 4; e += kThreads) {
            const int j = e / (D / 4);
            const int d = e % (D / 4) * 4;
            float4 x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            float4 y = x;
            if (first + j < keys) {
                x = *reinterpret_cast<const float4*>(k + int64_t{first + j} * D + d);
                y = *reinterpret_cast<const float4*>(v + int64_t{first + j} * D + d);
            }
            *reinterpret_cast<float4*>(s_k + j * kStride<D> + d) = x;
            *reinterpret_cast<float4*>(s_v + j * D + d) = y;
        }
        __syncthreads();
        float score = 0.0f;  // of the key that this lane has
        for (int d = 0; d < D; d += 4) {
            const float4 x = *reinterpret_cast<const float4*>(s_q + d);
            const float4 y =
                *reinterpret_cast<const float4*>(s_k + lane * kStride<D> + d);
            score += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
        if (first + lane >= visible) score = -INFINITY;
        float new_maximum = fmaxf(maximum, score);
        for (int other = 1; other < wb::kWarpSize; other *= 2) {
            new_maximum = fmaxf(new_maximum, __shfl_xor_sync(kAll, new_maximum, other));
        }
        const float base = new_maximum == -INFINITY ? 0.0f : new_maximum;
        const float factor = expf(maximum - base);
        const float weight = expf(score - base);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (float& value : r_o)
            value *= factor;
        for (int j = 0; j < kTileKeys; ++j) {
            const float other_weight = __shfl_sync(kAll, weight, j);
            for (int c = 0; c < D / wb::kWarpSize; ++c)
                r_o[c] += other_weight * s_v[j * D + c * wb::kWarpSize + lane];
        }
    }
    for (int other = 1; other < wb::kWarpSize; other *= 2)
        sum += __shfl_xor_sync(kAll, sum, other);
    if (q == nullptr) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int c = 0; c < D / wb::kWarpSize; ++c)
        o[c * wb::kWarpSize + lane] = r_o[c] * inverse;
    if (lane == 0 && lse != nullptr) *lse = maximum + logf(sum);
}
// #endregion attend

// #region v1-kernel
/// grouped_query_attention_v1: a block has up to kWarps rows of one query head.
///
/// Launch   grid B * Hq * row_tiles, block kThreads, dynamic shared memory
///          kSharedFloats<D> floats
template <int D>
__global__ void gqa_v1_kernel(const float* q,  // [B, Hq, queries, D]
                              const float* k,  // [B, Hkv, keys, D]
                              const float* v,  // [B, Hkv, keys, D]
                              float* o,        // [B, Hq, queries, D]
                              float* lse,      // [B, Hq, queries] or null
                              int group,       // Hq / Hkv
                              int queries,
                              int keys,
                              unsigned row_tiles,  // blocks of a query head
                              bool causal,
                              float scale) {
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t head = blockIdx.x / row_tiles;  // over all batches: b * Hq + h
    const int first_row = static_cast<int>(blockIdx.x % row_tiles) * kWarps;
    const int row = first_row + warp;
    const int last_row = min(first_row + kWarps, queries) - 1;
    // TODO(learner): which head of k and v, over all batches, does this head use?
    // Let the block attend to it: each warp with its own row of q and o, the keys that
    // this row sees, and those that last_row sees. A warp without a row passes null
    // for q, and 0 keys (about 13 lines)
    // #solution
    // (b * Hq + h) / G = b * Hkv + h / G, since Hq = G * Hkv and h < Hq.
    const int64_t kv_head = head / group;
    const bool has_row = row < queries;
    const int64_t g_row = head * queries + (has_row ? row : 0);
    attend<D>(has_row ? q + g_row * D : nullptr,
              k + kv_head * keys * D,
              v + kv_head * keys * D,
              keys,
              has_row ? wb::visible_keys(queries, keys, causal, row) : 0,
              wb::visible_keys(queries, keys, causal, last_row),
              scale,
              o + g_row * D,
              lse == nullptr ? nullptr : lse + g_row);
    // #end
    // #starter (void)warp, (void)head, (void)row, (void)last_row;  // delete this line
}
// #endregion v1-kernel

// #region v2-kernel
/// grouped_query_attention_v2: a block has up to kWarps rows of one key/value head. The
/// rows of the group's query heads are neighbours in memory, one head after the other:
///
///     packed   0   1   2 | 3   4   5 | ...     queries = 3
///     head     h0  h0  h0| h1  h1  h1| ...     the G heads of the group
///     query    0   1   2 | 0   1   2 | ...
///
/// Launch   grid B * Hkv * row_tiles, block kThreads, dynamic shared memory
///          kSharedFloats<D> floats
template <int D>
__global__ void gqa_v2_kernel(const float* q,       // [B, Hkv, G * queries, D]
                              const float* k,       // [B, Hkv, keys, D]
                              const float* v,       // [B, Hkv, keys, D]
                              float* o,             // [B, Hkv, G * queries, D]
                              float* lse,           // [B, Hkv, G * queries] or null
                              int64_t packed_rows,  // G * queries
                              int queries,
                              int keys,
                              unsigned row_tiles,  // blocks of a key/value head
                              bool causal,
                              float scale) {
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t kv_head = blockIdx.x / row_tiles;
    const int64_t first_row = int64_t{blockIdx.x % row_tiles} * kWarps;
    const int64_t row = first_row + warp;  // packed
    // TODO(learner): the same for packed rows. Which query is a row? Which row of the
    // block sees the most keys, if the block has the end of one head and the beginning
    // of the next? (about 17 lines)
    // #solution
    const bool has_row = row < packed_rows;
    const int query = static_cast<int>(row % queries);
    const int64_t last_row = min(first_row + kWarps, packed_rows) - 1;
    // Where a head ends within the block, its last query is here, which sees the most.
    const int last_query = first_row / queries == last_row / queries
                               ? static_cast<int>(last_row % queries)
                               : queries - 1;
    const int64_t g_row = kv_head * packed_rows + (has_row ? row : 0);
    attend<D>(has_row ? q + g_row * D : nullptr,
              k + kv_head * keys * D,
              v + kv_head * keys * D,
              keys,
              has_row ? wb::visible_keys(queries, keys, causal, query) : 0,
              wb::visible_keys(queries, keys, causal, last_query),
              scale,
              o + g_row * D,
              lse == nullptr ? nullptr : lse + g_row);
    // #end
    // #starter (void)warp, (void)kv_head, (void)row;  // delete this line
}
// #endregion v2-kernel

/// Allows a kernel the shared memory of a block.
template <int D, class Kernel>
static size_t shared_bytes(Kernel kernel) {
    const size_t bytes = kSharedFloats<D> * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    return bytes;
}

// #region launches
[[maybe_unused]] static void grouped_query_attention_v1(const wb::AttentionShape& shape,
                                                        const float* q,
                                                        const float* k,
                                                        const float* v,
                                                        float* o,
                                                        float* lse,
                                                        cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = gqa_v1_kernel<head_dim()>;
        const size_t bytes = shared_bytes<head_dim()>(kernel);
        kernel<<<blocks, kThreads, bytes, stream>>>(
            q,
            k,
            v,
            o,
            lse,
            static_cast<int>(shape.query_heads / shape.kv_heads),
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            row_tiles,
            shape.causal,
            shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #solution
WB_RUNG(grouped_query_attention, grouped_query_attention_v1, "head mapping");
// #end

static void grouped_query_attention_v2(const wb::AttentionShape& shape,
                                       const float* q,
                                       const float* k,
                                       const float* v,
                                       float* o,
                                       float* lse,
                                       cudaStream_t stream) {
    const int64_t packed_rows = shape.query_heads / shape.kv_heads * shape.queries;
    const unsigned row_tiles = wb::grid_size(packed_rows, kWarps);
    const unsigned blocks = wb::grid_size(shape.batch * shape.kv_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = gqa_v2_kernel<head_dim()>;
        const size_t bytes = shared_bytes<head_dim()>(kernel);
        kernel<<<blocks, kThreads, bytes, stream>>>(q,
                                                    k,
                                                    v,
                                                    o,
                                                    lse,
                                                    packed_rows,
                                                    static_cast<int>(shape.queries),
                                                    static_cast<int>(shape.keys),
                                                    row_tiles,
                                                    shape.causal,
                                                    shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #solution
WB_RUNG(grouped_query_attention,
        grouped_query_attention_v2,
        "packed rows: keys once a group");
// #end
// #endregion launches

// #solution
#define WB_VERSION_ONLY
#include "grouped_query_attention_fast.cu"

/// Packed rows from which on tiles of 128 rows are worth it.
constexpr int64_t kEnoughRows = 32;

static void grouped_query_attention_v3(const wb::AttentionShape& shape,
                                       const float* q,
                                       const float* k,
                                       const float* v,
                                       float* o,
                                       float* lse,
                                       cudaStream_t stream) {
    const int64_t packed_rows = shape.query_heads / shape.kv_heads * shape.queries;
    const auto version =
        packed_rows < kEnoughRows ? grouped_query_attention_v2 : attend_packed;
    version(shape, q, k, v, o, lse, stream);
}
WB_RUNG(grouped_query_attention,
        grouped_query_attention_v3,
        "register tiles on packed rows");
// #end

// #region contract
void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both TODOs are written
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
    // #solution
    grouped_query_attention_v3(shape, q, k, v, o, lse, stream);
    // #end
    // #starter grouped_query_attention_v2(shape, q, k, v, o, lse, stream);
}
// #endregion contract
