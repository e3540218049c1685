/// simt/math/special.h: the normal distribution, inverse error functions, erfcx and
/// modified Bessel functions, as in the CUDA math API.
///
/// Sources: Abramowitz and Stegun 26.2.23 (first guess of the normal quantile), 7.1.23
/// (asymptotic series of erfc); Halley's iteration for the inverses.
#pragma once
#include "simt/math/libm.h"

namespace simt::detail {
constexpr double kSqrtPi = 1.77245385090551602730;
constexpr double kInvSqrt2 = 0.70710678118654752440;
constexpr double kInvSqrt2Low = -4.83364665672645672553e-17;  // 1/sqrt(2) - kInvSqrt2

/// One Halley step towards f(z) = 0 for f = erf - y or y - erfc, given the residual
/// f(z).
inline double halley_erf_step(double z, double residual) {
    const double u = residual * 0.5 * kSqrtPi * ::exp(z * z);
    return z - u / (1.0 + z * u);
}
/// erfinv for |x| <= 1/2, where erf has no cancellation.
inline double erfinv_center(double x) {
    if (::fabs(x) < 1e-9) return 0.5 * kSqrtPi * x;
    double z = 0.5 * kSqrtPi * x * (1.0 + 0.2617993877991494 * x * x);
    for (int i = 0; i < 3; ++i) {
        z = halley_erf_step(z, ::erf(z) - x);
    }
    return z;
}
inline double erfcinv(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
    if (y == 0.0) return __builtin_huge_val();
    if (y == 2.0) return -__builtin_huge_val();
    if (y >= 0.5 && y <= 1.5) return erfinv_center(1.0 - y);
    if (y > 1.0) return -erfcinv(2.0 - y);
    const double t = ::sqrt(-2.0 * ::log(0.5 * y));
    const double numerator = 2.515517 + t * (0.802853 + t * 0.010328);
    const double denominator = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    double z = (t - numerator / denominator) * kInvSqrt2;
    for (int i = 0; i < 3; ++i) {
        z = halley_erf_step(z, y - ::erfc(z));
    }
    return z;
}
inline double erfinv(double x) {
    const double magnitude = ::fabs(x);
    if (!(magnitude <= 1.0)) return __builtin_nan("");
    if (magnitude <= 0.5) return erfinv_center(x);
    // 1 - |x| is exact here, and erfc has no cancellation.
    return ::copysign(erfcinv(1.0 - magnitude), x);
}
inline double normcdf(double x) {
    if (::fabs(x) > 40.0) return x < 0.0 ? 0.0 : 1.0;
    // erfc amplifies the rounding of its argument by 2 t^2: correct it to first order.
    const double t = -x * kInvSqrt2;
    const double low = ::fma(-x, kInvSqrt2, -t) - x * kInvSqrt2Low;
    return 0.5 * (::erfc(t) - low * (2.0 / kSqrtPi) * ::exp(-t * t));
}
/// exp(x * x) * erfc(x)
inline double erfcx(double x) {
    if (x < -27.0) return __builtin_huge_val();
    if (x < 25.0) {
        const double square = x * x;
        const double low = ::fma(x, x, -square);
        const double grown = ::exp(square);
        return grown * (1.0 + low) * ::erfc(x);
    }
    const double q = 0.5 / x / x;
    double series = 1.0;
    for (int k = 13; k >= 1; k -= 2) {
        series = 1.0 - k * q * series;
    }
    return series / (x * kSqrtPi);
}
}  // namespace simt::detail

inline double erfinv(double x) {
    return simt::detail::erfinv(x);
}
inline double erfcinv(double y) {
    return simt::detail::erfcinv(y);
}
inline double normcdf(double x) {
    return simt::detail::normcdf(x);
}
inline double normcdfinv(double p) {
    return -1.41421356237309504880 * erfcinv(2.0 * p);
}
inline double erfcx(double x) {
    return simt::detail::erfcx(x);
}
double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);

#define SIMT_FLOAT_FORMS(NAME)         \
    inline float NAME##f(float x) {    \
        return float(NAME(double(x))); \
    }                                  \
    inline float NAME(float x) {       \
        return float(NAME(double(x))); \
    }
SIMT_FLOAT_FORMS(erfinv)
SIMT_FLOAT_FORMS(erfcinv)
SIMT_FLOAT_FORMS(normcdf)
SIMT_FLOAT_FORMS(normcdfinv)
SIMT_FLOAT_FORMS(erfcx)
SIMT_FLOAT_FORMS(cyl_bessel_i0)
SIMT_FLOAT_FORMS(cyl_bessel_i1)
#undef SIMT_FLOAT_FORMS
