/// pieces.cuh: given with this exercise: the kernels of earlier chapters, each behind a
/// function that takes what a block knows. Their solutions are linked into this
/// chapter's programs. There is nothing to write here.
#pragma once

#include <cuda_fp16.h>
#include <wb/launch.h>

#include <algorithm>
#include <cmath>

#include "../../day03-parallel-patterns/04-layernorm/layernorm.h"
#include "../../day06-llm-attention/04-paged-attention/paged_attention.h"
#include "../../day06-llm-attention/08-hopper-attention/hopper_attention.h"
#include "../../day06-llm-attention/11-rope-and-kv-append/rope_and_kv_append.h"
#include "calls.h"

constexpr int kElementThreads = 256;

// #region elements
/// z after the activation, in float: day 4's formulas.
__device__ __forceinline__ float activated(float z, Activation activation) {
    if (activation == Activation::none) return z;
    constexpr float kC = 1.5957691216057308f;  // 2 sqrt(2 / pi)
    const float s =
        activation == Activation::silu ? z : kC * z * (1.0f + 0.044715f * z * z);
    if (s < -88.0f) return 0.0f;
    return z / (1.0f + expf(-s));
}

/// to[i] = from[i]: a layer in 4 bits wants fp16.
///
/// Launch   a thread an element, block kElementThreads
static __global__ void __launch_bounds__(kElementThreads)
    to_half_kernel(const __nv_bfloat16* from,  // [count]
                   __half* to,                 // [count]
                   int64_t count) {
    const int64_t i = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (i < count) to[i] = __float2half(__bfloat162float(from[i]));
}

/// y = act(z + bias) + residual, for what a product has left. z and y may be the same.
///
/// Launch   a thread an element, block kElementThreads
template <class T>
__global__ void __launch_bounds__(kElementThreads)
    finish_kernel(const T* z,                     // [count / N, N]
                  const __nv_bfloat16* bias,      // [N], or null
                  const __nv_bfloat16* residual,  // [count / N, N], or null
                  __nv_bfloat16* y,               // [count / N, N]
                  Activation activation,
                  int64_t N,
                  int64_t count) {
    const int64_t i = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (i >= count) return;
    float sum = static_cast<float>(z[i]);
    if (bias != nullptr) sum += __bfloat162float(bias[i % N]);
    sum = activated(sum, activation);
    if (residual != nullptr) sum += __bfloat162float(residual[i]);
    y[i] = __float2bfloat16(sum);
}

template <class T>
void finish(const Call& c,
            const T* z,
            const __nv_bfloat16* bias,
            Activation activation,
            const __nv_bfloat16* residual,
            __nv_bfloat16* y,
            int64_t N) {
    const int64_t count = c.rows() * N;
    finish_kernel<<<wb::grid_size(count, kElementThreads),
                    kElementThreads,
                    0,
                    c.stream>>>(z, bias, residual, y, activation, N, count);
    CUDA_CHECK_LAUNCH();
}
// #endregion elements

// #region norm
/// to = the LayerNorm of each row of `from`, day 3's. `to` may be `from`.
inline void norm(const Call& c,
                 const BlockNorm& parameters,
                 const __nv_bfloat16* from,
                 __nv_bfloat16* to) {
    layer_norm_bf16({from,
                     parameters.gamma,
                     parameters.beta,
                     to,
                     nullptr,
                     nullptr,
                     c.rows(),
                     c.shape().d_model,
                     c.shape().eps},
                    c.stream);
}
// #endregion norm

// #region linear
/// A layer's sizes.
struct LayerSize {
    int64_t N;
    int64_t K;
};

inline LayerSize size_of(const Call& c, const BlockLinear& layer) {
    const BlockShape& s = c.shape();
    if (&layer == &c.block.qkv) return {3 * s.d_model, s.d_model};
    if (&layer == &c.block.up) return {s.d_ff, s.d_model};
    if (&layer == &c.block.down) return {s.d_model, s.d_ff};
    return {s.d_model, s.d_model};
}

/// The product of a layer in 4 bits, as fp16 in the workspace.
///
/// @param has_all  FP4's kernel adds the bias and applies the activation
inline __half* quantized_product(const Call& c,
                                 const BlockLinear& layer,
                                 Activation activation,
                                 const __nv_bfloat16* x,
                                 bool has_all) {
    const auto [N, K] = size_of(c, layer);
    const int64_t M = c.rows();
    auto* const x_half = c.at<__half>(c.plan.half_in);
    auto* const z = c.at<__half>(c.plan.half_out);
    to_half_kernel<<<wb::grid_size(M * K, kElementThreads),
                     kElementThreads,
                     0,
                     c.stream>>>(x, x_half, M * K);
    CUDA_CHECK_LAUNCH();
    if (layer.kind == WeightKind::int4)
        gptq_matmul({M, N, K, layer.int4_group, true},
                    layer.int4,
                    layer.int4_packed,
                    x_half,
                    z,
                    c.stream);
    else
        fp4_linear(
            {M, N, K, layer.fp4_scales},
            has_all ? static_cast<Fp4Activation>(activation) : Fp4Activation::none,
            layer.fp4,
            x_half,
            has_all ? layer.fp4_bias : nullptr,
            z,
            c.stream);
    return z;
}

