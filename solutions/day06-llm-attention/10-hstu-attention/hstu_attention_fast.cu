// hstu_attention_fast.cu: v3: both products with mma.sync. The next tile of keys is on
// its way while one is used; tiles that no row sees are left out, and those that all
// see have no mask.
#include "hstu_attention.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>

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
            // #solution
            uint32_t k[4];
            wb::ptx::ldmatrix(k, quarters<D>(s_k, 16 * n, step, lane));
            multiply<T>(r_s[2 * n], a, k[0], k[2]);
            multiply<T>(r_s[2 * n + 1], a, k[1], k[3]);
            // #end
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
            // #solution
            const int column = key + 8 * n + 2 * (lane % 4) + e % 2;
            float weight = 0.0f;
            if (is_full || (e < 2 ? upper : lower).sees(column)) {
                float s = alpha * r_s[n][e];
                if constexpr (kHasBias) s += bias(row + e / 2 * 8, column);
                weight = fast_silu(s);
            }
            r_s[n][e] = weight;
            // #end
        }
    }
    // #starter (void)alpha, (void)bias, (void)row, (void)is_full;
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
            // #solution
            uint32_t v[4];
            wb::ptx::ldmatrix<true>(v, quarters<D>(s_v, 16 * n, step, lane));
            multiply<T>(r_o[2 * step], a, v[0], v[1]);
            multiply<T>(r_o[2 * step + 1], a, v[2], v[3]);
            // #end
        }
        // #starter (void)a, (void)s_v, (void)lane;
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
    const float inverse = 1.0f / static_cast<float>(call.scaling_length);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        if (row + 8 * h >= tile.length) continue;
        T* const o = head_of(call, call.o, tile, row + 8 * h, head) + 2 * (lane % 4);
#pragma unroll
        for (int c = 0; c < D / 8; ++c) {
            *reinterpret_cast<uint32_t*>(o + 8 * c) =
                wb::ptx::pack<T>(r_o[c][2 * h] * inverse, r_o[c][2 * h + 1] * inverse);
        }
    }
}

template <class T>
static void hstu_attention_v3(const HstuCall<T>& call, cudaStream_t stream) {
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

// #solution
#ifndef WB_VERSION_ONLY  // hstu_attention.cu has all versions, and the contract
// #end
// #region contract
template <class T>
static void attention(const char* function,
                      const HstuCall<T>& call,
                      cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
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
    // #starter WB_NOT_SOLVED();  // and this one: the backward pass is given here
    check_backward(function, call, gradients);
    if (call.total == 0) return clear_bias_gradients(call, gradients, stream);
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
// #solution
#endif
// #end
