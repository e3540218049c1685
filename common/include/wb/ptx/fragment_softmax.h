/// wb/ptx/fragment_softmax.h: the online softmax of scores that a wgmma has left in the
/// registers of a warpgroup (see wgmma_fragment.h for which thread has which).
///
/// As online_softmax.h, in powers of 2: a thread has parts of two rows, the four lanes
/// of a quad a row between them.
#pragma once
#include <cuda_runtime.h>

#include <cmath>

#include "wb/launch.h"
#include "wb/ptx/exp2.h"

namespace wb::ptx {

// #region softmax
/// What the online softmax remembers of a thread's two rows.
struct RowSums {
    /// The largest score so far: scores are taken relative to it. A larger or smaller
    /// number would do, but the weight that counts most would not be exactly 1.
    float reference[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0.0f, 0.0f};  ///< of the weights of this thread's columns so far
};

/// One step of the online softmax: scores become weights exp(score - reference), where
/// the reference is the largest score so far. If it has grown, what was summed before
/// must be multiplied by `factor`: the sums are here, o by the caller.
///
/// @tparam kShift     weights are 2^kShift times as large, and so are the sums: for
///                    FP8, whose smallest number is not small
/// @param s           scores of 2 kCount columns
/// @param scale_log2  score * log2(e) = s * scale_log2, > 0
template <int kShift = 0, int kCount>
__device__ __forceinline__ void softmax_step(float (&s)[kCount],
                                             float scale_log2,
                                             RowSums& rows,
                                             float (&factor)[2]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float largest = fmaxf(s[2 * r], s[2 * r + 1]);
#pragma unroll
        for (int i = 4; i < kCount; i += 4)
            largest = fmaxf(largest, fmaxf(s[i + 2 * r], s[i + 2 * r + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 2)) * scale_log2;

        const float old = rows.reference[r];
        rows.reference[r] = fmaxf(old, largest);
        // A row that has seen nothing has no reference, and -inf - -inf is NaN.
        const float reference =
            rows.reference[r] == -INFINITY ? 0.0f : rows.reference[r];
        factor[r] = exp2_approx(old - reference);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
#pragma unroll
            for (int e = i + 2 * r; e < i + 2 * r + 2; ++e) {
                s[e] = exp2_approx(fmaf(s[e], scale_log2, kShift - reference));
                sum += s[e];
            }
        }
        rows.sum[r] = rows.sum[r] * factor[r] + sum;
    }
}
// #endregion softmax

/// o *= factor, row by row; nothing, if no row of the warp has a new reference.
template <int kCount>
__device__ __forceinline__ void rescale(float (&o)[kCount], const float (&factor)[2]) {
    if (!__any_sync(kAllLanes, factor[0] != 1.0f || factor[1] != 1.0f)) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
        o[i] *= factor[i / 2 % 2];
}

}  // namespace wb::ptx
