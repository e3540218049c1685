// fragments.h: given with this exercise: what a thread of a consuming warpgroup does
// with the scores and outputs in its registers.
//
// wgmma leaves a thread with two rows of a 64-row tile, `lane / 4` and 8 further in the
// 16 rows of its warp, and of each row with columns 8 j + 2 (lane % 4) + {0, 1} for all
// j (wb/ptx/wgmma.h). The four lanes of a quad have a row between them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/wgmma.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "problem.h"
#include "tiles.h"

/// All lanes of a warp.
inline constexpr unsigned kAll = 0xFFFFFFFFu;

// #region products
/// Starts S = Q K^T: 64 rows of q against a block of keys. By a warpgroup.
///
/// @param s  [kKeys / 2] overwritten when the wgmmas are done
/// @param q  the first of the 64 rows in the first panel of a tile of q
/// @param k  a block of keys
template <class Tiling>
__device__ __forceinline__ void start_scores(float (&s)[Tiling::kKeys / 2],
                                             const unsigned char* q,
                                             const unsigned char* k) {
    using namespace wb::ptx;
    const uint64_t q_tile = wgmma_descriptor(shared_address(q));
    const uint64_t k_tile = wgmma_descriptor(shared_address(k));
#pragma unroll
    for (int i = 0; i < 4 * Tiling::kPanels; ++i) {
        // 16 columns are 32 bytes, 4 times within a panel. Descriptors count in 16.
        const int panel = i / 4;
        const int column = i % 4 * 32;
        const uint64_t q_step = (panel * Tiling::kRows * kSwizzleBytes + column) / 16;
        const uint64_t k_step = (panel * Tiling::kKeys * kSwizzleBytes + column) / 16;
        wgmma<typename Tiling::T>(s, q_tile + q_step, k_tile + k_step, i > 0);
    }
}

/// Starts O = P V, or O += P V: 64 rows of weights times a block of values.
///
/// @param o  [kDim / 2]
/// @param p  weights as pack_weights leaves them; must not change until the wgmmas are
///           done
template <class Tiling>
__device__ __forceinline__ void start_output(float (&o)[Tiling::kDim / 2],
                                             const uint32_t (&p)[Tiling::kKeys / 16][4],
                                             const unsigned char* v,
                                             bool accumulate) {
    using namespace wb::ptx;
    const uint64_t v_tile =
        wgmma_descriptor(shared_address(v), Tiling::kKeys * kSwizzleBytes);
#pragma unroll
    for (int i = 0; i < Tiling::kKeys / 16; ++i) {
        const uint64_t v_step = i * 16 * kSwizzleBytes / 16;  // 16 keys further down
        wgmma<typename Tiling::T, true>(o, p[i], v_tile + v_step, i > 0 || accumulate);
    }
}
// #endregion products

// #region softmax
/// What the online softmax remembers of a thread's two rows.
struct RowSums {
    /// The largest score so far: scores are taken relative to it. A larger or smaller
    /// number would do, but the weight that counts most would not be exactly 1.
    float reference[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0.0f, 0.0f};  ///< of the weights of this thread's columns so far
};

/// Gives -infinity to the scores of keys that a row does not see.
///
/// @param first_key  of the block
/// @param limit      of each of the two rows: its keys are those below
template <int kKeys>
__device__ __forceinline__ void mask_scores(float (&s)[kKeys / 2],
                                            int first_key,
                                            const int (&limit)[2]) {
    const int first = first_key + 2 * static_cast<int>(threadIdx.x % 4);
    const int seen[2] = {limit[0] - first, limit[1] - first};
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i) {
        if (i / 4 * 8 + i % 2 >= seen[i / 2 % 2]) s[i] = -INFINITY;
    }
}

/// One step of the online softmax: scores become weights exp(score - reference), where
/// the reference is the largest score so far. If it has grown, what was summed before
/// must be multiplied by `factor`: the sums are here, o by the caller.
///
/// @tparam kShift     weights are 2^kShift times as large, and so are the sums: for
///                    FP8, whose smallest number is not small
/// @param scale_log2  score * log2(e) = s * scale_log2, > 0
template <int kKeys, int kShift = 0>
__device__ __forceinline__ void softmax_step(float (&s)[kKeys / 2],
                                             float scale_log2,
                                             RowSums& rows,
                                             float (&factor)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float largest = fmaxf(s[2 * r], s[2 * r + 1]);
#pragma unroll
        for (int i = 4; i < kKeys / 2; i += 4)
            largest = fmaxf(largest, fmaxf(s[i + 2 * r], s[i + 2 * r + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 2)) * scale_log2;

        const float old = rows.reference[r];
        rows.reference[r] = fmaxf(old, largest);
        // A row that has seen nothing has no reference, and -inf - -inf is no number.
        const float reference =
            rows.reference[r] == -INFINITY ? 0.0f : rows.reference[r];
        factor[r] = wb::ptx::exp2_approx(old - reference);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kKeys / 2; i += 4) {
#pragma unroll
            for (int e = i + 2 * r; e < i + 2 * r + 2; ++e) {
                s[e] = wb::ptx::exp2_approx(fmaf(s[e], scale_log2, kShift - reference));
                sum += s[e];
            }
        }
        rows.sum[r] = rows.sum[r] * factor[r] + sum;
    }
}
// #endregion softmax

// #region pack
/// Two floats, rounded, in one register; the first one in the low half.
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
    uint32_t bits;
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    }
    return bits;
}

/// Weights as the left operand of the next wgmma: the eight of keys 16 i to 16 i + 15
/// that a thread has are the eight that it needs, in this order.
template <class T, int kKeys>
__device__ __forceinline__ void pack_weights(uint32_t (&p)[kKeys / 16][4],
                                             const float (&s)[kKeys / 2]) {
#pragma unroll
    for (int i = 0; i < kKeys / 4; ++i)
        p[i / 4][i % 4] = pack<T>(s[2 * i], s[2 * i + 1]);
}

/// o *= factor, row by row; nothing, if no row of the warp has a new reference.
template <int kCount>
__device__ __forceinline__ void rescale(float (&o)[kCount], const float (&factor)[2]) {
    if (!__any_sync(kAll, factor[0] != 1.0f || factor[1] != 1.0f)) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
        o[i] *= factor[i / 2 % 2];
}
// #endregion pack