/// y = act(x w^T + bias) + residual: one kernel for the product, one for the rest.
inline void linear_apart(const Call& c,
                         const BlockLinear& layer,
                         Activation activation,
                         const __nv_bfloat16* x,
                         const __nv_bfloat16* residual,
                         __nv_bfloat16* y) {
    const auto [N, K] = size_of(c, layer);
    if (layer.kind != WeightKind::bf16) {
        const __half* const z = quantized_product(c, layer, activation, x, false);
        return finish(c, z, layer.bias, activation, residual, y, N);
    }
    const LinearShape shape = {c.rows(), N, K, K, K, N};
    linear_act({shape, Activation::none, x, layer.dense, nullptr, nullptr},
               y,
               nullptr,
               c.stream);
    finish(c, y, layer.bias, activation, residual, y, N);
}

/// The same with day 4's epilogue, and what FP4's has of one.
inline void linear_fused(const Call& c,
                         const BlockLinear& layer,
                         Activation activation,
                         const __nv_bfloat16* x,
                         const __nv_bfloat16* residual,
                         __nv_bfloat16* y) {
    const auto [N, K] = size_of(c, layer);
    if (layer.kind == WeightKind::int4)
        return linear_apart(c, layer, activation, x, residual, y);
    if (layer.kind == WeightKind::fp4) {
        const __half* const z = quantized_product(c, layer, activation, x, true);
        return finish(c, z, nullptr, Activation::none, residual, y, N);
    }
    const LinearShape shape = {c.rows(), N, K, K, K, N};
    linear_act({shape, activation, x, layer.dense, layer.bias, residual},
               y,
               nullptr,
               c.stream);
}
// #endregion linear

// #region attention
/// Where each token of whole sequences is, and how long sequences are now.
///
/// Launch   grid sequences, block kElementThreads
static __global__ void __launch_bounds__(kElementThreads)
    first_places_kernel(const int32_t* starts,  // [sequences + 1]
                        int32_t* sequences,     // [tokens]
                        int32_t* positions,     // [tokens]
                        int32_t* lengths) {     // [sequences]
    const int sequence = static_cast<int>(blockIdx.x);
    const int first = starts[sequence];
    const int end = starts[sequence + 1];
    for (int i = first + static_cast<int>(threadIdx.x); i < end; i += kElementThreads) {
        sequences[i] = sequence;
        positions[i] = i - first;
    }
    if (threadIdx.x == 0) lengths[sequence] = end - first;
}

/// Turns q and k, and appends k and v to the pages: chapter 06/11.
///
/// @param q       [tokens, d_model], turned in place
/// @param k, v    the first of each; rows are `stride` numbers apart
inline void append(const Call& c,
                   __nv_bfloat16* q,
                   const __nv_bfloat16* k,
                   const __nv_bfloat16* v,
                   int64_t stride) {
    rope_append_bf16({q,
                      k,
                      v,
                      c.shape().d_model,
                      stride,
                      stride,
                      c.at<int32_t>(c.plan.sequences),
                      c.at<int32_t>(c.plan.positions),
                      c.cache->angles,
                      c.cache->angle_rows,
                      c.rows(),
                      c.shape().heads,
                      c.shape().rotary_dim,
                      RopePairs::halves,
                      c.pages(),
                      nullptr,
                      nullptr},
                     *c.work.pages,
                     c.stream);
}

/// Attention of whole sequences: chapter 06/08.
///
/// @param q, k, v  the first of each; rows of q are q_stride numbers apart, those of k
///                 and v 3 d_model; with a cache, keys and values are read from there
inline void attend_sequences(const Call& c,
                             const __nv_bfloat16* q,
                             int64_t q_stride,
                             const __nv_bfloat16* k,
                             const __nv_bfloat16* v,
                             float scale,
                             __nv_bfloat16* o) {
    const BlockTokens& t = c.tokens;
    const PackedShape shape = {t.sequences,
                               c.shape().heads,
                               c.shape().heads,
                               t.tokens,
                               t.tokens,
                               t.longest,
                               c.shape().head_dim(),
                               q_stride,
                               3 * c.shape().d_model,
                               t.causal,
                               scale};
    if (c.cache == nullptr)
        hopper_attention_packed(
            shape, q, k, v, t.starts, t.starts, o, nullptr, c.stream);
    else
        hopper_attention_paged(
            shape, c.pages(), q, t.starts, o, nullptr, *c.work.pages, c.stream);
}
// #endregion attention
