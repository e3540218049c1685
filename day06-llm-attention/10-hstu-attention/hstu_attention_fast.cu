// hstu_attention_fast.cu: v3: all products with mma.sync, forward and backward. The
// next tile is on its way while one is used; tiles of which no pair is seen are left
// out, and those of which all are have no mask.
#include "hstu_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

#include <algorithm>

#include "checks.h"
#include "mma_tiles.cuh"
#include "pieces.cuh"
#include "tiles.cuh"

// #region v3-scores
/// Scores of 16 rows of q and kKeys keys: r_s = q k^T.
template <class T, int D, int kKeys>
__device__ __forceinline__ void score_keys(float (&r_s)[kKeys / 8][4],
                                           const char* s_q,
                                           int row,          // of the warp, in s_q
                                           const char* s_k,  // [kKeys] rows
                                           int lane) {
#pragma unroll
    for (auto& of_eight : r_s)
        for (float& score : of_eight)
            score = 0.0f;
#pragma unroll
    for (int step = 0; step < D / 16; ++step) {
        uint32_t a[4];
        wb::ptx::ldmatrix(a, quarters<D>(s_q, row, step, lane));
#pragma unroll
        for (int n = 0; n < kKeys / 16; ++n) {
            // TODO(learner): load the quarters of 16 keys, and multiply: keys 0 to 7 of
            // them make r_s[2 * n], keys 8 to 15 r_s[2 * n + 1]. A column of b is a
            // key, which is a row in memory: nothing is transposed (4 lines)
        }
    }
}
// #endregion v3-scores

// #region v3-weights
/// Scores become weights: silu(alpha * score + bias), and 0 where a row does not see a
/// key.
///
/// @param s_masks  of the warp's 16 rows: a lane has rows l / 4 and l / 4 + 8
/// @param row      the first of the two, in the sequence
/// @param key      the first of the tile
template <bool kHasBias, int kCount>
__device__ __forceinline__ void weigh(float (&r_s)[kCount][4],
                                      float alpha,
                                      const RowMask* s_masks,
                                      const HeadBias& bias,
                                      int row,
                                      int key,
                                      int lane) {
    const RowMask& upper = s_masks[lane / 4];
    const RowMask& lower = s_masks[lane / 4 + 8];
    // A tile that all rows of the warp see as a whole needs no look at the mask.
    const int end = key + 8 * kCount;
    const bool all = upper.sees_all(key, end) && lower.sees_all(key, end);
    const bool is_full = __all_sync(wb::kAllLanes, all);
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            // TODO(learner): which key is element e of these four, and which of the
            // lane's two rows? If it is seen, r_s[n][e] becomes fast_silu() of the
            // score, with the bias if kHasBias; else 0 (about 9 lines)
        }
    }
    (void)alpha, (void)bias, (void)row, (void)is_full;
}
// #endregion v3-weights

// #region v3-values
/// Adds what kKeys keys give to 16 rows of the output: r_o += weights v.
template <class T, int D, int kKeys>
__device__ __forceinline__ void add_values(float (&r_o)[D / 8][4],
                                           const float (&r_weights)[kKeys / 8][4],
                                           const char* s_v,  // [kKeys] rows
                                           int lane) {
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
        // Two accumulators side by side are a first factor, two numbers a register.
        const auto& left = r_weights[2 * n];
        const auto& right = r_weights[2 * n + 1];
        const uint32_t a[4] = {wb::ptx::pack<T>(left[0], left[1]),
                               wb::ptx::pack<T>(left[2], left[3]),
                               wb::ptx::pack<T>(right[0], right[1]),
                               wb::ptx::pack<T>(right[2], right[3])};
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            // TODO(learner): the same for 16 columns of v, r_o[2 * step] and its right
            // neighbour. Here a column of b is a column in memory: ldmatrix<true>
            // transposes each quarter (4 lines)
        }
        (void)a, (void)s_v, (void)lane;
    }
}
// #endregion v3-values

