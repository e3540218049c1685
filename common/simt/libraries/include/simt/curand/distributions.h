/// simt/curand/distributions.h: uniform, normal, log-normal and Poisson numbers from
/// random bits.
///
/// Uniform numbers lie in (0, 1] and are those of a GPU to the last bit. Normal numbers
/// differ in their last bits, since a GPU takes approximations of sine and cosine.
#pragma once
#include "simt/curand/philox.h"
#include "simt/curand/xorwow.h"
#include "simt/math/elementary.h"

namespace simt::detail {
// Fused like the GPU's instructions; the half step keeps 0 out of the range.
inline float uniform_float(unsigned int x) {
    return __builtin_fmaf(float(x), 0x1p-32f, 0x1p-33f);
}
inline double uniform_double(unsigned int x) {
    return __builtin_fma(double(x), 0x1p-32, 0x1p-32);
}
inline double uniform_double(unsigned int x, unsigned int y) {
    const unsigned long long z = x ^ (static_cast<unsigned long long>(y) << 21);
    return __builtin_fma(double(z), 0x1p-53, 0x1p-54);
}

/// Two independent normal numbers (Box and Muller).
inline float2 box_muller(unsigned int x, unsigned int y) {
    constexpr float kTurn = 0x1p-32f * 6.2831855f;
    const float radius = ::sqrtf(-2.0f * ::logf(uniform_float(x)));
    float sine, cosine;
    ::sincosf(__builtin_fmaf(float(y), kTurn, kTurn / 2), &sine, &cosine);
    return float2{sine * radius, cosine * radius};
}
inline double2 box_muller_double(uint4 x) {
    const double radius = ::sqrt(-2.0 * ::log(uniform_double(x.x, x.y)));
    double sine, cosine;
    simt::detail::sincospi(2.0 * uniform_double(x.z, x.w), &sine, &cosine);
    return double2{sine * radius, cosine * radius};
}
/// Four times 32 bits, drawn as the double-precision distributions do.
inline uint4 four_words(curandStatePhilox4_32_10_t* state) {
    return curand4(state);
}
inline uint4 four_words(curandStateXORWOW_t* state) {
    uint4 r;
    r.x = curand(state);
    r.y = curand(state);
    r.z = curand(state);
    r.w = curand(state);
    return r;
}
}  // namespace simt::detail

inline float curand_uniform(curandStateXORWOW_t* state) {
    return simt::detail::uniform_float(curand(state));
}
inline float curand_uniform(curandStatePhilox4_32_10_t* state) {
    return simt::detail::uniform_float(curand(state));
}
inline float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return float4{simt::detail::uniform_float(x.x), simt::detail::uniform_float(x.y),
                  simt::detail::uniform_float(x.z), simt::detail::uniform_float(x.w)};
}
/// Of 53 bits for XORWOW, of 32 bits for Philox.
inline double curand_uniform_double(curandStateXORWOW_t* state) {
    const unsigned int x = curand(state);
    return simt::detail::uniform_double(x, curand(state));
}
inline double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
    return simt::detail::uniform_double(curand(state));
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return double2{simt::detail::uniform_double(x.x, x.y),
                   simt::detail::uniform_double(x.z, x.w)};
}
inline double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
    const double2 a = curand_uniform2_double(state);
    const double2 b = curand_uniform2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}

/// Normal numbers come in pairs: the second is kept for the next call.
template <class State>
inline float2 curand_normal2(State* state) {
    const unsigned int x = curand(state);
    return simt::detail::box_muller(x, curand(state));
}
template <class State>
inline float curand_normal(State* state) {
    state->boxmuller_flag = !state->boxmuller_flag;
    if (!state->boxmuller_flag) return state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    return pair.x;
}
inline float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    const float2 a = simt::detail::box_muller(x.x, x.y);
    const float2 b = simt::detail::box_muller(x.z, x.w);
    return float4{a.x, a.y, b.x, b.y};
}
template <class State>
inline double2 curand_normal2_double(State* state) {
    return simt::detail::box_muller_double(simt::detail::four_words(state));
}
inline double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
    const double2 a = curand_normal2_double(state);
    const double2 b = curand_normal2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}
template <class State>
inline double curand_normal_double(State* state) {
    state->boxmuller_flag_double = !state->boxmuller_flag_double;
    if (!state->boxmuller_flag_double) return state->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    return pair.x;
}

/// exp(mean + deviation * normal)
template <class State>
inline float curand_log_normal(State* state, float mean, float deviation) {
    return ::expf(mean + deviation * curand_normal(state));
}
template <class State>
inline float2 curand_log_normal2(State* state, float mean, float deviation) {
    const float2 pair = curand_normal2(state);
    return float2{::expf(mean + deviation * pair.x), ::expf(mean + deviation * pair.y)};
}
inline float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean,
                                 float deviation) {
    const float4 x = curand_normal4(state);
    return float4{::expf(mean + deviation * x.x), ::expf(mean + deviation * x.y),
                  ::expf(mean + deviation * x.z), ::expf(mean + deviation * x.w)};
}
template <class State>
inline double2 curand_log_normal2_double(State* state, double mean, double deviation) {
    const double2 pair = curand_normal2_double(state);
    return double2{::exp(mean + deviation * pair.x), ::exp(mean + deviation * pair.y)};
}
inline double4 curand_log_normal4_double(curandStatePhilox4_32_10_t* state, double mean,
                                         double deviation) {
    const double2 a = curand_log_normal2_double(state, mean, deviation);
    const double2 b = curand_log_normal2_double(state, mean, deviation);
    return double4{a.x, a.y, b.x, b.y};
}
template <class State>
inline double curand_log_normal_double(State* state, double mean, double deviation) {
    return ::exp(mean + deviation * curand_normal_double(state));
}

/// A Poisson number: Knuth's product of uniform numbers, in portions that exp can hold;
/// for large lambda the normal approximation, as CUDA does.
template <class State>
inline unsigned int curand_poisson(State* state, double lambda) {
    if (lambda > 4000.0) {
        return static_cast<unsigned int>(::sqrt(lambda) * curand_normal_double(state) +
                                         lambda + 0.5);
    }
    unsigned int count = 0;
    for (double rest = lambda; rest > 0.0; rest -= 63.0) {
        float product = ::expf(static_cast<float>(rest < 63.0 ? rest : 63.0));
        for (product *= curand_uniform(state); product > 1.0f;
             product *= curand_uniform(state)) {
            ++count;
        }
    }
    return count;
}
inline uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
    uint4 result;
    for (unsigned* one : {&result.x, &result.y, &result.z, &result.w})
        *one = curand_poisson(state, lambda);
    return result;
}
