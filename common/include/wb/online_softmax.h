/// wb/online_softmax.h: a weighted mean whose weights are a softmax, one key at a time.
///
/// After keys with the scores x_j and the values v_j it holds
///
///     max = max x_j     sum = sum of exp(x_j - max)     o = sum of exp(x_j - max) v_j
///
/// so that the softmax's result is o / sum, and its log-sum-exp max + log(sum). A
/// larger score raises max, and what was summed up shrinks by exp(old max - new max).
///
/// Source: Milakov, Gimelshein 2018, arXiv:1805.02867.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace wb {

/// A GPU computes powers of 2: exp(x) is 2^(x * kLog2e), and log(x) is log2(x) * kLn2.
inline constexpr double kLog2e = 1.44269504088896340736;
inline constexpr double kLn2 = 0.693147180559945309417;

/// The largest scale of scores that is not refused: log2_scale() of it is finite.
inline constexpr float kMaxScale = 0x1p127f;

/// The scale of scores that become powers of 2 in place of powers of e.
inline float log2_scale(float scale) {
    return static_cast<float>(double{scale} * kLog2e);
}

// #region rescale
/// What a weight below `max` is worth below `new_max`, the same or a larger one.
/// Without any key, max is -inf: then 0, and not the NaN of -inf - -inf.
__device__ __forceinline__ float softmax_rescale(float max, float new_max) {
    return max == -INFINITY ? 0.0f : expf(max - new_max);
}
// #endregion rescale

/// The state of one row of attention; the N values may be part of a row whose other
/// parts other threads hold, with the same max and sum.
template <int N>
struct OnlineSoftmax {
    float max = -INFINITY;  ///< of the scores
    float sum = 0.0f;       ///< of the weights below it
    float o[N] = {};        ///< of the weighted values

    /// One more key.
    __device__ __forceinline__ void add(float score, const float (&value)[N]) {
        const float new_max = fmaxf(max, score);
        const float rescale = softmax_rescale(max, new_max);
        const float weight = expf(score - new_max);
        max = new_max;
        sum = sum * rescale + weight;
        for (int i = 0; i < N; ++i) {
            o[i] = o[i] * rescale + weight * value[i];
        }
    }

    /// Other keys of the same row, that somebody else has summed up.
    __device__ __forceinline__ void merge(float its_max,
                                          float its_sum,
                                          const float (&its_o)[N]) {
        const float new_max = fmaxf(max, its_max);
        const float mine = softmax_rescale(max, new_max);
        const float its = softmax_rescale(its_max, new_max);
        max = new_max;
        sum = sum * mine + its_sum * its;
        for (int i = 0; i < N; ++i) {
            o[i] = o[i] * mine + its_o[i] * its;
        }
    }

    /// What the sums are multiplied with in the end; 0 if there was no key.
    __device__ __forceinline__ float scale() const {
        return sum > 0.0f ? 1.0f / sum : 0.0f;
    }

    /// -inf if there was no key; a NaN stays one.
    __device__ __forceinline__ float log_sum_exp() const {
        return sum == 0.0f ? -INFINITY : max + logf(sum);
    }
};

}  // namespace wb
