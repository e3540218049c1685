// registers.h: given with this exercise: the softmax of v2 and the way out, for numbers
// that lie in registers as fragment_row and fragment_column say.
#pragma once

#include <wb/ptx/exp2.h>

#include <cmath>
#include <cstdint>

#include "tiles.h"

/// Yours, in tensor_core_attention.cu.
__device__ __forceinline__ int fragment_row(int lane, int e);
__device__ __forceinline__ int fragment_column(int lane, int e);

// #region v2-softmax
/// The online softmax of a lane's two rows, of which three other lanes hold a quarter
/// each. In powers of 2: scores are multiplied with log2(e) beforehand.
struct Softmax {
    float max[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};  ///< of this lane's own weights

    /// Scores become weights, and r_o shrinks if a new maximum turns up.
    /// @param scale    of q . k, times log2(e)
    /// @param visible  keys that each of the rows sees, counted from the first of all
    /// @param key      the first of this tile
    template <int kTiles>
    __device__ __forceinline__ void step(float (&r_s)[kKeys / 8][4],
                                         float (&r_o)[kTiles][4],
                                         float scale,
                                         const int (&visible)[2],
                                         int key,
                                         int lane) {
        float new_max[2] = {max[0], max[1]};
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const bool sees =
                    key + n * 8 + fragment_column(lane, e) < visible[e / 2];
                r_s[n][e] = sees ? r_s[n][e] * scale : -INFINITY;
                new_max[e / 2] = fmaxf(new_max[e / 2], r_s[n][e]);
            }
        }
        float base[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            // Lanes 4 g to 4 g + 3 hold a row together.
            new_max[h] = fmaxf(new_max[h], __shfl_xor_sync(kAll, new_max[h], 1));
            new_max[h] = fmaxf(new_max[h], __shfl_xor_sync(kAll, new_max[h], 2));
            // Without any key yet: 2^(-infinity - 0) is 0, and not a NaN.
            base[h] = new_max[h] == -INFINITY ? 0.0f : new_max[h];
            const float factor = wb::ptx::exp2_approx(max[h] - base[h]);
            max[h] = new_max[h];
            sum[h] *= factor;
#pragma unroll
            for (auto& tile : r_o) {
                tile[2 * h] *= factor;
                tile[2 * h + 1] *= factor;
            }
        }
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                r_s[n][e] = wb::ptx::exp2_approx(r_s[n][e] - base[e / 2]);
                sum[e / 2] += r_s[n][e];
            }
        }
    }
};
// #endregion v2-softmax

// #region v2-store
/// Writes the 16 rows of a warp, divided by their sums, and their log-sum-exp.
/// @param row  of the warp, among those of the block
template <class T, int D>
__device__ __forceinline__ void store_rows(const float (&r_o)[D / 8][4],
                                           const Softmax& softmax,
                                           const Problem<T>& p,
                                           const BlockWork<T, D>& work,
                                           int row,
                                           int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float sum = softmax.sum[h];
        sum += __shfl_xor_sync(kAll, sum, 1);
        sum += __shfl_xor_sync(kAll, sum, 2);
        const int mine = row + fragment_row(lane, 2 * h);
        if (work.first_row + mine >= p.queries) continue;
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int64_t g_row = work.g_row + mine;
#pragma unroll
        for (int c = 0; c < D / 8; ++c) {
            const uint32_t pair =
                pair_of<T>(r_o[c][2 * h] * inverse, r_o[c][2 * h + 1] * inverse);
            T* const g = p.o + g_row * D + c * 8 + fragment_column(lane, 0);
            *reinterpret_cast<uint32_t*>(g) = pair;
        }
        if (p.lse != nullptr && lane % 4 == 0)
            p.lse[g_row] = (softmax.max[h] + log2f(sum)) / kLog2e;
    }
}
// #endregion v2-store
