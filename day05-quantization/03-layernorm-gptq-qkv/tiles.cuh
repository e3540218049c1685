/// tiles.cuh: given with this exercise: chapter 02's packed tiles on tensor cores, for
/// three products of the same rows. There is nothing to write here.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/moments.h>

#include <cstdint>
#include <optional>

#include "../02-gptq-int4/product.cuh"
#include "checks.h"

// #region store
/// Where element (row, column) of h W stands in qkv: columns are those of Q, K and V.
template <class T>
struct ToQkv {
    T* qkv;  ///< [3, rows, hidden]
    int64_t rows;
    int64_t hidden;

    /// @param column  of 3 hidden
    __device__ __forceinline__ T* operator()(int64_t row, int64_t column) const {
        const int64_t part = column / hidden;
        return qkv + (part * rows + row) * hidden + column % hidden;
    }
};
// #endregion store

// #region eight
/// Eight halves as floats, and back.
__device__ __forceinline__ void unpack_eight(float (&eight)[8], uint4 bits) {
    const uint32_t pair[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 both = __half22float2(reinterpret_cast<const __half2&>(pair[i]));
        eight[2 * i] = both.x;
        eight[2 * i + 1] = both.y;
    }
}
__device__ __forceinline__ uint4 pack_eight(const float (&eight)[8]) {
    uint32_t pair[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const __half2 both = __floats2half2_rn(eight[2 * i], eight[2 * i + 1]);
        pair[i] = reinterpret_cast<const uint32_t&>(both);
    }
    return {pair[0], pair[1], pair[2], pair[3]};
}
// #endregion eight

// #region lanes
/// What the lanes of a warp know of their elements, taken together: in each of five
/// steps a lane hears of the one whose number differs in one bit. What counts is lane
/// 0, for others merge in other orders.
__device__ __forceinline__ wb::Moments merge_lanes(wb::Moments mine) {
#pragma unroll
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2) {
        const wb::Moments theirs = {
            __shfl_xor_sync(wb::kAllLanes, mine.count, other),
            __shfl_xor_sync(wb::kAllLanes, mine.mean, other),
            __shfl_xor_sync(wb::kAllLanes, mine.squares, other)};
        mine = wb::merged(mine, theirs);
    }
    return mine;
}
// #endregion lanes

// #region unpack
/// Two columns of eight rows of W each, as tensor cores want them: registers for rows 0
/// to 3, and for rows 4 to 7.
struct Columns {
    uint32_t a[2][4];
};

/// Unpacks the words of two columns, two nibbles with each mask: chapter 02's bit
/// tricks.
/// @param left, right  words, and {scale, 1024 + zero} of their columns
__device__ __forceinline__ Columns columns_of(uint32_t left_word,
                                              const __half2& left,
                                              uint32_t right_word,
                                              const __half2& right) {
    const uint32_t words[2] = {left_word, right_word};
    const __half2 scales[2] = {__low2half2(left), __low2half2(right)};
    const __half2 zeros[2] = {__high2half2(left), __high2half2(right)};
    Columns both;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {  // rows 2 pair and 2 pair + 1
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const uint32_t word = words[c] >> pair / 2 * 8;
            const bool is_high = pair % 2 == 1;  // times 16
            const uint32_t bits = (word & (is_high ? 0x00F000F0u : 0x000F000Fu)) |
                                  0x64006400u;  // 1024 + the number
            const __half2 number = reinterpret_cast<const __half2&>(bits);
            const __half2 difference =
                is_high ? __hfma2(number,
                                  __float2half2_rn(0.0625f),
                                  __hsub2(__float2half2_rn(960.0f), zeros[c]))
                        : __hsub2(number, zeros[c]);
            const __half2 weights = __hmul2(difference, scales[c]);
            both.a[pair / 2][pair % 2 * 2 + c] =
                reinterpret_cast<const uint32_t&>(weights);
        }
    }
    return both;
}
// #endregion unpack

