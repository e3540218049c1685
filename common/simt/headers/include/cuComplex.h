/// cuComplex.h: complex numbers in the C style of CUDA: cuFloatComplex,
/// cuDoubleComplex.
#pragma once
#define CU_COMPLEX_H_        // other headers ask for it
#include "simt/math/libm.h"  // before <cmath>: see there

#include <cmath>
#include <limits>

#include "simt/vector_functions.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

namespace simt::detail {
/// x / y, scaled so that the squares of y cannot overflow.
template <class C, class T>
inline C complex_quotient(C x, C y, T scale) {
    const T inverse = T(1) / scale;
    const T ar = x.x * inverse;
    const T ai = x.y * inverse;
    const T br = y.x * inverse;
    const T bi = y.y * inverse;
    const T over = T(1) / (br * br + bi * bi);
    return C{(ar * br + ai * bi) * over, (ai * br - ar * bi) * over};
}
/// |x| from the ratio of its parts, so that no square overflows.
template <class C, class T>
inline T complex_magnitude(C x, T largest) {
    const T a = x.x < 0 ? -x.x : x.x;
    const T b = x.y < 0 ? -x.y : x.y;
    const T more = a > b ? a : b;
    const T less = a > b ? b : a;
    if (more == 0 || more > largest || less > largest) return more + less;
    const T ratio = less / more;
    return more * std::sqrt(1 + ratio * ratio);
}
}  // namespace simt::detail

/// The functions for one precision; T is float or double, F the suffix of its
/// functions.
#define SIMT_COMPLEX(C, T, F)                                                        \
    constexpr T cuCreal##F(C x) {                                                    \
        return x.x;                                                                  \
    }                                                                                \
    constexpr T cuCimag##F(C x) {                                                    \
        return x.y;                                                                  \
    }                                                                                \
    constexpr C make_##C(T real, T imaginary) {                                      \
        return C{real, imaginary};                                                   \
    }                                                                                \
    constexpr C cuConj##F(C x) {                                                     \
        return C{x.x, -x.y};                                                         \
    }                                                                                \
    constexpr C cuCadd##F(C x, C y) {                                                \
        return C{x.x + y.x, x.y + y.y};                                              \
    }                                                                                \
    constexpr C cuCsub##F(C x, C y) {                                                \
        return C{x.x - y.x, x.y - y.y};                                              \
    }                                                                                \
    constexpr C cuCmul##F(C x, C y) {                                                \
        return C{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                      \
    }                                                                                \
    inline C cuCdiv##F(C x, C y) {                                                   \
        return simt::detail::complex_quotient<C, T>(                                 \
            x, y, __builtin_fabs##F(y.x) + __builtin_fabs##F(y.y));                  \
    }                                                                                \
    inline T cuCabs##F(C x) {                                                        \
        return simt::detail::complex_magnitude<C, T>(x,                              \
                                                     std::numeric_limits<T>::max()); \
    }                                                                                \
    constexpr C cuCfma##F(C x, C y, C d) {                                           \
        const T real = x.x * y.x + d.x;                                              \
        const T imaginary = x.x * y.y + d.y;                                         \
        return C{-(x.y * y.y) + real, x.y * y.x + imaginary};                        \
    }
SIMT_COMPLEX(cuFloatComplex, float, f)
SIMT_COMPLEX(cuDoubleComplex, double, )
#undef SIMT_COMPLEX

constexpr cuComplex make_cuComplex(float real, float imaginary) {
    return cuComplex{real, imaginary};
}
constexpr cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
    return cuDoubleComplex{double(x.x), double(x.y)};
}
constexpr cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
    return cuFloatComplex{float(x.x), float(x.y)};
}
