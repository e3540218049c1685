// flash_attention.cu: attention in one kernel, without the matrix of scores.
// #solution
//
// The ladder:
//   v1  one thread a row     keys and values in shared memory, all rows read the same
//   v2  one warp a row       a lane a key, then a lane a column; many warps, few rows
//   v3  register tiles       128 rows a block, 8 rows of a tile a thread, float4 reads
//   v4  cp.async             keys arrive while values are used, and the reverse
//   v5  lanes in pairs       the same reads of shared memory, in fewer passes
// #end
#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
// #solution

#include "tile_kernels.h"
// #end

/// Threads in a block of v1, and so its rows.
constexpr int kThreads = 128;

/// Keys in shared memory at a time, in v1 and v2.
constexpr int kTileKeys = 32;

/// Shared memory that every kernel may have without asking for more.
constexpr size_t kSharedWithoutAsking = 48 * 1024;

/// Calls launch(std::integral_constant<int, D>), so that D is a constant of the kernel:
/// arrays of D elements can then be registers.
template <class Launch>
static void with_head_dim(int64_t head_dim, Launch launch) {
    switch (head_dim) {
        case 32:
            return launch(std::integral_constant<int, 32>());
        case 64:
            return launch(std::integral_constant<int, 64>());
        case 128:
            return launch(std::integral_constant<int, 128>());
        default:
            return launch(std::integral_constant<int, 256>());
    }
}

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
    with_head_dim(shape.head_dim, [&](auto head_dim) {
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

/// Warps in a block of v2, and so its rows.
constexpr int kWarps = 8;

// #region v2-kernel
/// Floats of v2's shared memory: rows of q, a tile of keys with 4 floats of padding
/// each, a tile of values.
template <int D>
constexpr int kFloatsV2 = kWarps* D + kTileKeys*(D + 4) + kTileKeys* D;

/// flash_attention_v2: one warp, one row. For the scores a lane takes a key, for the
/// output it takes D / 32 columns; the weights go from lane to lane by shuffles.
///
/// Launch   grid B * H * row_tiles, block kWarps * 32, dynamic shared memory
///          kFloatsV2<D> floats
template <int D>
__global__ void flash_attention_v2_kernel(const float* q,  // [B * H, queries, D]
                                          const float* k,  // [B * H, keys, D]
                                          const float* v,  // [B * H, keys, D]
                                          float* o,        // [B * H, queries, D]
                                          float* lse,      // [B * H, queries] or null
                                          int queries,
                                          int keys,
                                          unsigned row_tiles,
                                          bool causal,
                                          float scale) {
    constexpr unsigned kAll = 0xFFFFFFFFu;
    constexpr int kStride = D + 4;  // the float4 of eight lanes are in different banks
    extern __shared__ float4 s_tiles[];
    const int tid = threadIdx.x;
    const int lane = tid % wb::kWarpSize;
    const int warp = tid / wb::kWarpSize;
    float* const s_k = reinterpret_cast<float*>(s_tiles);  // [kTileKeys, kStride]
    float* const s_v = s_k + kTileKeys * kStride;          // [kTileKeys, D]
    float* const s_q = s_v + kTileKeys * D + warp * D;     // [D] of this warp
    const int64_t head = blockIdx.x / row_tiles;
    const int first_row = static_cast<int>(blockIdx.x % row_tiles) * kWarps;
    const int row = first_row + warp;
    const bool has_row = row < queries;
    const int visible = has_row ? wb::visible_keys(queries, keys, causal, row) : 0;
    const int block_keys =
        wb::visible_keys(queries, keys, causal, min(first_row + kWarps, queries) - 1);
    k += head * keys * D;
    v += head * keys * D;
    const int64_t g_row = head * queries + row;
    for (int d = lane; d < D; d += wb::kWarpSize)
        s_q[d] = has_row ? scale * q[g_row * D + d] : 0.0f;

    float r_o[D / wb::kWarpSize] = {};  // columns lane, lane + 32, ...
    float maximum = -INFINITY;          // the same in all lanes
    float sum = 0.0f;                   // of this lane's weights
    for (int first = 0; first < block_keys; first += kTileKeys) {
        __syncthreads();
        for (int e = tid; e < kTileKeys * D; e += kWarps * wb::kWarpSize) {
            const int j = e / D;
            const bool exists = first + j < keys;
            s_k[j * kStride + e % D] = exists ? k[int64_t{first} * D + e] : 0.0f;
            s_v[e] = exists ? v[int64_t{first} * D + e] : 0.0f;  // 0 * NaN is NaN
        }
        __syncthreads();
        float score = 0.0f;
        for (int d = 0; d < D; d += 4) {
            const float4 x = *reinterpret_cast<const float4*>(s_q + d);
            const float4 y = *reinterpret_cast<const float4*>(s_k + lane * kStride + d);
            score += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
        if (first + lane >= visible) score = -INFINITY;
        float new_maximum = fmaxf(maximum, score);
        for (int other = 1; other < wb::kWarpSize; other *= 2) {
            new_maximum = fmaxf(new_maximum, __shfl_xor_sync(kAll, new_maximum, other));
        }
        // -infinity minus -infinity is no number: a row that has not seen a key yet
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
    if (!has_row) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int c = 0; c < D / wb::kWarpSize; ++c)
        o[g_row * D + c * wb::kWarpSize + lane] = r_o[c] * inverse;
    if (lane == 0 && lse != nullptr) lse[g_row] = maximum + logf(sum);
}
// #endregion v2-kernel

// #region v2-launch
static void flash_attention_v2(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        const auto kernel = flash_attention_v2_kernel<head_dim()>;
        const size_t bytes = kFloatsV2<head_dim()> * sizeof(float);
        if (!allow_shared(kernel, bytes)) {  // D = 256 before sm_80
            return flash_attention_v1(shape, q, k, v, o, lse, stream);
        }
        kernel<<<blocks, kWarps * wb::kWarpSize, bytes, stream>>>(
            q,
            k,
            v,
            o,
            lse,
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            row_tiles,
            shape.causal,
            shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v2-launch
WB_RUNG(flash_attention, flash_attention_v2, "one warp a row");

// #region v4-launch
static void flash_attention_v3(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using T = typename Tiles<head_dim()>::Large;
        if (!launch_tiles<T>(
                flash_attention_v3_kernel<T>, shape, q, k, v, o, lse, stream)) {
            flash_attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
WB_RUNG(flash_attention, flash_attention_v3, "register tiles and float4");

static void flash_attention_v4(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using T = typename Tiles<head_dim()>::Large;
        if (launch_tiles<T>(
                flash_attention_v4_kernel<T>, shape, q, k, v, o, lse, stream)) {
            return;
        }
        using S = typename Tiles<head_dim() == 256 ? 128 : head_dim()>::Small;
        if (head_dim() == 256 ||
            !launch_tiles<S>(
                flash_attention_v4_kernel<S>, shape, q, k, v, o, lse, stream)) {
            flash_attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v4-launch
WB_RUNG(flash_attention, flash_attention_v4, "cp.async: copies under the products");

// #region v5-launch
/// v4's kernel, whose lanes stand in another order.
static void flash_attention_v5(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using T = typename Tiles<head_dim()>::Pairs;
        if (!launch_tiles<T>(
                flash_attention_v4_kernel<T>, shape, q, k, v, o, lse, stream)) {
            flash_attention_v4(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v5-launch
WB_RUNG(flash_attention, flash_attention_v5, "lanes in pairs: half the passes");
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
    flash_attention_v5(shape, q, k, v, o, lse, stream);
    // #end
    // #starter flash_attention_v1(shape, q, k, v, o, lse, stream);
}
// #endregion contract
