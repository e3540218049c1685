// mixed_precision_attention.cu: numbers of 16 bits in memory, of 32 in the registers.
// #solution
//
// The ladder:
//   v1  one number at a time   a warp a row, a lane a key; loads of 2 bytes
//   v2  pairs                  __half2 and __nv_bfloat162: loads of 4 bytes
//   v3  register tiles         loads of 16 bytes; converted once, on the way into
//                              shared memory; then chapter 02's tiles
//   v4  cp.async               the next tile arrives, in 16 bits, under the products
// #end
#include "mixed_precision_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <cmath>
#include <cstdint>
// #solution
#include <string>
// #end

// #solution
#include "half_tiles.h"
// #end
#include "pairs.h"
// #solution
#include "single_kernel.h"
// #end

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

template <class T>
static void attention_v1(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        attention_v1_kernel<T, head_dim()>
            <<<blocks, kWarps * wb::kWarpSize, 0, stream>>>(
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
    with_head_dim(shape.head_dim, [&](auto head_dim) {
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
/// Launches a kernel of v3 or v4. Returns false where the GPU does not have as much
/// shared memory for a block.
template <class Tiling, class T, class Kernel>
static bool launch_tiles(Kernel kernel,
                         size_t bytes,
                         const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    constexpr double kLog2e = 1.44269504088896340736;
    int device = 0;
    int most = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<size_t>(most)) return false;
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    const unsigned row_tiles = wb::grid_size(shape.queries, Tiling::BM);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    kernel<<<blocks, Tiling::kThreads, bytes, stream>>>(
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

// #region v4-launch
template <class T>
static void attention_v3(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto launch = [&](auto kernel, auto tiling) {
        using Tiling = decltype(tiling);
        return launch_tiles<Tiling>(
            kernel, Tiling::kBytes, shape, q, k, v, o, lse, stream);
    };
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using Large = typename Tiles<head_dim()>::Pairs;
        using Small = typename Tiles<head_dim()>::Small;
        if (!launch(attention_v3_kernel<T, Large>, Large()) &&
            !launch(attention_v3_kernel<T, Small>, Small())) {
            attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}

template <class T>
static void attention_v4(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto launch = [&](auto kernel, auto tiling) {
        using Tiling = decltype(tiling);
        return launch_tiles<Tiling>(
            kernel, kBytesV4<Tiling>, shape, q, k, v, o, lse, stream);
    };
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using Large = typename Tiles<head_dim()>::Pairs;
        using Small = typename Tiles<head_dim()>::Small;
        if (!launch(attention_v4_kernel<T, Large>, Large()) &&
            !launch(attention_v4_kernel<T, Small>, Small())) {
            attention_v2(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v4-launch

/// Lists a rung of both functions of the contract; WB_RUNG knows functions of one type.
template <class T>
using Launcher = void(
    const wb::AttentionShape&, const T*, const T*, const T*, T*, float*, cudaStream_t);
static bool list_rung(const std::string& version,
                      const std::string& idea,
                      Launcher<__half>* fp16,
                      Launcher<__nv_bfloat16>* bf16) {
    using Erased = void (*)();
    const auto list = [&](const std::string& exercise, Erased launcher) {
        const std::string name = "mixed_precision_attention_" + version;
        return wb::register_rung(
            exercise.c_str(), name.c_str(), idea.c_str(), launcher);
    };
    return list("mixed_precision_attention_fp16", reinterpret_cast<Erased>(fp16)) &&
           list("mixed_precision_attention_bf16", reinterpret_cast<Erased>(bf16));
}
[[maybe_unused]] static const bool rungs_listed =
    list_rung("v1",
              "one number at a time",
              attention_v1<__half>,
              attention_v1<__nv_bfloat16>) &&
    list_rung("v2",
              "pairs: half2 and bfloat162",
              attention_v2<__half>,
              attention_v2<__nv_bfloat16>) &&
    list_rung("v3",
              "16 bytes a load, register tiles",
              attention_v3<__half>,
              attention_v3<__nv_bfloat16>) &&
    list_rung("v4",
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
