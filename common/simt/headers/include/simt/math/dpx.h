/// simt/math/dpx.h: the DPX functions for dynamic programming: sums followed by minima
/// and maxima, on one 32-bit or two packed 16-bit integers.
///
/// Suffix _relu: the result is at least 0. __vib*: also says which operand was chosen
/// (the first, on a tie).
#pragma once
#include "simt/math/packed.h"

namespace simt::detail {
/// Applies f to each pair of 16-bit elements of three words.
template <class Element, class F>
constexpr unsigned int packed3(unsigned int a, unsigned int b, unsigned int c, F f) {
    unsigned int result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const auto value =
            f(Element(a >> shift), Element(b >> shift), Element(c >> shift));
        result |= (static_cast<unsigned int>(value) & 0xffffu) << shift;
    }
    return result;
}
template <class T>
constexpr T smaller_of(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T larger_of(T a, T b) {
    return a < b ? b : a;
}
template <class T>
constexpr T wrapping_sum(T a, T b) {
    return static_cast<T>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b));
}
}  // namespace simt::detail

#define SIMT_DPX3(NAME, SUFFIX, T, EXPRESSION)    \
    constexpr T NAME##32##SUFFIX(T a, T b, T c) { \
        using namespace simt::detail;             \
        return EXPRESSION;                        \
    }
#define SIMT_DPX3_PACKED(NAME, SUFFIX, T, EXPRESSION)                         \
    constexpr unsigned int NAME##16x2##SUFFIX(                                \
        unsigned int x, unsigned int y, unsigned int z) {                     \
        using namespace simt::detail;                                         \
        return packed3<T>(x, y, z, [](T a, T b, T c) { return EXPRESSION; }); \
    }
#define SIMT_DPX_SIGNS(NAME, EXPRESSION)                      \
    SIMT_DPX3(NAME##_s, , int, EXPRESSION)                    \
    SIMT_DPX3(NAME##_u, , unsigned int, EXPRESSION)           \
    SIMT_DPX3(NAME##_s, _relu, int, larger_of(EXPRESSION, 0)) \
    SIMT_DPX3_PACKED(NAME##_s, , short, EXPRESSION)           \
    SIMT_DPX3_PACKED(NAME##_u, , unsigned short, EXPRESSION)  \
    SIMT_DPX3_PACKED(NAME##_s, _relu, short, larger_of<short>(EXPRESSION, 0))

SIMT_DPX_SIGNS(__viaddmax, larger_of(wrapping_sum(a, b), c))
SIMT_DPX_SIGNS(__viaddmin, smaller_of(wrapping_sum(a, b), c))
SIMT_DPX_SIGNS(__vimax3, larger_of(larger_of(a, b), c))
SIMT_DPX_SIGNS(__vimin3, smaller_of(smaller_of(a, b), c))

#undef SIMT_DPX_SIGNS
#undef SIMT_DPX3_PACKED
#undef SIMT_DPX3

constexpr int __vimax_s32_relu(int a, int b) {
    return __vimax3_s32(a, b, 0);
}
constexpr int __vimin_s32_relu(int a, int b) {
    return __vimax3_s32(a < b ? a : b, 0, 0);
}
constexpr unsigned int __vimax_s16x2_relu(unsigned int a, unsigned int b) {
    return __vmaxs2(__vmaxs2(a, b), 0);
}
constexpr unsigned int __vimin_s16x2_relu(unsigned int a, unsigned int b) {
    return __vmaxs2(__vmins2(a, b), 0);
}

#define SIMT_DPX_CHOICE(NAME, SIGN, T, SHORT, OPERATOR)                      \
    constexpr T NAME##_##SIGN##32(T a, T b, bool* first) {                   \
        *first = a OPERATOR b;                                               \
        return *first ? a : b;                                               \
    }                                                                        \
    constexpr unsigned int NAME##_##SIGN##16x2(                              \
        unsigned int a, unsigned int b, bool* first_high, bool* first_low) { \
        *first_high = SHORT(a >> 16) OPERATOR SHORT(b >> 16);                \
        *first_low = SHORT(a) OPERATOR SHORT(b);                             \
        return ((*first_high ? a : b) & 0xffff0000u) |                       \
               ((*first_low ? a : b) & 0x0000ffffu);                         \
    }
SIMT_DPX_CHOICE(__vibmax, s, int, int16_t, >=)
SIMT_DPX_CHOICE(__vibmax, u, unsigned int, uint16_t, >=)
SIMT_DPX_CHOICE(__vibmin, s, int, int16_t, <=)
SIMT_DPX_CHOICE(__vibmin, u, unsigned int, uint16_t, <=)
#undef SIMT_DPX_CHOICE