// #region v3-kernel
/// Shared memory of a block: its rows of q, and two stages of keys and values.
template <int D>
constexpr size_t kBytesV3 = (BM + 4 * BN<D>)*SwizzledRows<D>::kBytes;

/// hstu_attention_v3: 64 rows a block, 16 a warp, over tiles of keys in two stages.
///
/// Launch   grid tile_grid<BM>(), block kMmaThreads, kBytesV3<D>
template <class T, int D, bool kHasBias>
__global__ void __launch_bounds__(kMmaThreads, D > 64 ? 2 : 3)
    hstu_attention_v3_kernel(const HstuCall<T> call) {
    constexpr int kKeys = BN<D>;
    constexpr int kTileBytes = kKeys * SwizzledRows<D>::kBytes;
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_stages = s_q + BM * SwizzledRows<D>::kBytes;  // k, v, k, v
    __shared__ RowMask s_masks[BM];
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % wb::kWarpSize;
    const int first = tid / wb::kWarpSize * kMmaRows;  // row of the warp
    const int head = static_cast<int>(blockIdx.y);
    const RowTile tile = find_tile<BM>(call.cu_seqlens.device,
                                       static_cast<int>(call.batch),
                                       static_cast<int>(blockIdx.x));
    if (tile.first >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    const int row = tile.first + first + lane / 4;
    // The first tile from `key` on of which some row of the block sees something. All
    // threads come by here, so that nobody uses an older tile any more.
    const auto next_tile = [&](int key) {
        for (; key < tile.length; key += kKeys) {
            const bool wanted = tid < BM && s_masks[tid].sees_some(key, key + kKeys);
            if (__syncthreads_or(wanted)) break;
        }
        return key;
    };
    const auto start_tile = [&](int key, int stage) {
        char* const s_k = s_stages + stage * 2 * kTileBytes;
        if (key < tile.length) {
            start_rows<kKeys, D>(s_k, call, call.k, tile, key, head);
            start_rows<kKeys, D>(s_k + kTileBytes, call, call.v, tile, key, head);
        }
        wb::ptx::cp_async_commit();  // even if it is empty: they are counted
    };
    if (tid < BM) s_masks[tid] = row_mask(call.mask, tile, tile.first + tid);
    start_rows<BM, D>(s_q, call, call.q, tile, tile.first, head);
    int key = next_tile(0);
    int stage = 0;
    start_tile(key, stage);
    float r_o[D / 8][4] = {};
    while (key < tile.length) {
        const int next = next_tile(key + kKeys);
        start_tile(next, 1 - stage);
        wb::ptx::cp_async_wait<1>();  // this tile is there: this thread's part,
        __syncthreads();              // and everybody's
        const char* const s_k = s_stages + stage * 2 * kTileBytes;
        float r_s[kKeys / 8][4];
        score_keys<T, D, kKeys>(r_s, s_q, first, s_k, lane);
        weigh<kHasBias>(r_s, call.alpha, s_masks + first, bias, row, key, lane);
        add_values<T, D, kKeys>(r_o, r_s, s_k + kTileBytes, lane);
        key = next;
        stage = 1 - stage;
    }
    wb::ptx::cp_async_wait<0>();  // without keys, q is still on its way
    store_sums<T, D>(call,
                     call.o,
                     tile,
                     row,
                     head,
                     r_o,
                     1.0f / static_cast<float>(call.scaling_length),
                     lane);
}

template <class T>
requires(sizeof(T) == 2) static void hstu_attention_v3(const HstuCall<T>& call,
                                                       cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(call.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        const auto launch = [&](auto kernel) {
            CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(kBytesV3<D>)));
            kernel<<<tile_grid<BM>(call), kMmaThreads, kBytesV3<D>, stream>>>(call);
            CUDA_CHECK_LAUNCH();
        };
        if (call.bias.positions != nullptr || call.bias.times != nullptr)
            launch(hstu_attention_v3_kernel<T, D, true>);
        else
            launch(hstu_attention_v3_kernel<T, D, false>);
    });
}
// #endregion v3-kernel

// #region v3-pairs
/// The gradients that a launch makes: of rows of q; of keys and values; or, where the
/// sums of both need too many registers, of one of them.
enum class Gradient { dq, dk_dv, dk, dv };

