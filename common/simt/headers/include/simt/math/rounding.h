/// simt/math/rounding.h: arithmetic with an explicit rounding mode (__fadd_rz,
/// __fma_ru, ...).
///
/// _rn is the CPU's ordinary arithmetic. The directed modes switch the rounding mode of
/// the CPU for one operation; operands and result pass through memory that the compiler
/// cannot see into, so that the operation stays between the two switches.
#pragma once
#include <fenv.h>

#include "simt/math/libm.h"

namespace simt::detail {
/// Hides from the optimiser where `value` comes from.
template <class T>
inline T opaque(T value) {
    asm volatile("" : "+m"(value));
    return value;
}

/// operation(), rounded in the given <fenv.h> mode. Arguments must be made opaque
/// inside.
template <class F>
inline auto rounded(int mode, F operation) {
    const int before = ::fegetround();
    ::fesetround(mode);
    const auto result = opaque(operation());
    ::fesetround(before);
    return result;
}

/// Keeps a product or sum from being contracted into a fused multiply-add with its
/// neighbour.
template <class T>
inline T uncontracted(T value) {
#if defined(__FMA__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#endif
    return value;
}
}  // namespace simt::detail

#define SIMT_DIRECTED(NAME, T, PARAMETERS, EXPRESSION)                                \
    inline T NAME##_rz PARAMETERS {                                                   \
        return simt::detail::rounded(FE_TOWARDZERO,                                   \
                                     [&]() -> T { return EXPRESSION; });              \
    }                                                                                 \
    inline T NAME##_rd PARAMETERS {                                                   \
        return simt::detail::rounded(FE_DOWNWARD, [&]() -> T { return EXPRESSION; }); \
    }                                                                                 \
    inline T NAME##_ru PARAMETERS {                                                   \
        return simt::detail::rounded(FE_UPWARD, [&]() -> T { return EXPRESSION; });   \
    }
#define SIMT_ROUNDED_BINARY(NAME, T, OPERATOR)           \
    inline T NAME##_rn(T a, T b) {                       \
        return simt::detail::uncontracted(a OPERATOR b); \
    }                                                    \
    SIMT_DIRECTED(                                       \
        NAME, T, (T a, T b), simt::detail::opaque(a) OPERATOR simt::detail::opaque(b))
#define SIMT_ROUNDED_FMA(NAME, T, FMA)         \
    inline T NAME##_rn(T a, T b, T c) {        \
        return FMA(a, b, c);                   \
    }                                          \
    SIMT_DIRECTED(NAME,                        \
                  T,                           \
                  (T a, T b, T c),             \
                  FMA(simt::detail::opaque(a), \
                      simt::detail::opaque(b), \
                      simt::detail::opaque(c)))
#define SIMT_ROUNDED_RECIPROCAL(NAME, T) \
    inline T NAME##_rn(T a) {            \
        return T(1) / a;                 \
    }                                    \
    SIMT_DIRECTED(NAME, T, (T a), simt::detail::opaque(T(1)) / simt::detail::opaque(a))
#define SIMT_ROUNDED_SQRT(NAME, T, SQRT) \
    inline T NAME##_rn(T a) {            \
        return SQRT(a);                  \
    }                                    \
    SIMT_DIRECTED(NAME, T, (T a), SQRT(simt::detail::opaque(a)))

SIMT_ROUNDED_BINARY(__fadd, float, +)
SIMT_ROUNDED_BINARY(__fsub, float, -)
SIMT_ROUNDED_BINARY(__fmul, float, *)
SIMT_ROUNDED_BINARY(__fdiv, float, /)
SIMT_ROUNDED_FMA(__fmaf, float, ::fmaf)
SIMT_ROUNDED_RECIPROCAL(__frcp, float)
SIMT_ROUNDED_SQRT(__fsqrt, float, ::sqrtf)

SIMT_ROUNDED_BINARY(__dadd, double, +)
SIMT_ROUNDED_BINARY(__dsub, double, -)
SIMT_ROUNDED_BINARY(__dmul, double, *)
SIMT_ROUNDED_BINARY(__ddiv, double, /)
SIMT_ROUNDED_FMA(__fma, double, ::fma)
SIMT_ROUNDED_RECIPROCAL(__drcp, double)
SIMT_ROUNDED_SQRT(__dsqrt, double, ::sqrt)

#undef SIMT_ROUNDED_SQRT
#undef SIMT_ROUNDED_RECIPROCAL
#undef SIMT_ROUNDED_FMA
#undef SIMT_ROUNDED_BINARY

/// 1 / sqrt(x), rounded once: sqrt and division in double leave 2^-52, far from any
/// float tie that matters except exact ones, which double represents.
inline float __frsqrt_rn(float x) {
    return float(1.0 / ::sqrt(double(x)));
}

/// The same whether or not the program asks to flush subnormals (-ftz): we never flush.
inline float __fmaf_ieee_rn(float a, float b, float c) {
    return __fmaf_rn(a, b, c);
}
inline float __fmaf_ieee_rz(float a, float b, float c) {
    return __fmaf_rz(a, b, c);
}
inline float __fmaf_ieee_rd(float a, float b, float c) {
    return __fmaf_rd(a, b, c);
}
inline float __fmaf_ieee_ru(float a, float b, float c) {
    return __fmaf_ru(a, b, c);
}
