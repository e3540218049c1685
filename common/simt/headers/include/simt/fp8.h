/// simt/fp8.h: the 8-bit floating-point types e4m3 and e5m2, their vectors and
/// conversions, as in CUDA's cuda_fp8.h.
///
/// The constructors saturate: what is too large becomes the largest number. The
/// __nv_cvt_* functions do so on request, otherwise it becomes infinity (e5m2) or NaN
/// (e4m3).
#pragma once
#include "simt/bfloat16.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace simt::detail {
template <class Real>
constexpr __nv_fp8_storage_t to_fp8(Real x,
                                    __nv_saturation_t saturate,
                                    __nv_fp8_interpretation_t kind) {
    const bool finite = saturate == __NV_SATFINITE;
    return kind == __NV_E4M3 ? round_to<E4m3>(x, Rounding::nearest, finite)
                             : round_to<E5m2>(x, Rounding::nearest, finite);
}
constexpr float from_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return kind == __NV_E4M3 ? widen<E4m3>(x) : widen<E5m2>(x);
}
constexpr __nv_fp8x2_storage_t pack_fp8(unsigned low, unsigned high) {
    return static_cast<__nv_fp8x2_storage_t>(low | high << 8);
}
}  // namespace simt::detail

constexpr __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x,
                                                    __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind) {
    return simt::detail::to_fp8(x, saturate, kind);
}
constexpr __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x,
                                                   __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t kind) {
    return simt::detail::to_fp8(x, saturate, kind);
}
constexpr __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x,
                                                     __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
    return simt::detail::to_fp8(float(__half(x)), saturate, kind);
}
constexpr __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(
    __nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return simt::detail::to_fp8(float(__nv_bfloat16(x)), saturate, kind);
}

/// Two at once; x is in the low byte.
constexpr __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(
    double2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return simt::detail::pack_fp8(simt::detail::to_fp8(v.x, saturate, kind),
                                  simt::detail::to_fp8(v.y, saturate, kind));
}
constexpr __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(
    float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return simt::detail::pack_fp8(simt::detail::to_fp8(v.x, saturate, kind),
                                  simt::detail::to_fp8(v.y, saturate, kind));
}
constexpr __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(
    __half2_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return simt::detail::pack_fp8(
        __nv_cvt_halfraw_to_fp8(__half_raw{v.x}, saturate, kind),
        __nv_cvt_halfraw_to_fp8(__half_raw{v.y}, saturate, kind));
}
constexpr __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(
    __nv_bfloat162_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return simt::detail::pack_fp8(
        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.x}, saturate, kind),
        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.y}, saturate, kind));
}

/// Back to half: exact.
constexpr __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                             __nv_fp8_interpretation_t kind) {
    return __half(simt::detail::from_fp8(x, kind));
}
constexpr __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                 __nv_fp8_interpretation_t kind) {
    return __half2_raw{__nv_cvt_fp8_to_halfraw(x & 0xff, kind).x,
                       __nv_cvt_fp8_to_halfraw(x >> 8, kind).x};
}

namespace simt {

/// One 8-bit number. All conversions are explicit, arithmetic there is none.
template <__nv_fp8_interpretation_t kKind>
struct Fp8 {
    __nv_fp8_storage_t __x;

    Fp8() = default;
    explicit constexpr Fp8(__half v) : Fp8(float(v)) {}
    explicit constexpr Fp8(__nv_bfloat16 v) : Fp8(float(v)) {}
    explicit constexpr Fp8(float v) : __x(detail::to_fp8(v, __NV_SATFINITE, kKind)) {}
    explicit constexpr Fp8(double v) : __x(detail::to_fp8(v, __NV_SATFINITE, kKind)) {}
    template <class Integer>
    requires(std::is_integral_v<Integer>) explicit constexpr Fp8(Integer v)
        : Fp8(static_cast<double>(v)) {}

    explicit constexpr operator float() const { return detail::from_fp8(__x, kKind); }
    explicit constexpr operator double() const { return float(*this); }
    explicit constexpr operator __half() const { return __half(float(*this)); }
    explicit constexpr operator __nv_bfloat16() const {
        return __nv_bfloat16(float(*this));
    }
    explicit constexpr operator bool() const { return (__x & 0x7f) != 0; }
    template <class Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)  //
        explicit
        operator Integer() const {
        return detail::saturating<Integer>(__builtin_truncf(float(*this)));
    }
};

/// Two 8-bit numbers.
template <__nv_fp8_interpretation_t kKind>
struct Fp8x2 {
    __nv_fp8x2_storage_t __x;

    Fp8x2() = default;
    explicit constexpr Fp8x2(double2 v)
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
    explicit constexpr Fp8x2(float2 v)
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
    explicit constexpr Fp8x2(__half2 v)
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}
    explicit constexpr Fp8x2(__nv_bfloat162 v)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kKind)) {}

    explicit constexpr operator float2() const {
        return float2{detail::from_fp8(__x & 0xff, kKind),
                      detail::from_fp8(__x >> 8, kKind)};
    }
    explicit constexpr operator __half2() const {
        return __nv_cvt_fp8x2_to_halfraw2(__x, kKind);
    }
};

/// Four 8-bit numbers.
template <__nv_fp8_interpretation_t kKind>
struct Fp8x4 {
    __nv_fp8x4_storage_t __x;

    Fp8x4() = default;
    explicit constexpr Fp8x4(float4 v)
        : Fp8x4(Fp8x2<kKind>(float2{v.x, v.y}), Fp8x2<kKind>(float2{v.z, v.w})) {}
    explicit constexpr Fp8x4(double4 v)
        : Fp8x4(Fp8x2<kKind>(double2{v.x, v.y}), Fp8x2<kKind>(double2{v.z, v.w})) {}
    explicit constexpr Fp8x4(__half2 low, __half2 high)
        : Fp8x4(Fp8x2<kKind>(low), Fp8x2<kKind>(high)) {}
    explicit constexpr Fp8x4(__nv_bfloat162 low, __nv_bfloat162 high)
        : Fp8x4(Fp8x2<kKind>(low), Fp8x2<kKind>(high)) {}

    explicit constexpr operator float4() const {
        return float4{detail::from_fp8(__x & 0xff, kKind),
                      detail::from_fp8(__x >> 8 & 0xff, kKind),
                      detail::from_fp8(__x >> 16 & 0xff, kKind),
                      detail::from_fp8(__x >> 24, kKind)};
    }

 private:
    constexpr Fp8x4(Fp8x2<kKind> low, Fp8x2<kKind> high)
        : __x(low.__x | unsigned(high.__x) << 16) {}
};

}  // namespace simt

using __nv_fp8_e4m3 = simt::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = simt::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = simt::Fp8x2<__NV_E4M3>;
using __nv_fp8x2_e5m2 = simt::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e4m3 = simt::Fp8x4<__NV_E4M3>;
using __nv_fp8x4_e5m2 = simt::Fp8x4<__NV_E5M2>;

template <>
struct simt::FormatOf<__nv_fp8_e4m3> {
    using type = E4m3;
};