// #region multiply
/// Multiplies a warp's tiles of W in one stage with eight columns of its rows at a
/// time.
///
/// @param eight_of  (row of the block, chunk of the stage): eight halves, as uint4
template <class S, class EightOf>
__device__ __forceinline__ void multiply_tiles(Sums<S>& sums,
                                               const Stage<S>& stage,
                                               const Place<S>& at,
                                               const EightOf& eight_of) {
    const int lane = threadIdx.x % wb::kWarpSize;
#pragma unroll
    for (int k = 0; k < S::KT; ++k) {
        uint4 x[S::MT];
#pragma unroll
        for (int m = 0; m < S::MT; ++m)
            x[m] =
                eight_of((at.warp_m * S::MT + m) * kRowsX + lane / 4, k * 4 + lane % 4);
#pragma unroll
        for (int n = 0; n < S::NT; ++n) {
            const int tile = at.warp_n * S::NT + n;
            const uint4 words = stage.weights[tile][k][lane];
            const uint4 factors = stage.factors[tile][k][lane / 4];
            const auto* const factor = reinterpret_cast<const __half2*>(&factors);
            const Columns columns[2] = {
                columns_of(words.x, factor[0], words.y, factor[1]),
                columns_of(words.z, factor[2], words.w, factor[3])};
#pragma unroll
            for (int t = 0; t < 2; ++t) {
#pragma unroll
                for (int m = 0; m < S::MT; ++m) {
                    const uint32_t low[2] = {x[m].x, x[m].y};
                    const uint32_t high[2] = {x[m].z, x[m].w};
                    float(&sum)[4] = sums.at[m][n][t];
                    wb::ptx::mma_m16n8k16_f16(sum, columns[t].a[0], low);
                    wb::ptx::mma_m16n8k16_f16(sum, columns[t].a[1], high);
                }
            }
        }
    }
}
// #endregion multiply

// #region launch
/// What a kernel is told: W and rows as chapter 02 has them, and the LayerNorm.
struct QkvProblem {
    Problem product;       ///< its x: raw rows, or normalised ones
    const __half* rows;    ///< [M, hidden] x as it came, for the statistics
    const __half* weight;  ///< [ld] in the order of x's columns, or null: all are 1
    const __half* bias;    ///< [ld] the same, or null: nothing
    int64_t hidden;
    float eps;
};

/// Shared memory of a block: a ring of stages for each of its groups, which becomes the
/// sums of warps along K.
template <class S, class OneStage>
constexpr size_t bytes_of_block() {
    constexpr size_t kRing = S::WK * S::kStages * sizeof(OneStage);
    constexpr size_t kSums =
        S::WK > 1 ? S::WK * S::BM * (S::BN + 4) * sizeof(float) : 0;
    return kRing > kSums ? kRing : kSums;
}

/// Launches a kernel whose blocks have S::BM rows and S::BN columns of h W.
///
/// @tparam K      K::kernel<S, T> and K::Stage<S>
/// @param parts  that the rows of W are cut into, >= 1
template <class K, class S, bool kInParts>
void launch_qkv(const QkvProblem& p, __half* qkv, cudaStream_t stream) {
    constexpr size_t kBytes = bytes_of_block<S, typename K::template StageOf<S>>();
    const int64_t M = p.product.M;
    const int64_t down = wb::ceil_div(M, int64_t{S::BM});
    const int64_t across = wb::ceil_div(p.product.N, int64_t{S::BN});
    const auto start = [&](auto* to, int64_t parts) {
        using T = std::remove_pointer_t<decltype(to)>;
        const auto kernel = K::template kernel<S, T>();
        CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kBytes)));
        const dim3 grid(
            wb::grid_size(down * across, 1), 1, static_cast<unsigned>(parts));
        kernel<<<grid, S::kThreads, kBytes, stream>>>(
            p, to, static_cast<unsigned>(down));
        CUDA_CHECK_LAUNCH();
    };
    if constexpr (kInParts) {
        // So many parts that each multiprocessor has kBlocks blocks, if a part is a
        // stage of each group or more.
        const int64_t wanted = S::kBlocks * wb::multiprocessors() / (down * across);
        const int64_t possible = p.product.w.tiles_down / S::kTilesK;
        const int64_t parts = std::min(wanted, possible);
        if (parts > 1) {
            const wb::Scratch<float> g_parts(parts * M * p.product.N, stream);
            start(g_parts.data(), parts);
            return add_parts(
                g_parts.data(), qkv, M * p.product.N, static_cast<int>(parts), stream);
        }
    }
    start(qkv, 1);
}
// #endregion launch
