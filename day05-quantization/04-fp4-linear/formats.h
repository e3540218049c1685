/// formats.h: given with this exercise: bytes of scales, and what the contract refuses.
/// There is nothing to write here.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/device.h>

#include <cstdint>

#include "arguments.h"
#include "fp4_linear.h"

// #region view
/// W, for kernels that read it.
struct Fp4View {
    const uint8_t* values;  ///< [N, K / 2]
    const void* scales;     ///< [N, K / group]
    const float* global_scale;
    int64_t N;
    int64_t K;
    Fp4Scales kind;

    static Fp4View of(const Fp4Shape& s, const Fp4Weights& w) {
        return {w.values, w.scales, w.global_scale, s.N, s.K, s.scales};
    }

    /// The scale of weights k to k + 15 of row n; k is a multiple of 16.
    __device__ __forceinline__ float scale(int64_t n, int64_t k) const;
};
// #endregion view

// #region bytes
/// A byte of E8M0: 2^(b - 127), which is a float's exponent; 255 is NaN.
__device__ __forceinline__ float e8m0(uint8_t b) {
    if (b == 0) return 0x1p-127f;
    if (b == 255) return __uint_as_float(0x7FC00000u);
    return __uint_as_float(static_cast<uint32_t>(b) << 23);
}

/// A byte of E4M3: a sign, four bits of exponent, bias 7, three of mantissa. 2^-9 is
/// the smallest, 448 the largest; there is no infinity, and 0x7F is NaN.
__device__ __forceinline__ float e4m3(uint8_t b) {
    const uint32_t sign = static_cast<uint32_t>(b & 0x80) << 24;
    if ((b & 0x7F) == 0x7F) return __uint_as_float(0x7FC00000u);
    // As bits of a float this has the exponent e - 127 instead of e - 7.
    const float magnitude =
        __uint_as_float(static_cast<uint32_t>(b & 0x7F) << 20) * 0x1p120f;
    return __uint_as_float(__float_as_uint(magnitude) | sign);
}

/// x >= 0, rounded to E4M3: to the nearest, to even in the middle, at most 448.
__device__ __forceinline__ uint8_t to_e4m3(float x) {
    if (x >= 448.0f) return 126;
    // Below 2^-6 a byte counts 2^-9; 8 of them are the first byte with an exponent.
    if (x < 0x1p-6f) return static_cast<uint8_t>(__float2int_rn(x * 512.0f));
    // Half of the last digit that stays, less one where that digit is even. What is
    // carried goes into the exponent, as it should.
    const uint32_t bits = __float_as_uint(x);
    const uint32_t rounded = (bits + 0x7FFFFu + (bits >> 20 & 1)) >> 20;
    return static_cast<uint8_t>(rounded - (120u << 3));
}
// #endregion bytes

// #region scale
__device__ __forceinline__ float Fp4View::scale(int64_t n, int64_t k) const {
    if (kind == Fp4Scales::channel) return static_cast<const float*>(scales)[n];
    const auto* const bytes = static_cast<const uint8_t*>(scales);
    if (kind == Fp4Scales::mx) return e8m0(bytes[n * (K / 32) + k / 32]);
    return e4m3(bytes[n * (K / 16) + k / 16]) * *global_scale;
}
// #endregion scale

// #region store-scale
/// The scale of a group, and what is stored of it.
///
/// @param largest  magnitude of the group's weights
/// @param place    in w.scales
/// @return  what weights are divided by; 0 where all of them become 0
__device__ __forceinline__ float store_scale(const Fp4Weights& w,
                                             Fp4Scales kind,
                                             float largest,
                                             bool is_finite,
                                             int64_t place,
                                             bool is_mine) {
    auto* const bytes = static_cast<uint8_t*>(w.scales);
    if (kind == Fp4Scales::channel) {
        const float scale = largest / 6.0f;
        const float stored = is_finite ? scale : __uint_as_float(0x7FC00000u);
        if (is_mine) static_cast<float*>(w.scales)[place] = stored;
        return is_finite ? scale : 0.0f;
    }
    if (kind == Fp4Scales::mx) {
        // A float's exponent, 127 more than the power of two, is what E8M0 stores.
        const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 2;
        const auto byte = static_cast<uint8_t>(exponent < 0 ? 0 : exponent);
        if (is_mine) bytes[place] = is_finite ? byte : uint8_t{255};
        return is_finite ? e8m0(byte) : 0.0f;
    }
    const float global = *w.global_scale;
    const uint8_t byte = to_e4m3(largest / 6.0f / global);
    if (is_mine) bytes[place] = is_finite ? byte : uint8_t{0x7F};
    return is_finite ? e4m3(byte) * global : 0.0f;
}
// #endregion store-scale

// #region activation
/// act(z), in float. z sigmoid(s) with s far below 0 is 0, as its limit is, and not
/// -infinity * 0.
__device__ __forceinline__ float activate(float z, Fp4Activation activation) {
    if (activation == Fp4Activation::none) return z;
    constexpr float kC = 1.5957691216057308f;  // 2 sqrt(2 / pi)
    const float s =
        activation == Fp4Activation::silu ? z : kC * z * (1.0f + 0.044715f * z * z);
    if (s < -88.0f) return 0.0f;
    return z / (1.0f + expf(-s));
}
// #endregion activation

// #region arguments
/// Checks a call of fp4_quantize(). @return  whether there is anything to launch
inline bool quantize_has_work(const Fp4Shape& s,
                              const float* weights,
                              const Fp4Weights& w) {
    const Fp4Arguments arguments("fp4_quantize", s);
    arguments.tensors(w);
    arguments.arguments().device("weights", weights, s.N * s.K);
    arguments.vectors("weights", weights);
    arguments.arguments().apart(
        {{"weights", weights, 4 * s.N * s.K, false},
         {"w.global_scale", w.global_scale, 4 * arguments.num_global(), false},
         {"w.values", w.values, w.value_bytes, true},
         {"w.scales", w.scales, arguments.scale_bytes(), true}});
    return s.N > 0 && s.K > 0;
}

/// Checks a call of fp4_linear(). @return  whether there is anything to launch
inline bool linear_has_work(const Fp4Shape& s,
                            Fp4Activation activation,
                            const Fp4Weights& w,
                            const __half* x,
                            const float* bias,
                            __half* y) {
    const Fp4Arguments arguments("fp4_linear", s);
    const wb::Arguments& a = arguments.arguments();
    a.require(activation == Fp4Activation::none || activation == Fp4Activation::silu ||
                  activation == Fp4Activation::gelu,
              "activation",
              static_cast<int64_t>(activation),
              "must be none, silu or gelu");
    arguments.tensors(w);
    if (s.M == 0 || s.N == 0) return false;
    a.device("x", x, s.M * s.K)
        .device("bias", bias, bias == nullptr ? 0 : s.N)
        .device("y", y, s.M * s.N);
    arguments.vectors("x", x);
    arguments.vectors("y", y);
    a.apart({{"w.values", w.values, w.value_bytes, false},
             {"w.scales", w.scales, arguments.scale_bytes(), false},
             {"w.global_scale", w.global_scale, 4 * arguments.num_global(), false},
             {"x", x, 2 * s.M * s.K, false},
             {"bias", bias, bias == nullptr ? 0 : 4 * s.N, false},
             {"y", y, 2 * s.M * s.N, true}});
    a.require(wb::compute_capability() >= 80,
              "the GPU's compute capability, times 10",
              wb::compute_capability(),
              "must be 80 or more: mma.m16n8k16 came with sm_80");
    return true;
}
// #endregion arguments
