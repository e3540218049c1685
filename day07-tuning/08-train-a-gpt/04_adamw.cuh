// 04_adamw.cuh: given with this exercise: the mean of the losses, and the end of a
// step. There is nothing to write here.
#pragma once

#include "call.h"

/// The sum of a value of each thread, for all of them, in the same order each time.
/// All threads of the block must call it, once.
template <class T>
__device__ T block_sum(T mine) {
    __shared__ T s_sums[kElementThreads];
    const int tid = static_cast<int>(threadIdx.x);
    s_sums[tid] = mine;
    for (int half = kElementThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (tid < half) s_sums[tid] += s_sums[tid + half];
    }
    __syncthreads();
    return s_sums[0];
}

/// *mean = sum of values / count.
///
/// Launch   one block of kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    mean_kernel(const float* values,  // [count]
                int64_t count,
                float* mean) {
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += kElementThreads)
        sum += double{values[i]};
    sum = block_sum(sum);
    if (threadIdx.x == 0) *mean = static_cast<float>(sum / static_cast<double>(count));
}

inline void mean_loss(const Step& s) {
    mean_kernel<<<1, kElementThreads, 0, s.stream>>>(
        s.at(s.plan.losses), s.tokens(), s.call.loss);
    CUDA_CHECK_LAUNCH();
}

// #region norm
/// parts[b] = the sum of the squares of every kNormParts-th group of kElementThreads.
///
/// Launch   kNormParts blocks of kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    squares_kernel(const float* gradients,  // [elements]
                   int64_t elements,
                   double* parts) {  // [kNormParts]
    double sum = 0.0;
#pragma unroll 32  // as many loads are on their way at once; the order stays
    for (int64_t i = int64_t{blockIdx.x} * kElementThreads + threadIdx.x; i < elements;
         i += int64_t{kNormParts} * kElementThreads)
        sum += double{gradients[i]} * double{gradients[i]};
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// *norm = the root of the sum of all parts.
///
/// Launch   one block of kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    norm_kernel(const double* parts,  // [kNormParts]
                float* norm) {
    static_assert(kNormParts <= kElementThreads, "a part a thread");
    const double mine = threadIdx.x < kNormParts ? parts[threadIdx.x] : 0.0;
    const double sum = block_sum(mine);
    if (threadIdx.x == 0) *norm = static_cast<float>(sqrt(sum));
}
// #endregion norm

// #region adamw
/// What a step's number makes of the rates: on the host, in double.
struct Corrections {
    float first;   ///< 1 / (1 - beta1^t)
    float second;  ///< 1 / (1 - beta2^t)
};

/// The contract's formulas.
///
/// Launch   a thread for each element, block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    adamw_kernel(const AdamW a, const Corrections correct) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    const float norm = *a.norm;
    if (at >= a.elements || !isfinite(norm)) return;
    const float share = a.clip > 0.0f && norm > a.clip ? a.clip / norm : 1.0f;
    const float g = a.gradients[at] * share;
    const float first = a.beta1 * a.first[at] + (1.0f - a.beta1) * g;
    const float second = a.beta2 * a.second[at] + (1.0f - a.beta2) * g * g;
    a.first[at] = first;
    a.second[at] = second;
    const float weight = a.weights[at];
    const float decay = a.decays[at / 64] != 0 ? a.decay * weight : 0.0f;
    const float direction =
        first * correct.first / (sqrtf(second * correct.second) + a.eps);
    a.weights[at] = weight - a.rate * (direction + decay);
}
// #endregion adamw

/// The length of the gradients, then the step.
inline void update(const AdamW& a, cudaStream_t stream) {
    squares_kernel<<<kNormParts, kElementThreads, 0, stream>>>(
        a.gradients, a.elements, a.parts);
    CUDA_CHECK_LAUNCH();
    norm_kernel<<<1, kElementThreads, 0, stream>>>(a.parts, a.norm);
    CUDA_CHECK_LAUNCH();
    const auto correction = [&a](float beta) {
        return static_cast<float>(
            1.0 / (1.0 - std::pow(double{beta}, static_cast<double>(a.step))));
    };
    adamw_kernel<<<wb::grid_size(a.elements, kElementThreads),
                   kElementThreads,
                   0,
                   stream>>>(a, {correction(a.beta1), correction(a.beta2)});
    CUDA_CHECK_LAUNCH();
}
