/// simt/math/convert.h: conversions between numbers with a rounding mode, and between
/// numbers and their bits.
///
/// Out-of-range values saturate, as on the GPU.
#pragma once
#include <bit>

#include "simt/math/rounding.h"
#include "simt/saturating.h"

#define SIMT_TO_INTEGER(FROM, F, NAME, TO)                          \
    inline TO __##FROM##2##NAME##_rn(FROM x) {                      \
        return simt::detail::saturating<TO>(__builtin_rint##F(x));  \
    }                                                               \
    inline TO __##FROM##2##NAME##_rz(FROM x) {                      \
        return simt::detail::saturating<TO>(__builtin_trunc##F(x)); \
    }                                                               \
    inline TO __##FROM##2##NAME##_rd(FROM x) {                      \
        return simt::detail::saturating<TO>(__builtin_floor##F(x)); \
    }                                                               \
    inline TO __##FROM##2##NAME##_ru(FROM x) {                      \
        return simt::detail::saturating<TO>(__builtin_ceil##F(x));  \
    }
SIMT_TO_INTEGER(float, f, int, int)
SIMT_TO_INTEGER(float, f, uint, unsigned int)
SIMT_TO_INTEGER(float, f, ll, long long)
SIMT_TO_INTEGER(float, f, ull, unsigned long long)
SIMT_TO_INTEGER(double, , int, int)
SIMT_TO_INTEGER(double, , uint, unsigned int)
SIMT_TO_INTEGER(double, , ll, long long)
SIMT_TO_INTEGER(double, , ull, unsigned long long)
#undef SIMT_TO_INTEGER

#define SIMT_ROUNDED_FROM(NAME, FROM, TO) \
    inline TO NAME##_rn(FROM x) {         \
        return TO(x);                     \
    }                                     \
    SIMT_DIRECTED(NAME, TO, (FROM x), TO(simt::detail::opaque(x)))
SIMT_ROUNDED_FROM(__int2float, int, float)
SIMT_ROUNDED_FROM(__uint2float, unsigned int, float)
SIMT_ROUNDED_FROM(__ll2float, long long, float)
SIMT_ROUNDED_FROM(__ull2float, unsigned long long, float)
SIMT_ROUNDED_FROM(__ll2double, long long, double)
SIMT_ROUNDED_FROM(__ull2double, unsigned long long, double)
SIMT_ROUNDED_FROM(__double2float, double, float)
#undef SIMT_ROUNDED_FROM
#undef SIMT_DIRECTED
inline double __int2double_rn(int x) {
    return x;
}
inline double __uint2double_rn(unsigned int x) {
    return x;
}

constexpr int __float_as_int(float x) {
    return std::bit_cast<int>(x);
}
constexpr unsigned int __float_as_uint(float x) {
    return std::bit_cast<unsigned int>(x);
}
constexpr float __int_as_float(int x) {
    return std::bit_cast<float>(x);
}
constexpr float __uint_as_float(unsigned int x) {
    return std::bit_cast<float>(x);
}
constexpr long long __double_as_longlong(double x) {
    return std::bit_cast<long long>(x);
}
constexpr double __longlong_as_double(long long x) {
    return std::bit_cast<double>(x);
}
constexpr int __double2hiint(double x) {
    return int(__double_as_longlong(x) >> 32);
}
constexpr int __double2loint(double x) {
    return int(__double_as_longlong(x));
}
constexpr double __hiloint2double(int hi, int lo) {
    return __longlong_as_double((long long)(unsigned(hi)) << 32 | unsigned(lo));
}
