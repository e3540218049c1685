/// simt/inline_ptx/convert.h: PTX's cvt. A part of simt/inline_ptx.h.
///
/// Source: PTX ISA, "cvt": what is out of range becomes the nearest number that is not;
/// NaN becomes 0, or the integer whose only set bit is the top one if a double or a
/// 64-bit integer takes part.
#pragma once
#include <fenv.h>

#include "simt/formats.h"
#include "simt/inline_ptx/numbers.h"
#include "simt/math/convert.h"

namespace simt::ptx {

/// 16-bit floats in a register.
template <class Format>
struct Short {
    using format = Format;
    uint16_t bits;
    explicit Short(uint16_t b) : bits(b) {}
    operator uint16_t() const { return bits; }
};
using Half = Short<Binary16>;
using Brain = Short<Bfloat16>;

template <class T>
constexpr bool kIsShort = false;
template <class Format>
constexpr bool kIsShort<Short<Format>> = true;

/// The nearest integral number in a direction.
template <int kMode, class T>
T integral(T a) {
    if constexpr (kMode == FE_TOWARDZERO) return std::trunc(a);
    if constexpr (kMode == FE_DOWNWARD) return std::floor(a);
    if constexpr (kMode == FE_UPWARD) return std::ceil(a);
    return std::nearbyint(a);
}

template <int kMode>
constexpr Rounding kRounding = kMode == FE_TOWARDZERO ? Rounding::zero
                               : kMode == FE_DOWNWARD ? Rounding::down
                               : kMode == FE_UPWARD   ? Rounding::up
                                                      : Rounding::nearest;

/// cvt.rna.tf32: a float with 10 bits of mantissa, ties away from zero, as its bits.
/// Of a NaN the other bits are cut off: one that has no other bits becomes an infinity
/// (measured on an H200, CUDA 13.0).
inline uint32_t to_tf32(float a) {
    const uint32_t bits = std::bit_cast<uint32_t>(a);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return (finite ? bits + 0x1000u : bits) & 0xffffe000u;
}

/// cvt.rn.satfinite.e4m3x2, .e5m2x2: two bytes, the second number in the low one.
template <class Format>
uint16_t to_fp8_pair(float high, float low) {
    const unsigned a = round_to<Format>(high, Rounding::nearest, true);
    const unsigned b = round_to<Format>(low, Rounding::nearest, true);
    return static_cast<uint16_t>(a << 8 | b);
}

template <class To, class From, int kMode, bool kIntegral, bool kFlush, bool kSaturate>
To convert(From a) {
    if constexpr (kIsShort<From>) {
        const float wide = widen<typename From::format>(a.bits);
        return convert<To, float, kMode, kIntegral, kFlush, kSaturate>(wide);
    } else if constexpr (kIsShort<To>) {
        using Real = std::conditional_t<std::is_same_v<From, float>, float, double>;
        Real value = static_cast<Real>(a);
        if (kIntegral) value = integral<kMode>(value);
        value = saturated<kSaturate>(value);
        return To(round_to<typename To::format>(value, kRounding<kMode>));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        return detail::saturating<To>(integral<kMode>(flushed<kFlush>(a)));
    } else if constexpr (std::is_floating_point_v<From>) {
        const From value =
            kIntegral ? integral<kMode>(flushed<kFlush>(a)) : flushed<kFlush>(a);
        const To result = detail::rounded(
            kMode, [&]() -> To { return static_cast<To>(detail::opaque(value)); });
        return saturated<kSaturate>(flushed<kFlush>(result));
    } else if constexpr (std::is_floating_point_v<To>) {
        return saturated<kSaturate>(detail::rounded(
            kMode, [&]() -> To { return static_cast<To>(detail::opaque(a)); }));
    } else {
        using Limits = std::numeric_limits<To>;
        if (kSaturate && std::cmp_less(a, Limits::min())) return Limits::min();
        if (kSaturate && std::cmp_greater(a, Limits::max())) return Limits::max();
        return static_cast<To>(a);
    }
}

/// Two 16-bit floats in a register of 32 bits.
template <class To, int kMode, bool kIntegral, bool kFlush, bool kSaturate>
uint32_t convert_pair(float high, float low) {
    const auto half = [](float a) {
        return convert<To, float, kMode, kIntegral, kFlush, kSaturate>(a).bits;
    };
    return static_cast<uint32_t>(half(high)) << 16 | half(low);
}

}  // namespace simt::ptx
