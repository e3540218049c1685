// mixed_precision_attention.cu: numbers of 16 bits in memory, of 32 in the registers.
#include "mixed_precision_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

#include "pairs.h"

// #region v2-kernel
/// q . key, both of D numbers, in float.
template <class T, int D>
__device__ float dot_v2(const float* s_q,      // [D] shared memory
                        const Pair<T>* key) {  // [D / 2] global memory
    // TODO(learner): load the key pair by pair, make floats of both numbers, and add
    // up the products in a float (about 6 lines)
    return 0.0f;
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
    // TODO(learner): add up the lanes' sums. Divide this lane's share by the sum, or
    // write zeros if no key is visible; only now round to pairs of T, and store them.
    // One lane writes lse, where it is wanted (about 9 lines)
}
// #endregion v2-kernel

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
    attention_v2(shape, q, k, v, o, lse, stream);
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
