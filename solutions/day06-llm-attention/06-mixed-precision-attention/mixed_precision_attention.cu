// mixed_precision_attention.cu: numbers of 16 bits in memory, of 32 in the registers.
// #solution
//
// v2 is here, v3 is the second stage, mixed_precision_attention_fast.cu; the other
// versions have files.
//
// <Ladder of="mixed_precision_attention" at="B4 H16 N1024 D64">
//       TFLOP/s  idea                           what limits it
//   v1    0.966  one number at a time           loads of 2 bytes, one a lane
//   v2     1.86  pairs of numbers               loads of 4 bytes; no reuse
//   v3     41.2  register tiles, 16-byte loads  multiply-adds, as in chapter 02
//   v4     35.4  cp.async under the products    a detour through a stage
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "mixed_precision_attention.h"

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

// #solution
#include "01_one_number.cuh"
// #end
#include "pairs.h"

// #region v2-kernel
/// q . key, both of D numbers, in float.
template <class T, int D>
__device__ float dot_v2(const float* s_q,      // [D] shared memory
                        const Pair<T>* key) {  // [D / 2] global memory
    // TODO(learner): load the key pair by pair, make floats of both numbers, and add
    // up the products in a float (about 6 lines)
    // #solution
    float sum = 0.0f;
    for (int p = 0; p < D / 2; ++p) {
        const float2 x = to_floats(key[p]);
        sum += s_q[2 * p] * x.x + s_q[2 * p + 1] * x.y;
    }
    return sum;
    // #end
    // #starter return 0.0f;
}

/// mixed_precision_attention_v2: one warp, one row of q; for the scores a lane takes a
/// key, for the output the pairs of columns lane, lane + 32, ...
///
/// Launch   grid B * H * row_tiles, block kWarps * 32
template <class T, int D>
__global__ void attention_v2_kernel(const Pair<T>* q,  // [B * H, queries, D / 2]
                                    const Pair<T>* k,  // [B * H, keys, D / 2]
                                    const Pair<T>* v,  // [B * H, keys, D / 2]
                                    Pair<T>* o,        // [B * H, queries, D / 2]
                                    float* lse,        // [B * H, queries] or null
                                    int queries,
                                    int keys,
                                    unsigned row_tiles,  // blocks of a head
                                    bool causal,
                                    float scale) {
    constexpr int kPairs = D / 2;  // of a row
    __shared__ float s_q[kWarps][D];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles) * kWarps + warp;
    if (row >= queries) return;                  // a whole warp, and no barrier below
    const int64_t g_row = head * queries + row;  // in q, o and lse
    q += g_row * kPairs;
    k += head * keys * kPairs;
    v += head * keys * kPairs;
    o += g_row * kPairs;
    for (int p = lane; p < kPairs; p += wb::kWarpSize) {
        const float2 x = to_floats(q[p]);
        s_q[warp][2 * p] = scale * x.x;
        s_q[warp][2 * p + 1] = scale * x.y;
    }
    __syncwarp();  // all of the warp's row is there

    // TODO(learner): choose the types of the running maximum, of the running sum and of
    // this lane's share of the output, and go over the keys that the row sees
    // (wb::visible_keys), 32 at a time. Lane j computes the score of key first + j with
    // dot_v2; a key that is not visible has the score -infinity. Then the online
    // softmax, as in chapter 02; the weight of lane j reaches the others by
    // __shfl_sync, and each lane adds it, times its pairs of value j, to its share
    // (about 28 lines)
    // #solution
    const int visible = wb::visible_keys(queries, keys, causal, row);
    constexpr int kMine = (kPairs + wb::kWarpSize - 1) / wb::kWarpSize;
    float2 r_o[kMine] = {};     // sum of weight * value, not divided yet
    float maximum = -INFINITY;  // the same in all lanes
    float sum = 0.0f;           // of this lane's weights
    for (int first = 0; first < visible; first += wb::kWarpSize) {
        const int count = min(wb::kWarpSize, visible - first);
        float score = -INFINITY;
        if (lane < count)
            score = dot_v2<T, D>(s_q[warp], k + int64_t{first + lane} * kPairs);
        // Each step has a visible key, so that the new maximum is finite.
        const float new_maximum = fmaxf(maximum, warp_max(score));
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (float2& mine : r_o) {
            mine.x *= factor;
            mine.y *= factor;
        }
        for (int j = 0; j < count; ++j) {
            const float other_weight = __shfl_sync(kAll, weight, j);
            const Pair<T>* const value = v + int64_t{first + j} * kPairs;
            for (int i = 0; i < kMine; ++i) {
                const int p = i * wb::kWarpSize + lane;
                if (p >= kPairs) continue;  // D = 32 has pairs for half of the lanes
                const float2 x = to_floats(value[p]);
                r_o[i].x += other_weight * x.x;
                r_o[i].y += other_weight * x.y;
            }
        }
    }
    // #end
    // TODO(learner): add up the lanes' sums. Divide this lane's share by the sum, or
    // write zeros if no key is visible; only now round to pairs of T, and store them.
    // One lane writes lse, where it is wanted (about 9 lines)
    // #solution
    sum = warp_sum(sum);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int i = 0; i < kMine; ++i) {
        const int p = i * wb::kWarpSize + lane;
        if (p >= kPairs) continue;
        o[p] = to_pair<T>({r_o[i].x * inverse, r_o[i].y * inverse});
    }
    if (lane == 0 && lse != nullptr) lse[g_row] = maximum + logf(sum);
    // #end
}
// #endregion v2-kernel

// #solution
static_assert(sizeof(Pair<__half>) == 4 && sizeof(Pair<__nv_bfloat16>) == 4,
              "a pair is loaded with one instruction");

// #end
// #region v2-launch
template <class T>
static void attention_v2(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        attention_v2_kernel<T, head_dim()>
            <<<blocks, kWarps * wb::kWarpSize, 0, stream>>>(
                reinterpret_cast<const Pair<T>*>(q),
                reinterpret_cast<const Pair<T>*>(k),
                reinterpret_cast<const Pair<T>*>(v),
                reinterpret_cast<Pair<T>*>(o),
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

// #solution
#define WB_VERSION_ONLY
#include "mixed_precision_attention_fast.cu"

#include "04_cp_async.cuh"

[[maybe_unused]] static const bool rungs_listed =
    wb::list_rung("mixed_precision_attention",
                  "v1",
                  "one number at a time",
                  attention_v1<__half>,
                  attention_v1<__nv_bfloat16>) &&
    wb::list_rung("mixed_precision_attention",
                  "v2",
                  "pairs: half2 and bfloat162",
                  attention_v2<__half>,
                  attention_v2<__nv_bfloat16>) &&
    wb::list_rung("mixed_precision_attention",
                  "v3",
                  "register tiles, 16-byte loads",
                  attention_v3<__half>,
                  attention_v3<__nv_bfloat16>) &&
    wb::list_rung("mixed_precision_attention",
                  "v4",
                  "cp.async: 16-bit tiles under the products",
                  attention_v4<__half>,
                  attention_v4<__nv_bfloat16>);
// #end

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
    // #starter WB_NOT_SOLVED();  // delete this line when all three TODOs are written
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
    // #solution
    // On an H100, v3 is the fastest; but with few queries, its tiles of 128 rows would
    // be nearly empty.
    if (shape.queries <= kWarps) return attention_v2(shape, q, k, v, o, lse, stream);
    attention_v3(shape, q, k, v, o, lse, stream);
    // #end
    // #starter attention_v2(shape, q, k, v, o, lse, stream);
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
