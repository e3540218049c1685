/// simt/math/fast.h: the fast intrinsics (__expf and its relatives).
///
/// On a GPU they are approximations of a few ulp; here they are as accurate as the C
/// library. What differs in kind from the exact functions is kept: __powf of a negative
/// base is NaN, since the hardware computes exp2(y * log2(x)), and __fdividef gives 0
/// for huge divisors.
#pragma once
#include "simt/math/libm.h"

inline float __expf(float x) {
    return ::expf(x);
}
inline float __exp10f(float x) {
    return ::exp10f(x);
}
inline float __logf(float x) {
    return ::logf(x);
}
inline float __log2f(float x) {
    return ::log2f(x);
}
inline float __log10f(float x) {
    return ::log10f(x);
}
inline float __sinf(float x) {
    return ::sinf(x);
}
inline float __cosf(float x) {
    return ::cosf(x);
}
inline float __tanf(float x) {
    return ::tanf(x);
}
inline float __tanhf(float x) {
    return ::tanhf(x);
}
inline void __sincosf(float x, float* s, float* c) {
    ::sincosf(x, s, c);
}
inline float __powf(float x, float y) {
    return float(::exp2(double(y) * ::log2(double(x))));
}
inline float __fdividef(float x, float y) {
    const float magnitude = __builtin_fabsf(y);
    if (magnitude > 0x1p126f && magnitude < __builtin_huge_valf()) return x * 0.0f;
    return x / y;
}