/// Rows of q, or keys, that a block of the backward pass has at a time: `others`. Fewer
/// where its own rows are long, so that its shared memory is below 99 KB, and so that
/// sums and products of pairs have room in registers, beside a bias, too.
template <int D, bool kHasBias>
constexpr int kOthers = D > 128  ? 16
                        : D > 64 ? (kHasBias ? 16 : 32)
                                 : 64;

/// Which pairs a warp's 16 own rows, or keys, make with the others of a tile.
///
/// @tparam kOfKeys  own are keys, others are rows
template <bool kOfKeys>
struct Pairs {
    const RowMask* s_masks;  ///< of the warp's own rows; kOfKeys: of the others
    int first_own;           ///< the first of the warp, in the sequence
    int first_other;         ///< the first of the tile

    __device__ __forceinline__ int row(int own, int other) const {
        return kOfKeys ? first_other + other : first_own + own;
    }
    __device__ __forceinline__ int key(int own, int other) const {
        return kOfKeys ? first_own + own : first_other + other;
    }
    __device__ __forceinline__ bool sees(int own, int other) const {
        return s_masks[kOfKeys ? other : own].sees(key(own, other));
    }
    /// All rows see all keys: nobody has to look at the mask.
    template <int kCount>
    __device__ __forceinline__ bool is_full(int lane) const {
        bool all = true;
        const int begin = key(0, 0);
        if constexpr (kOfKeys) {
            for (int i = lane; i < 8 * kCount; i += wb::kWarpSize)
                all = all && s_masks[i].sees_all(begin, begin + kMmaRows);
        } else {
            all = s_masks[lane % kMmaRows].sees_all(begin, begin + 8 * kCount);
        }
        return __all_sync(wb::kAllLanes, all);
    }
};

/// Scores become weights, silu(s), and gradients of weights become those of scores:
/// times silu'(s). Both are 0 where a row does not see a key.
///
/// @param r_s  q . k of each pair; then weights
/// @param r_d  d_o . v; then gradients of scores, without the factor 1 / N
template <bool kHasBias, bool kOfKeys, int kCount, class T>
__device__ __forceinline__ void differentiate(float (&r_s)[kCount][4],
                                              float (&r_d)[kCount][4],
                                              const HstuCall<T>& call,
                                              const HstuGradients<T>& out,
                                              const HeadBias& bias,
                                              const Pairs<kOfKeys>& pairs,
                                              int lane) {
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
    const bool is_full = pairs.template is_full<kCount>(lane);
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int own = lane / 4 + e / 2 * 8;
            const int other = 8 * n + 2 * (lane % 4) + e % 2;
            float weight = 0.0f;
            float ds = 0.0f;
            // TODO(learner): if this pair is seen: its score s, with the bias if
            // kHasBias; sigma by fast_sigmoid(); weight = silu(s), and ds, which is r_d
            // times the slope sigma * (1 + s * (1 - sigma)). Without kOfKeys, a bias
            // gets its gradient by bias.add() (about 11 lines)
            r_s[n][e] = weight;
            r_d[n][e] = ds;
            (void)own, (void)other, (void)out, (void)bias, (void)is_full;
        }
    }
    (void)inverse;
}
// #endregion v3-pairs

// #region v3-backward
/// Shared memory of a block: its own rows of two arrays, two stages of others, and the
/// masks of its own rows or of two stages of rows.
template <int D, bool kHasBias>
constexpr int kTilesV3 = (2 * BM + 4 * kOthers<D, kHasBias>)*SwizzledRows<D>::kBytes;
template <int D, bool kHasBias>
constexpr size_t kBackwardBytesV3 = kTilesV3<D, kHasBias> +
                                    std::max(BM, 2 * kOthers<D, kHasBias>) *
                                        sizeof(RowMask);

