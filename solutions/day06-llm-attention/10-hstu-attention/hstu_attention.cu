// hstu_attention.cu: SiLU attention over sequences of many lengths, and its gradients.
// #solution
//
// v1 is in this file, v2 in tiles.cuh, which is given, v3 in hstu_attention_fast.cu,
// the second stage; v4, for Hopper, in 04_wgmma.cuh and, backward, 04_backward.cuh.
//
// <Ladder of="hstu_attention_bf16" at="B8 H4 N1024 D128, causal">
//       TFLOP/s  idea                         what limits it
//   v1    0.797  one warp a row               each row reads all of its keys
//   v2     5.90  tiles in shared memory       multiplications one by one
//   v3     62.9  mma.sync and cp.async        two thirds of the rate of wgmma
//   v4      246  wgmma, TMA, three consumers  products; with D = 64, special functions
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-29
//
// <Ladder of="hstu_backward_bf16" at="B8 H4 N1024 D128, causal">
//       TFLOP/s  idea                     what limits it
//   v1    0.540  one warp a row or a key  each reads all of the others
//   v2     5.41  tiles in shared memory   multiplications one by one
//   v3     59.1  mma.sync and cp.async    each row of a tile from shared memory 4 times
//   v4      259  wgmma and TMA            seven products where five are needed
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-29
// #end
#include "hstu_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "checks.h"
#include "pieces.cuh"
#include "tiles.cuh"

/// Rows of a block, a warp each.
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * wb::kWarpSize;

/// Numbers of a row that a lane has at most: lane, lane + 32, ... of 256.
constexpr int kColumns = 256 / wb::kWarpSize;

/// The scalar product of two rows of dim numbers.
template <class T>
__device__ __forceinline__ float dot(const T* a, const T* b, int dim) {
    float sum = 0.0f;
    for (int d = 0; d < dim; ++d)
        sum += wb::to_float(a[d]) * wb::to_float(b[d]);
    return sum;
}

/// Adds factor times a row of dim numbers to those that a lane has.
template <class T>
__device__ __forceinline__ void add_row(
    float (&sums)[kColumns], float factor, const T* row, int dim, int lane) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int column = lane + c * wb::kWarpSize;
        if (column < dim) sums[c] += factor * wb::to_float(row[column]);
    }
}

/// Writes the numbers of a row that a lane has, times a factor.
template <class T>
__device__ __forceinline__ void store_row(
    T* row, const float (&numbers)[kColumns], float factor, int dim, int lane) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        const int column = lane + c * wb::kWarpSize;
        if (column < dim) row[column] = wb::to_element<T>(numbers[c] * factor);
    }
}

// #region v1-forward
/// hstu_attention_v1: a warp a row. Its lanes have a key each, and then columns.
///
/// Launch   grid tile_grid<kWarps>(), block kThreads
template <class T>
__global__ void __launch_bounds__(kThreads)
    hstu_attention_v1_kernel(const HstuCall<T> call) {
    __shared__ float s_weights[kWarps][wb::kWarpSize];
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int head = static_cast<int>(blockIdx.y);
    const int dim = static_cast<int>(call.head_dim);
    const RowTile tile = find_tile<kWarps>(call.cu_seqlens.device,
                                           static_cast<int>(call.batch),
                                           static_cast<int>(blockIdx.x));
    const int row = tile.first + warp;
    if (row >= tile.length) return;
    const RowMask mask = row_mask(call.mask, tile, row);
    const HeadBias bias(call.bias, tile, head);
    const T* const q = head_of(call, call.q, tile, row, head);
    float r_o[kColumns] = {};
    for (int first = 0; first < tile.length; first += wb::kWarpSize) {
        if (!mask.sees_some(first, first + wb::kWarpSize)) continue;
        // TODO(learner): this lane's key is `first + lane`. If the row sees it, its
        // weight is the silu of its score; else 0, and nothing of the key is read: it
        // may not be there. Put it into s_weights[warp][lane] (about 8 lines)
        // #solution
        const int key = first + lane;
        float weight = 0.0f;
        if (mask.sees(key)) {
            const T* const k = head_of(call, call.k, tile, key, head);
            weight = silu(call.alpha * dot(q, k, dim) + bias(row, key));
        }
        s_weights[warp][lane] = weight;
        // #end
        __syncwarp();
        // TODO(learner): add weight times v of each of the 32 keys that has a weight to
        // r_o, with add_row() (about 6 lines)
        // #solution
        for (int j = 0; j < wb::kWarpSize; ++j) {
            const float of_key = s_weights[warp][j];
            if (of_key == 0.0f) continue;
            const T* const v = head_of(call, call.v, tile, first + j, head);
            add_row(r_o, of_key, v, dim, lane);
        }
        // #end
        __syncwarp();
    }
    store_row(head_of(call, call.o, tile, row, head),
              r_o,
              1.0f / static_cast<float>(call.scaling_length),
              dim,
              lane);
    // #starter (void)bias, (void)q, (void)s_weights;
}

