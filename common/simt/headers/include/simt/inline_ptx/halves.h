/// simt/inline_ptx/halves.h: PTX arithmetic of 16-bit floats, one or two in a register.
/// A part of simt/inline_ptx.h.
#pragma once

#include "simt/formats.h"
#include "simt/inline_ptx/numbers.h"

namespace simt::ptx {

/// The bits of operation(a...), rounded once. A double holds a sum "rounded to odd" and
/// any product of two.
template <class Format, bool kFlush, bool kSaturate, bool kRelu, class F, class... T>
uint16_t rounded_half(F operation, T... a) {
    const auto wide = [](uint16_t bits) {
        const bool subnormal = (bits & Format::kNan) >> Format::kMantissa == 0;
        return double{widen<Format>(
            kFlush && subnormal ? static_cast<uint16_t>(bits & Format::kSign) : bits)};
    };
    double result = saturated<kSaturate>(operation(wide(a)...));
    if (kRelu && result < 0) result = 0;
    const uint16_t bits = round_to<Format>(result);
    const bool flush = kFlush && (bits & Format::kNan) >> Format::kMantissa == 0;
    return flush ? static_cast<uint16_t>(bits & Format::kSign) : bits;
}

/// operation of each 16 bits of a register.
template <class Word, class F, class... T>
Word by_halves(F operation, T... a) {
    Word result = 0;
    for (int shift = 0; shift < int(8 * sizeof(Word)); shift += 16)
        result |= static_cast<Word>(Word(operation(uint16_t(a >> shift)...)) << shift);
    return result;
}

// What the words of an opcode mean: .ftz; .sat, or .NaN of a minimum; .relu.
#define SIMT_PTX_HALVES(NAME, EXPRESSION)                                         \
    template <class Format,                                                       \
              bool kFlush,                                                        \
              bool kSaturate,                                                     \
              bool kRelu,                                                         \
              class W,                                                            \
              class... T>                                                         \
    W half_##NAME(W first, T... more) {                                           \
        return by_halves<W>(                                                      \
            [](auto... bits) {                                                    \
                return rounded_half<Format, kFlush, kSaturate, kRelu>(EXPRESSION, \
                                                                      bits...);   \
            },                                                                    \
            first,                                                                \
            more...);                                                             \
    }
SIMT_PTX_HALVES(add, ([](double a, double b) { return add_to_odd(a, b); }))
SIMT_PTX_HALVES(sub, ([](double a, double b) { return add_to_odd(a, -b); }))
SIMT_PTX_HALVES(mul, ([](double a, double b) { return a * b; }))
SIMT_PTX_HALVES(fma,
                ([](double a, double b, double c) { return add_to_odd(a * b, c); }))
SIMT_PTX_HALVES(neg, ([](double a) { return -a; }))
SIMT_PTX_HALVES(abs, ([](double a) { return std::fabs(a); }))
#undef SIMT_PTX_HALVES

/// The number itself or, where kNan, NaN if one is; -0 is less than +0.
template <class Format, bool kFlush, bool kNan, bool, class W>
W half_min(W a, W b) {
    return by_halves<W>(
        [](uint16_t x, uint16_t y) {
            return rounded_half<Format, kFlush, false, false>(
                [](double p, double q) {
                    return kNan ? float_min_nan<false>(p, q) : float_min<false>(p, q);
                },
                x,
                y);
        },
        a,
        b);
}
template <class Format, bool kFlush, bool kNan, bool, class W>
W half_max(W a, W b) {
    return by_halves<W>(
        [](uint16_t x, uint16_t y) {
            return rounded_half<Format, kFlush, false, false>(
                [](double p, double q) {
                    return kNan ? float_max_nan<false>(p, q) : float_max<false>(p, q);
                },
                x,
                y);
        },
        a,
        b);
}

}  // namespace simt::ptx