/// hstu_backward_v3: 64 rows a block for dq and the bias, 16 a warp, over tiles of
/// keys; or 64 keys, for dk and dv, over tiles of rows. Those of which no pair is seen
/// are left out. No two blocks add to one sum of dq, dk or dv.
///
///     dq:  S = q k^T,    dA = d_o v^T,    dq += dS k
///     dk:  S^T = k q^T,  dA^T = v d_o^T,  dk += dS^T q
///     dv:  S^T = k q^T,                   dv += A^T d_o
///
/// @tparam kOf  what is summed; dk_dv has S^T once for both
///
/// Launch   grid tile_grid<BM>(), block kMmaThreads, kBackwardBytesV3<D, kHasBias>
/// Traffic  of a block: 2 * 64 * D * sizeof(T) B of its own, and as much of the others
///          as it has tiles; two more atomics a pair where there is a bias
/// Error    A and dS are rounded to T, sums are float
template <class T, int D, Gradient kOf, bool kHasBias>
__global__ void __launch_bounds__(kMmaThreads, 2)
    hstu_backward_v3_kernel(const HstuCall<T> call, const HstuGradients<T> out) {
    constexpr bool kOfKeys = kOf != Gradient::dq;
    constexpr bool kHasDs = kOf != Gradient::dv;
    constexpr int kStep = kOthers<D, kHasBias>;
    constexpr int kTileBytes = kStep * SwizzledRows<D>::kBytes;
    extern __shared__ uint4 s_bytes[];
    char* const s_scores = reinterpret_cast<char*>(s_bytes);  // own q; kOfKeys: k
    char* const s_values = s_scores + BM * SwizzledRows<D>::kBytes;  // own d_o; or v
    char* const s_stages = s_values + BM * SwizzledRows<D>::kBytes;  // others, twice
    auto* const s_masks = reinterpret_cast<RowMask*>(s_scores + kTilesV3<D, kHasBias>);
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % wb::kWarpSize;
    const int first = tid / wb::kWarpSize * kMmaRows;  // own row of the warp
    const int head = static_cast<int>(blockIdx.y);
    const RowTile tile = find_tile<BM>(call.cu_seqlens.device,
                                       static_cast<int>(call.batch),
                                       static_cast<int>(blockIdx.x));
    if (tile.first >= tile.length) return;
    const HeadBias bias(call.bias, tile, head);
    // The first tile from `other` on of which a pair is seen. All threads come by here,
    // so that nobody uses the masks of an older tile any more.
    const auto next_tile = [&](int other, int stage) {
        for (; other < tile.length; other += kStep) {
            RowMask mask;  // sees nothing
            if (kOfKeys && tid < kStep) mask = row_mask(call.mask, tile, other + tid);
            if (!kOfKeys && tid < BM) mask = s_masks[tid];
            const int from = kOfKeys ? tile.first : other;
            const int to = from + (kOfKeys ? BM : kStep);
            if (!__syncthreads_or(mask.sees_some(from, to))) continue;
            if (kOfKeys && tid < kStep) s_masks[stage * kStep + tid] = mask;
            break;
        }
        return other;
    };
    const auto start_tile = [&](int other, int stage) {
        char* const s_other = s_stages + stage * 2 * kTileBytes;
        if (other < tile.length) {
            const T* const values = kOfKeys ? out.d_o : call.v;
            start_rows<kStep, D>(
                s_other, call, kOfKeys ? call.q : call.k, tile, other, head);
            start_rows<kStep, D>(s_other + kTileBytes, call, values, tile, other, head);
        }
        wb::ptx::cp_async_commit();  // even if it is empty: they are counted
    };
    if (!kOfKeys && tid < BM)
        s_masks[tid] = row_mask(call.mask, tile, tile.first + tid);
    const T* const own_values = kOfKeys ? call.v : out.d_o;
    start_rows<BM, D>(
        s_scores, call, kOfKeys ? call.k : call.q, tile, tile.first, head);
    if constexpr (kHasDs)
        start_rows<BM, D>(s_values, call, own_values, tile, tile.first, head);
    int other = next_tile(0, 0);
    int stage = 0;
    start_tile(other, stage);
    constexpr int kParts = D / 8;
    constexpr bool kHasDv = kOfKeys && kOf != Gradient::dk;
    [[maybe_unused]] float r_ds[kHasDs ? kParts : 1][4] = {};  // dq or dk
    [[maybe_unused]] float r_dv[kHasDv ? kParts : 1][4] = {};
    while (other < tile.length) {
        const int next = next_tile(other + kStep, 1 - stage);
        start_tile(next, 1 - stage);
        wb::ptx::cp_async_wait<1>();  // this tile is there: this thread's part,
        __syncthreads();              // and everybody's
        const char* const s_a = s_stages + stage * 2 * kTileBytes;
        const char* const s_b = s_a + kTileBytes;
        const RowMask* const s_rows = s_masks + (kOfKeys ? stage * kStep : first);
        const Pairs<kOfKeys> pairs = {s_rows, tile.first + first, other};
        float r_s[kStep / 8][4];
        float r_d[kStep / 8][4] = {};
        score_keys<T, D, kStep>(r_s, s_scores, first, s_a, lane);
        if constexpr (kHasDs) score_keys<T, D, kStep>(r_d, s_values, first, s_b, lane);
        differentiate<kHasBias>(r_s, r_d, call, out, bias, pairs, lane);
        if constexpr (kHasDs) add_values<T, D, kStep>(r_ds, r_d, s_a, lane);
        if constexpr (kHasDv) add_values<T, D, kStep>(r_dv, r_s, s_b, lane);
        other = next;
        stage = 1 - stage;
    }
    wb::ptx::cp_async_wait<0>();  // without others, its own are still on their way
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
    const int own = tile.first + first + lane / 4;
    if constexpr (kHasDs)
        store_sums<T, D>(call,
                         kOfKeys ? out.dk : out.dq,
                         tile,
                         own,
                         head,
                         r_ds,
                         call.alpha * inverse,
                         lane);
    if constexpr (kHasDv)
        store_sums<T, D>(call, out.dv, tile, own, head, r_dv, inverse, lane);
}

