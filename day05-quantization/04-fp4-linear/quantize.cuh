/// quantize.cuh: given with the second stage: W in 4 bits, quickly.
#pragma once

#include <wb/launch.h>

#include "formats.h"

constexpr int kThreadsQuantize = 256;

// #region v2-round
/// x rounded to E2M1 by its bits. Below 1 a code counts 0.5. From there on a code is
/// the last bit of the exponent's and the first of the mantissa's: what is rounded up
/// is carried into the exponent.
__device__ __forceinline__ uint32_t e2m1_of(float x) {
    const uint32_t sign = __float_as_uint(x) >> 31 << 3;
    const float a = fabsf(x);
    if (a < 1.0f) return sign | static_cast<uint32_t>(__float2int_rn(2.0f * a));
    const uint32_t bits = __float_as_uint(a);
    const uint32_t rounded = (bits + 0x1FFFFFu + (bits >> 22 & 1)) >> 22;
    return sign | min(rounded - (126u << 1), 7u);
}

/// Sixteen weights, as 8 bytes. @param scale  0: all of them are 0
__device__ __forceinline__ uint2 sixteen_codes(const float4 (&w)[4], float scale) {
    uint32_t words[2] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const float4& of_four = w[i / 4];
        const float x = i % 4 == 0   ? of_four.x
                        : i % 4 == 1 ? of_four.y
                        : i % 4 == 2 ? of_four.z
                                     : of_four.w;
        if (scale != 0.0f) words[i / 8] |= e2m1_of(x / scale) << i % 8 * 4;
    }
    return {words[0], words[1]};
}

/// The largest bits of four magnitudes: they are in the order of magnitudes, and those
/// of infinity and of a NaN are above all others.
__device__ __forceinline__ uint32_t largest_of(const float4& w) {
    const auto bits = [](float x) { return __float_as_uint(x) & 0x7FFFFFFFu; };
    return max(max(bits(w.x), bits(w.y)), max(bits(w.z), bits(w.w)));
}
// #endregion v2-round

// #region v2-quantize
/// v2, for mx and nvfp4: 16 weights a thread; for mx two neighbours share a scale.
///
/// Launch   a thread for each 16 weights, block kThreadsQuantize
/// Traffic  reads N K * 4 B; writes N K / 2 B, and scales
static __global__ void __launch_bounds__(kThreadsQuantize)
    quantize_groups_kernel(const float4* weights,  // [N, K / 4]
                           const Fp4Weights w,
                           Fp4Scales kind,
                           int64_t sixteens) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsQuantize + threadIdx.x;
    const bool has_weights = i < sixteens;
    float4 mine[4] = {};
    uint32_t largest = 0;
    for (int j = 0; j < 4 && has_weights; ++j) {
        mine[j] = weights[4 * i + j];
        largest = max(largest, largest_of(mine[j]));
    }
    const int threads_of_scale = kind == Fp4Scales::mx ? 2 : 1;
    if (threads_of_scale == 2)
        largest = max(largest, __shfl_xor_sync(wb::kAllLanes, largest, 1));
    if (!has_weights) return;
    const float scale = store_scale(w,
                                    kind,
                                    __uint_as_float(largest),
                                    largest < 0x7F800000u,
                                    i / threads_of_scale,
                                    i % threads_of_scale == 0);
    reinterpret_cast<uint2*>(w.values)[i] = sixteen_codes(mine, scale);
}

/// v2, for channel: a block a row, which it reads twice.
///
/// Launch   grid N, block kThreadsQuantize
/// Traffic  reads N K * 4 B, and again from L2; writes N K / 2 B, and scales
static __global__ void __launch_bounds__(kThreadsQuantize)
    quantize_rows_kernel(const float4* weights,  // [N, K / 4]
                         const Fp4Weights w,
                         int64_t sixteens) {  // of a row
    __shared__ uint32_t s_largest;
    if (threadIdx.x == 0) s_largest = 0;
    __syncthreads();
    const float4* const row = weights + 4 * sixteens * blockIdx.x;
    uint32_t largest = 0;
    for (int64_t i = threadIdx.x; i < 4 * sixteens; i += kThreadsQuantize)
        largest = max(largest, largest_of(row[i]));
    atomicMax(&s_largest, largest);
    __syncthreads();
    const float scale = store_scale(w,
                                    Fp4Scales::channel,
                                    __uint_as_float(s_largest),
                                    s_largest < 0x7F800000u,
                                    blockIdx.x,
                                    threadIdx.x == 0);
    auto* const codes = reinterpret_cast<uint2*>(w.values) + sixteens * blockIdx.x;
    for (int64_t i = threadIdx.x; i < sixteens; i += kThreadsQuantize) {
        const float4 mine[4] = {
            row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]};
        codes[i] = sixteen_codes(mine, scale);
    }
}

static void fp4_quantize_v2(const Fp4Shape& shape,
                            const float* weights,
                            const Fp4Weights& w,
                            cudaStream_t stream) {
    const auto* const vectors = reinterpret_cast<const float4*>(weights);
    if (shape.scales == Fp4Scales::channel) {
        quantize_rows_kernel<<<wb::grid_size(shape.N, 1),
                               kThreadsQuantize,
                               0,
                               stream>>>(vectors, w, shape.K / 16);
    } else {
        const int64_t sixteens = shape.N * (shape.K / 16);
        quantize_groups_kernel<<<wb::grid_size(sixteens, kThreadsQuantize),
                                 kThreadsQuantize,
                                 0,
                                 stream>>>(vectors, w, shape.scales, sixteens);
    }
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-quantize