template <class T>
static void hstu_attention_v1(const HstuCall<T>& call, cudaStream_t stream) {
    const dim3 grid = tile_grid<kWarps>(call);
    hstu_attention_v1_kernel<<<grid, kThreads, 0, stream>>>(call);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-forward

// #region v1-backward
/// What a pair of a row and a key gives to the gradients.
struct PairGradient {
    float weight = 0.0f;  ///< silu(s), times d_o for dv
    float ds = 0.0f;      ///< of the score, times k for dq, times q for dk
};

/// Both without the factor 1 / N, and 0 if the row does not see the key.
template <class T>
__device__ PairGradient pair_gradient(const HstuCall<T>& call,
                                      const T* d_o,
                                      const RowTile& tile,
                                      int row,
                                      int key,
                                      int head) {
    PairGradient pair;
    const bool seen = row_mask(call.mask, tile, row).sees(key);
    // TODO(learner): if it is seen: the score as in the forward pass; silu() of it is
    // the weight. The gradient of the weight is the scalar product of this row of d_o
    // and this key's v; times silu_slope() of the score it is ds (about 10 lines)
    // #solution
    if (seen) {
        const T* const q = head_of(call, call.q, tile, row, head);
        const T* const k = head_of(call, call.k, tile, key, head);
        const T* const v = head_of(call, call.v, tile, key, head);
        const HeadBias bias(call.bias, tile, head);
        const int dim = static_cast<int>(call.head_dim);
        const float s = call.alpha * dot(q, k, dim) + bias(row, key);
        pair.weight = silu(s);
        pair.ds = dot(head_of(call, d_o, tile, row, head), v, dim) * silu_slope(s);
    }
    // #end
    // #starter (void)seen, (void)d_o, (void)head;
    return pair;
}

/// hstu_backward_v1: a warp a row, for dq and the bias; or, kOfKeys, a warp a key, for
/// dk and dv. Its lanes have one of the others each, keys or rows, and then columns.
///
/// Launch   grid tile_grid<kWarps>(), block kThreads
template <bool kOfKeys, class T>
__global__ void __launch_bounds__(kThreads)
    hstu_backward_v1_kernel(const HstuCall<T> call, const HstuGradients<T> out) {
    __shared__ PairGradient s_pairs[kWarps][wb::kWarpSize];
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int head = static_cast<int>(blockIdx.y);
    const int dim = static_cast<int>(call.head_dim);
    const RowTile tile = find_tile<kWarps>(call.cu_seqlens.device,
                                           static_cast<int>(call.batch),
                                           static_cast<int>(blockIdx.x));
    const int own = tile.first + warp;  // a row; kOfKeys: a key
    if (own >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
    float r_ds[kColumns] = {};       // sums of ds * k; kOfKeys: of ds * q
    float r_weights[kColumns] = {};  // kOfKeys: sums of weight * d_o
    for (int first = 0; first < tile.length; first += wb::kWarpSize) {
        const int other = first + lane;  // a key; kOfKeys: a row
        const int row = kOfKeys ? other : own;
        const int key = kOfKeys ? own : other;
        const PairGradient pair = pair_gradient(call, out.d_o, tile, row, key, head);
        if (!kOfKeys && pair.ds != 0.0f)
            bias.add(pair.ds * inverse, row, key, out.d_positions, out.d_times);
        s_pairs[warp][lane] = pair;
        __syncwarp();
        // TODO(learner): as in the forward pass, for each of the 32 others that has a
        // weight or a ds: add ds times its k to r_ds; kOfKeys: ds times its q, and its
        // weight times its d_o to r_weights (about 12 lines)
        // #solution
        for (int j = 0; j < wb::kWarpSize; ++j) {
            const PairGradient of = s_pairs[warp][j];
            if (of.ds == 0.0f && of.weight == 0.0f) continue;
            const T* const factors = kOfKeys ? call.q : call.k;
            const T* const a = head_of(call, factors, tile, first + j, head);
            const T* const b = head_of(call, out.d_o, tile, first + j, head);
            add_row(r_ds, of.ds, a, dim, lane);
            if (kOfKeys) add_row(r_weights, of.weight, b, dim, lane);
        }
        // #end
        __syncwarp();
    }
    T* const of_scores = head_of(call, kOfKeys ? out.dk : out.dq, tile, own, head);
    store_row(of_scores, r_ds, call.alpha * inverse, dim, lane);
    if (kOfKeys)
        store_row(
            head_of(call, out.dv, tile, own, head), r_weights, inverse, dim, lane);
}

template <class T>
static void hstu_backward_v1(const HstuCall<T>& call,
                             const HstuGradients<T>& gradients,
                             cudaStream_t stream) {
    clear_bias_gradients(call, gradients, stream);
    const dim3 grid = tile_grid<kWarps>(call);
    hstu_backward_v1_kernel<false><<<grid, kThreads, 0, stream>>>(call, gradients);
    hstu_backward_v1_kernel<true><<<grid, kThreads, 0, stream>>>(call, gradients);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-backward

// #solution
#define WB_VERSION_ONLY
#include "hstu_attention_fast.cu"
// v4 calls v3 where it has no kernel.
#include "04_wgmma.cuh"
// The skeleton of 04_wgmma.cuh, and the sums of v3.
#include "04_backward.cuh"

/// A version for all types, and for those of 16 bits.
#define WB_HSTU_RUNG(function, type, version, idea, T)                       \
    constexpr auto& function##_##type##_##version = function##_##version<T>; \
    WB_RUNG(function##_##type, function##_##type##_##version, idea)
#define WB_HSTU_NARROW_RUNGS(function, version, idea)    \
    WB_HSTU_RUNG(function, fp16, version, idea, __half); \
    WB_HSTU_RUNG(function, bf16, version, idea, __nv_bfloat16)

WB_HSTU_RUNG(hstu_attention, fp32, v1, "one warp a row", float);
WB_HSTU_RUNG(hstu_attention, fp32, v2, "tiles in shared memory", float);
WB_HSTU_NARROW_RUNGS(hstu_attention, v1, "one warp a row");
WB_HSTU_NARROW_RUNGS(hstu_attention, v2, "tiles in shared memory");
WB_HSTU_NARROW_RUNGS(hstu_attention, v3, "mma.sync and cp.async");
WB_HSTU_NARROW_RUNGS(hstu_attention, v4, "wgmma, TMA, three consumers");
WB_HSTU_RUNG(hstu_backward, fp32, v1, "one warp a row or a key", float);
WB_HSTU_RUNG(hstu_backward, fp32, v2, "tiles in shared memory", float);
WB_HSTU_NARROW_RUNGS(hstu_backward, v1, "one warp a row or a key");
WB_HSTU_NARROW_RUNGS(hstu_backward, v2, "tiles in shared memory");
WB_HSTU_NARROW_RUNGS(hstu_backward, v3, "mma.sync and cp.async");
WB_HSTU_NARROW_RUNGS(hstu_backward, v4, "wgmma and TMA");
// #end

// #region contract
template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when v1-forward is written
    if (!forward_has_work(function, call)) return;
    // #solution
    if constexpr (sizeof(T) == 2)
        hstu_attention_v4(call, stream);
    else
        hstu_attention_v2(call, stream);
    // #end
    // #starter hstu_attention_v1(call, stream);
}

template <class T>
static void backward(const char* function,
                     const HstuCall<T>& call,
                     const HstuGradients<T>& gradients,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when v1-backward is
    check_backward(function, call, gradients);
    if (call.total == 0) return clear_bias_gradients(call, gradients, stream);
    // #solution
    if constexpr (sizeof(T) == 2)
        hstu_backward_v4(call, gradients, stream);
    else
        hstu_backward_v2(call, gradients, stream);
    // #end
    // #starter hstu_backward_v1(call, gradients, stream);
}

void hstu_attention_fp32(const HstuCall<float>& call, cudaStream_t stream) {
    attention("hstu_attention_fp32", call, stream);
}
void hstu_attention_fp16(const HstuCall<__half>& call, cudaStream_t stream) {
    attention("hstu_attention_fp16", call, stream);
}
void hstu_attention_bf16(const HstuCall<__nv_bfloat16>& call, cudaStream_t stream) {
    attention("hstu_attention_bf16", call, stream);
}
void hstu_backward_fp32(const HstuCall<float>& call,
                        const HstuGradients<float>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_fp32", call, gradients, stream);
}
void hstu_backward_fp16(const HstuCall<__half>& call,
                        const HstuGradients<__half>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_fp16", call, gradients, stream);
}
void hstu_backward_bf16(const HstuCall<__nv_bfloat16>& call,
                        const HstuGradients<__nv_bfloat16>& gradients,
                        cudaStream_t stream) {
    backward("hstu_backward_bf16", call, gradients, stream);
}
// #endregion contract