template <class T>
requires(sizeof(T) == 2) static void hstu_backward_v3(const HstuCall<T>& call,
                                                      const HstuGradients<T>& gradients,
                                                      cudaStream_t stream) {
    clear_bias_gradients(call, gradients, stream);
    wb::with_head_dim<32, 64, 128, 256>(call.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        const auto launch_all = [&](auto has_bias) {
            constexpr bool kHasBias = has_bias();
            const auto launch = [&](auto kernel) {
                constexpr size_t kBytes = kBackwardBytesV3<D, kHasBias>;
                CUDA_CHECK(
                    cudaFuncSetAttribute(kernel,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(kBytes)));
                kernel<<<tile_grid<BM>(call), kMmaThreads, kBytes, stream>>>(call,
                                                                             gradients);
                CUDA_CHECK_LAUNCH();
            };
            launch(hstu_backward_v3_kernel<T, D, Gradient::dq, kHasBias>);
            if constexpr (D > 128) {
                launch(hstu_backward_v3_kernel<T, D, Gradient::dk, kHasBias>);
                launch(hstu_backward_v3_kernel<T, D, Gradient::dv, kHasBias>);
            } else {
                launch(hstu_backward_v3_kernel<T, D, Gradient::dk_dv, kHasBias>);
            }
        };
        if (call.bias.positions != nullptr || call.bias.times != nullptr)
            launch_all(std::true_type{});
        else
            launch_all(std::false_type{});
    });
}
// #endregion v3-backward

// #region contract
template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!forward_has_work(function, call)) return;
    if constexpr (sizeof(T) == 2)
        hstu_attention_v3(call, stream);
    else
        hstu_attention_v2(call, stream);
}

template <class T>
static void backward(const char* function,
                     const HstuCall<T>& call,
                     const HstuGradients<T>& gradients,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    check_backward(function, call, gradients);
    if (call.total == 0) return clear_bias_gradients(call, gradients, stream);
    if constexpr (sizeof(T) == 2)
        hstu_backward_v3(call, gradients, stream);
    else
        hstu_backward_v2(call, gradients, stream);
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
