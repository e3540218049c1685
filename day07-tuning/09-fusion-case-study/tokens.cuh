// tokens.cuh: given with this exercise: the small kernels of a step, and S0's. There is
// nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/gpt_shape.h>

#include <cmath>
#include <cstdint>

#include "block_sums.cuh"
#include "s0.h"

/// The largest value of the block's kWarps warps, for all threads.
static __device__ inline float block_max(float value) {
    __shared__ float s_most[kWarps];
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(wb::kAllLanes, value, step));
    if (threadIdx.x % wb::kWarpSize == 0) s_most[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    float most = s_most[0];
    for (int warp = 1; warp < kWarps; ++warp)
        most = fmaxf(most, s_most[warp]);
    __syncthreads();
    return most;
}

/// x = the row of the token. Launch: a thread for each element, block kThreads.
static __global__ void __launch_bounds__(kThreads)
    embed_kernel(const float* embed_in,  // [256, width]
                 const int32_t* text,    // [tokens + 1]
                 const int32_t* position,
                 float* x,  // [width]
                 int64_t width) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < width) x[i] = embed_in[int64_t{text[*position]} * width + i];
}

/// x = x + delta. Launch: a thread for each element, block kThreads.
static __global__ void __launch_bounds__(kThreads)
    add_kernel(const float* delta,  // [width]
               float* x,            // [width]
               int64_t width) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < width) x[i] += delta[i];
}

// #region pick
/// The likeliest token (the lower one of two), and the loss of the token that the text
/// has next. Behind the tokens that are given, the likeliest one becomes the next.
///
/// Launch   one block of kThreads = 256 threads, one for each token
static __global__ void __launch_bounds__(kThreads)
    pick_kernel(const float* logits,   // [256]
                int32_t* text,         // [tokens + 1]
                int32_t* position,     // [1]
                const int32_t* given,  // [1]
                float* losses,         // [tokens]
                int32_t* picks) {      // [tokens]
    static_assert(kThreads == wb::model::kVocabulary, "a thread for each token");
    __shared__ int s_best;
    const auto token = static_cast<int>(threadIdx.x);
    const float logit = logits[token];
    if (token == 0) s_best = kThreads;
    const float most = block_max(logit);
    if (logit == most) atomicMin(&s_best, token);
    const float sum = block_sum(expf(logit - most));
    if (token != 0) return;
    const int at = *position;
    const int best = s_best < kThreads ? s_best : 0;  // NaN: none is the largest
    if (at + 1 >= *given) text[at + 1] = best;
    picks[at] = best;
    losses[at] = logf(sum) - (logits[text[at + 1]] - most);
    *position = at + 1;
}
// #endregion pick

// #region s0-kernel
/// S0's kernel: y = LayerNorm(x) * gamma + beta + residual, a row in each block. It is
/// right: see the isolated test in story.cpp.
///
/// Launch   a block of kThreads for each row
static __global__ void __launch_bounds__(kThreads)
    layernorm_residual_kernel(LayerNormResidual a) {
    const int64_t row = blockIdx.x;
    const float* const x = a.x + row * a.columns;
    const float* const residual = a.residual + row * a.columns;
    float part = 0.0f;
    for (int64_t c = threadIdx.x; c < a.columns; c += kThreads)
        part += x[c];
    const float mean = block_sum(part) / static_cast<float>(a.columns);
    part = 0.0f;
    for (int64_t c = threadIdx.x; c < a.columns; c += kThreads)
        part += (x[c] - mean) * (x[c] - mean);
    const float variance = block_sum(part) / static_cast<float>(a.columns);
    const float rstd = 1.0f / sqrtf(variance + a.eps);
    for (int64_t c = threadIdx.x; c < a.columns; c += kThreads) {
        const float normed = (x[c] - mean) * rstd * a.gamma[c] + a.beta[c];
        const float y = normed + residual[c];
        a.y[row * a.columns + c] = y;
        if (a.copy != nullptr) a.copy[row * a.columns + c] = y;
    }
    if (a.calls != nullptr && row == 0 && threadIdx.x == 0) atomicAdd(a.calls, 1);
}
// #endregion s0-kernel
