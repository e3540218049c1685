/// cuComplex.h: complex numbers in the C style of CUDA: cuFloatComplex,
/// cuDoubleComplex.
#pragma once
#define CU_COMPLEX_H_  // other headers ask for it
#include "simt/math/libm.h"
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
}  // namespace simt::detail

/// The functions for one precision; T is float or double, F the suffix of its
/// functions.
#define SIMT_COMPLEX(C, T, F)                                       \
    constexpr T cuCreal##F(C x) {                                   \
        return x.x;                                                 \
    }                                                               \
    constexpr T cuCimag##F(C x) {                                   \
        return x.y;                                                 \
    }                                                               \
    constexpr C make_##C(T real, T imaginary) {                     \
        return C{real, imaginary};                                  \
    }                                                               \
    constexpr C cuConj##F(C x) {                                    \
        return C{x.x, -x.y};                                        \
    }                                                               \
    constexpr C cuCadd##F(C x, C y) {                               \
        return C{x.x + y.x, x.y + y.y};                             \
    }                                                               \
    constexpr C cuCsub##F(C x, C y) {                               \
        return C{x.x - y.x, x.y - y.y};                             \
    }                                                               \
    constexpr C cuCmul##F(C x, C y) {                               \
        return C{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};     \
    }                                                               \
    inline C cuCdiv##F(C x, C y) {                                  \
        return simt::detail::complex_quotient<C, T>(                \
            x, y, __builtin_fabs##F(y.x) + __builtin_fabs##F(y.y)); \
    }                                                               \
    inline T cuCabs##F(C x) {                                       \
        return ::hypot##F(x.x, x.y);                                \
    }                                                               \
    constexpr C cuCfma##F(C x, C y, C d) {                          \
        return cuCadd##F(cuCmul##F(x, y), d);                       \
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
