/// simt/saturating.h: what a GPU makes of a number that an integer cannot hold.
#pragma once

#include <limits>
#include <type_traits>

namespace simt::detail {

/// An integral floating-point value (already rounded) as integer To: the nearest that
/// there is. NaN follows the PTX ISA (cvt): 0 from float to a 32-bit integer, otherwise
/// the integer whose only set bit is the top one.
template <class To, class From>
inline To saturating(From rounded) {
    if (rounded != rounded) {
        if (sizeof(From) <= 4 && sizeof(To) <= 4) return To(0);
        return To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1));
    }
    constexpr From kEnd = From(std::numeric_limits<To>::max() / 2 + 1) * From(2);
    if (rounded >= kEnd) return std::numeric_limits<To>::max();
    if (rounded <= From(std::numeric_limits<To>::min())) {
        return std::numeric_limits<To>::min();
    }
    return To(rounded);
}

}  // namespace simt::detail
