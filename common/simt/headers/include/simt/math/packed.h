/// simt/math/packed.h: SIMD within a word: arithmetic on the two 16-bit (suffix 2) or
/// four 8-bit (suffix 4) integers packed in an unsigned int.
///
/// Letters after the operation: s or u for signed or unsigned elements, ss or us for
/// signed or unsigned saturation. __vcmp* gives all ones where true, __vset* gives 1.
#pragma once
#include <cstdint>

namespace simt::detail {
/// Applies f to each pair of elements. The elements widen to int, the results wrap
/// back.
template <class Element, class F>
constexpr unsigned int packed(unsigned int a, unsigned int b, F f) {
    constexpr int kBits = 8 * sizeof(Element);
    unsigned int result = 0;
    for (int shift = 0; shift < 32; shift += kBits) {
        const int value = f(int(Element(a >> shift)), int(Element(b >> shift)));
        result |= (unsigned(value) & ((1u << kBits) - 1u)) << shift;
    }
    return result;
}
template <class Element>
constexpr int clamp_to(int value) {
    constexpr int kLowest =
        Element(-1) < Element(0) ? -(1 << (8 * sizeof(Element) - 1)) : 0;
    constexpr int kHighest = kLowest + (1 << 8 * sizeof(Element)) - 1;
    return value < kLowest ? kLowest : value > kHighest ? kHighest : value;
}
/// The sum of the elements of a packed word.
template <class Element>
constexpr unsigned int packed_sum(unsigned int a) {
    unsigned int sum = 0;
    for (int shift = 0; shift < 32; shift += int(8 * sizeof(Element))) {
        sum += unsigned(int(Element(a >> shift)));
    }
    return sum;
}
constexpr int distance(int x, int y) {
    return x > y ? x - y : y - x;
}
}  // namespace simt::detail

#define SIMT_PACKED2(NAME, ELEMENT, EXPRESSION)                               \
    constexpr unsigned int NAME(unsigned int a, unsigned int b) {             \
        return simt::detail::packed<ELEMENT>(                                 \
            a, b, [](int x, int y) { return static_cast<int>(EXPRESSION); }); \
    }
#define SIMT_PACKED1(NAME, ELEMENT, EXPRESSION)                              \
    constexpr unsigned int NAME(unsigned int a) {                            \
        return simt::detail::packed<ELEMENT>(                                \
            a, 0u, [](int x, int) { return static_cast<int>(EXPRESSION); }); \
    }
#define SIMT_PACKED_COMPARISON(NAME, WIDTH, ELEMENT, OPERATOR)        \
    SIMT_PACKED2(__vcmp##NAME##WIDTH, ELEMENT, x OPERATOR y ? -1 : 0) \
    SIMT_PACKED2(__vset##NAME##WIDTH, ELEMENT, x OPERATOR y)

/// All functions of one width; S and U are its signed and unsigned element types.
#define SIMT_PACKED_FAMILY(W, S, U)                                         \
    SIMT_PACKED2(__vadd##W, U, x + y)                                       \
    SIMT_PACKED2(__vsub##W, U, x - y)                                       \
    SIMT_PACKED2(__vaddss##W, S, simt::detail::clamp_to<S>(x + y))          \
    SIMT_PACKED2(__vaddus##W, U, simt::detail::clamp_to<U>(x + y))          \
    SIMT_PACKED2(__vsubss##W, S, simt::detail::clamp_to<S>(x - y))          \
    SIMT_PACKED2(__vsubus##W, U, simt::detail::clamp_to<U>(x - y))          \
    SIMT_PACKED2(__vmaxs##W, S, x > y ? x : y)                              \
    SIMT_PACKED2(__vmaxu##W, U, x > y ? x : y)                              \
    SIMT_PACKED2(__vmins##W, S, x < y ? x : y)                              \
    SIMT_PACKED2(__vminu##W, U, x < y ? x : y)                              \
    SIMT_PACKED2(__vabsdiffs##W, S, simt::detail::distance(x, y))           \
    SIMT_PACKED2(__vabsdiffu##W, U, simt::detail::distance(x, y))           \
    SIMT_PACKED2(__vavgs##W, S, (x + y + (x + y >= 0)) >> 1)                \
    SIMT_PACKED2(__vavgu##W, U, (x + y + 1) >> 1)                           \
    SIMT_PACKED2(__vhaddu##W, U, (x + y) >> 1)                              \
    SIMT_PACKED1(__vabs##W, S, x < 0 ? -x : x)                              \
    SIMT_PACKED1(__vabsss##W, S, simt::detail::clamp_to<S>(x < 0 ? -x : x)) \
    SIMT_PACKED1(__vneg##W, S, -x)                                          \
    SIMT_PACKED1(__vnegss##W, S, simt::detail::clamp_to<S>(-x))             \
    SIMT_PACKED_COMPARISON(eq, W, U, ==)                                    \
    SIMT_PACKED_COMPARISON(ne, W, U, !=)                                    \
    SIMT_PACKED_COMPARISON(ges, W, S, >=)                                   \
    SIMT_PACKED_COMPARISON(geu, W, U, >=)                                   \
    SIMT_PACKED_COMPARISON(gts, W, S, >)                                    \
    SIMT_PACKED_COMPARISON(gtu, W, U, >)                                    \
    SIMT_PACKED_COMPARISON(les, W, S, <=)                                   \
    SIMT_PACKED_COMPARISON(leu, W, U, <=)                                   \
    SIMT_PACKED_COMPARISON(lts, W, S, <)                                    \
    SIMT_PACKED_COMPARISON(ltu, W, U, <)                                    \
    constexpr unsigned int __vsads##W(unsigned int a, unsigned int b) {     \
        return simt::detail::packed_sum<U>(__vabsdiffs##W(a, b));           \
    }                                                                       \
    constexpr unsigned int __vsadu##W(unsigned int a, unsigned int b) {     \
        return simt::detail::packed_sum<U>(__vabsdiffu##W(a, b));           \
    }

SIMT_PACKED_FAMILY(2, int16_t, uint16_t)
SIMT_PACKED_FAMILY(4, int8_t, uint8_t)

#undef SIMT_PACKED_FAMILY
#undef SIMT_PACKED_COMPARISON
#undef SIMT_PACKED1
#undef SIMT_PACKED2
