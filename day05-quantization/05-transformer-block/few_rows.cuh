/// few_rows.cuh: given with "Go faster": what kernels for few rows are told, and what
/// they do with numbers. There is nothing to write here.
#pragma once

#include <wb/elements.h>

#include "../02-gptq-int4/layout.h"
#include "../04-fp4-linear/formats.h"
#include "order.cuh"

constexpr int kFewRows = 8;  // rows, at most: a warp of a block normalises each
constexpr int kFewThreads = 256;
constexpr int kFewWarps = kFewThreads / wb::kWarpSize;
constexpr int kFewShared = 48 << 10;  // bytes of shared memory for rows, at most
constexpr int kAhead = 4;             // vectors of a row of W under way at first

using Vector = wb::Elements<__nv_bfloat16, 8>;

// #region v3-layer
/// A layer for few rows, as its kernel takes it.
struct FewRows {
    const __nv_bfloat16* x;      ///< [rows, K]
    const __nv_bfloat16* gamma;  ///< [K] of a norm before the product, or null: none
    const __nv_bfloat16* beta;   ///< [K]
    float eps;
    __nv_bfloat16* normed;       ///< [rows, K] what the norm gives, or null: not wanted
    const __nv_bfloat16* dense;  ///< [N, K]
    Fp4View fp4;                 ///< the same in 4 bits
    Packed int4;                 ///< the same, as chapter 02 packs it
    const __nv_bfloat16* bias;   ///< [N], or null
    const __nv_bfloat16* residual;  ///< [rows, N], or null
    Activation activation;
    __nv_bfloat16* y;  ///< [rows, N]
    int rows;
    int N;
    int K;
    int32_t* lengths;  ///< [rows] that grow by 1 below `capacity`, or null
    int64_t capacity;
};

/// What goes into a layer and out of it: what a FewRows has besides its sizes.
struct Around {
    const BlockNorm* norm = nullptr;  ///< before the product
    __nv_bfloat16* normed = nullptr;  ///< where its rows go
    Activation activation = Activation::none;
    const __nv_bfloat16* residual = nullptr;
    bool grows = false;  ///< the lengths of sequences
};

/// A layer of a step.
inline FewRows few_rows_of(const Call& c,
                           const BlockLinear& layer,
                           const __nv_bfloat16* x,
                           const Around& around,
                           __nv_bfloat16* y) {
    const auto [N, K] = size_of(c, layer);
    const bool has_norm = around.norm != nullptr;
    const bool is_int4 = layer.kind == WeightKind::int4;
    const GptqShape shape = {c.rows(), N, K, layer.int4_group, true};
    return {x,
            has_norm ? around.norm->gamma : nullptr,
            has_norm ? around.norm->beta : nullptr,
            c.shape().eps,
            around.normed,
            layer.dense,
            Fp4View::of({c.rows(), N, K, layer.fp4_scales}, layer.fp4),
            is_int4 ? Packed::of(shape, layer.int4.g_idx != nullptr, layer.int4_packed)
                    : Packed{},
            layer.bias,
            around.residual,
            around.activation,
            y,
            static_cast<int>(c.rows()),
            static_cast<int>(N),
            static_cast<int>(K),
            around.grows ? c.cache->lengths : nullptr,
            c.cache->pages.capacity()};
}
// #endregion v3-layer

/// The lengths of sequences grow, where the first block of a kernel is told so.
__device__ __forceinline__ void grow_lengths(const FewRows& p) {
    if (blockIdx.x > 0 || p.lengths == nullptr || int(threadIdx.x) >= p.rows) return;
    const int32_t length = p.lengths[threadIdx.x];
    if (length >= 0 && length < p.capacity) p.lengths[threadIdx.x] = length + 1;
}

// #region v3-numbers
/// The sum over the lanes of a warp, for all of them.
__device__ __forceinline__ float few_sum(float value) {
    for (int apart = wb::kWarpSize / 2; apart > 0; apart /= 2)
        value += __shfl_xor_sync(wb::kAllLanes, value, apart);
    return value;
}

/// Sixteen weights of 4 bits, with one scale, likewise. A code's three low bits are
/// exponent and mantissa of a float that is 2^126 times too small.
template <int ROWS>
__device__ __forceinline__ void add_fp4(float (&sums)[ROWS],
                                        uint2 words,
                                        float scale,
                                        const __nv_bfloat16* s_x,
                                        const FewRows& p) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint32_t word = half == 0 ? words.x : words.y;
        float weights[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const uint32_t code = word >> 4 * i;
            weights[i] =
                __uint_as_float((code & 7u) << 22 | (code & 8u) << 28) * 0x1p126f;
        }
#pragma unroll
        for (int m = 0; m < ROWS; ++m) {
            if (m >= p.rows) break;
            float values[8];
            float part = 0.0f;
            Vector::load(s_x + m * p.K + 8 * half).unpack(values);
#pragma unroll
            for (int i = 0; i < 8; ++i)
                part += weights[i] * values[i];
            sums[m] += part * scale;
        }
    }
}
// #endregion v3-numbers

// #region v3-turn
/// A number of a head of q or k, turned by its position, rounded as the cache holds it.
///
/// @param head    its D numbers
/// @param angles  of the position: [rotary_dim / 2]
__device__ __forceinline__ __nv_bfloat16 turned(const __nv_bfloat16* head,
                                                int d,
                                                const float2* angles,
                                                int rotary_dim) {
    if (d >= rotary_dim) return head[d];
    const int half = rotary_dim / 2;
    const float2 angle = angles[d % half];
    const float a = __bfloat162float(head[d % half]);
    const float b = __bfloat162float(head[d % half + half]);
    return __float2bfloat16(d < half ? a * angle.x - b * angle.y
                                     : b * angle.x + a * angle.y);
}
// #endregion v3-turn

// #region v3-step
/// What attention of a step takes.
struct Attend {
    const __nv_bfloat16* qkv;  ///< [batch, 3, heads, D]
    wb::PagedCache cache;      ///< its lengths are those before the step
    const float2* angles;
    int rotary_dim;
    float scale;
    __nv_bfloat16* attended;  ///< [batch, heads, D]
    wb::PagedStatus* status;
};

inline Attend attend_of(const Call& c) {
    const BlockShape& s = c.shape();
    return {c.at(c.plan.qkv),
            c.pages(),
            c.cache->angles,
            static_cast<int>(s.rotary_dim),
            1.0f / sqrtf(static_cast<float>(s.head_dim())),
            c.at(c.plan.attended),
            c.work.pages->status()};
}
// #endregion v3-step
