/// simt/math/elementary.h: functions that CUDA adds to the C library's: roots,
/// trigonometry in units of pi, powers of ten, norms. Each has the forms f(double),
/// f(float) and ff(float).
///
/// Float versions compute in double and round once, so they are at least as accurate as
/// CUDA promises (at most 2 ulp).
#pragma once
#include "simt/math/libm.h"

// glibc declares sinpi and cospi itself since 2.41, rsqrt since 2.42 (C23 functions).
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 41)
#define SIMT_LIBM_HAS_SINPI
#endif
#if __GLIBC_PREREQ(2, 42)
#define SIMT_LIBM_HAS_RSQRT
#endif
#endif

/// 1 / sqrt(x)
#ifndef SIMT_LIBM_HAS_RSQRT
inline double rsqrt(double x) {
    return 1.0 / __builtin_sqrt(x);
}
inline float rsqrtf(float x) {
    return 1.0f / __builtin_sqrtf(x);
}
#endif
inline float rsqrt(float x) {
    return 1.0f / __builtin_sqrtf(x);
}

/// 1 / cbrt(x)
inline double rcbrt(double x) {
    return 1.0 / ::cbrt(x);
}
inline float rcbrtf(float x) {
    return float(1.0 / ::cbrt(double(x)));
}
inline float rcbrt(float x) {
    return rcbrtf(x);
}

namespace simt::detail {
constexpr double kPi = 3.14159265358979323846;

/// sin(pi * x) and cos(pi * x). The reduction to |r| <= 1/4 is exact, so that multiples
/// of 1/2 give exact results.
inline void sincospi(double x, double* s, double* c) {
    if (!(__builtin_fabs(x) < __builtin_huge_val())) {
        *s = *c = x - x;  // NaN, as for sin(inf)
        return;
    }
    const double turn = ::fmod(x, 2.0);
    const double quarters = __builtin_rint(turn * 2.0);
    const double r = (turn - 0.5 * quarters) * kPi;
    const double sr = ::sin(r);
    const double cr = ::cos(r);
    switch (int(quarters) & 3) {
        case 0:
            *s = sr, *c = cr;
            break;
        case 1:
            *s = cr, *c = -sr;
            break;
        case 2:
            *s = -sr, *c = -cr;
            break;
        default:
            *s = -cr, *c = sr;
            break;
    }
    if (*s == 0.0) *s = __builtin_copysign(0.0, x);
    if (*c == 0.0) *c = 0.0;
}
}  // namespace simt::detail

inline void sincospi(double x, double* s, double* c) {
    simt::detail::sincospi(x, s, c);
}
inline void sincospif(float x, float* s, float* c) {
    double ds, dc;
    simt::detail::sincospi(x, &ds, &dc);
    *s = float(ds);
    *c = float(dc);
}
inline void sincospi(float x, float* s, float* c) {
    sincospif(x, s, c);
}

/// sin(pi * x), cos(pi * x)
#ifndef SIMT_LIBM_HAS_SINPI
inline double sinpi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return s;
}
inline double cospi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return c;
}
inline float sinpif(float x) {
    return float(sinpi(double(x)));
}
inline float cospif(float x) {
    return float(cospi(double(x)));
}
#endif
inline float sinpi(float x) {
    return sinpif(x);
}
inline float cospi(float x) {
    return cospif(x);
}

inline void sincos(float x, float* s, float* c) {
    ::sincosf(x, s, c);
}
inline float exp10(float x) {
    return ::exp10f(x);
}

/// Bessel functions; those of the second argument list are the C library's.
inline float j0(float x) {
    return ::j0f(x);
}
inline float j1(float x) {
    return ::j1f(x);
}
inline float jn(int n, float x) {
    return ::jnf(n, x);
}
inline float y0(float x) {
    return ::y0f(x);
}
inline float y1(float x) {
    return ::y1f(x);
}
inline float yn(int n, float x) {
    return ::ynf(n, x);
}

inline double fdivide(double x, double y) {
    return x / y;
}
inline float fdividef(float x, float y) {
    return x / y;
}
inline float fdivide(float x, float y) {
    return x / y;
}

/// Clamp to [0, 1]; NaN becomes 0.
inline float __saturatef(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

/// Euclidean norms and their reciprocals, without overflow of the squares.
inline double norm3d(double a, double b, double c) {
    return std::hypot(a, b, c);
}
inline double norm4d(double a, double b, double c, double d) {
    return ::hypot(std::hypot(a, b, c), d);
}
inline double norm(int dim, const double* p) {
    double scale = 0.0;
    for (int i = 0; i < dim; ++i) {
        scale = ::fmax(scale, ::fabs(p[i]));
    }
    if (scale == 0.0 || scale == __builtin_huge_val()) return scale;
    double sum = 0.0;
    for (int i = 0; i < dim; ++i) {
        sum += (p[i] / scale) * (p[i] / scale);
    }
    return scale * ::sqrt(sum);
}
inline double rhypot(double a, double b) {
    return 1.0 / ::hypot(a, b);
}
inline double rnorm3d(double a, double b, double c) {
    return 1.0 / norm3d(a, b, c);
}
inline double rnorm4d(double a, double b, double c, double d) {
    return 1.0 / norm4d(a, b, c, d);
}
inline double rnorm(int dim, const double* p) {
    return 1.0 / norm(dim, p);
}

// No float square overflows or underflows in double: the sums need no scaling.
inline float norm3df(float a, float b, float c) {
    return float(::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float norm4df(float a, float b, float c, float d) {
    return float(::sqrt(double(a) * a + double(b) * b + double(c) * c + double(d) * d));
}
inline float normf(int dim, const float* p) {
    double sum = 0.0;
    for (int i = 0; i < dim; ++i) {
        sum += double(p[i]) * p[i];
    }
    return float(::sqrt(sum));
}
inline float rhypotf(float a, float b) {
    return float(1.0 / ::sqrt(double(a) * a + double(b) * b));
}
inline float rhypot(float a, float b) {
    return rhypotf(a, b);
}
inline float rnorm3df(float a, float b, float c) {
    return float(1.0 / ::sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float rnorm4df(float a, float b, float c, float d) {
    const double sum = double(a) * a + double(b) * b + double(c) * c + double(d) * d;
    return float(1.0 / ::sqrt(sum));
}
inline float rnormf(int dim, const float* p) {
    double sum = 0.0;
    for (int i = 0; i < dim; ++i) {
        sum += double(p[i]) * p[i];
    }
    return float(1.0 / ::sqrt(sum));
}
