/// simt/float16/integers.h: 64-bit integers on their way to a 16-bit floating-point
/// number.
#pragma once
#include "simt/formats.h"
#include "simt/math/convert.h"

namespace simt::detail {
/// The integer as a double, rounded to odd where it does not fit, so that rounding the
/// result to a 16-bit format is the only rounding that counts.
template <class Integer>
constexpr double odd_double(Integer value) {
    static_assert(sizeof(Integer) == 8);
    return add_to_odd(double(value >> 32) * 0x1p32, double(value & 0xffffffff));
}
}  // namespace simt::detail
