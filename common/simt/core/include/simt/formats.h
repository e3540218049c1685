/// simt/formats.h: rounding to and widening from small floating-point formats:
/// binary16, bfloat16 and the two 8-bit formats.
///
/// Written with integers, independent of the compiler's own _Float16 and __bf16, which
/// g++ 12 and clang 14 lack on x86-64 in one or the other form.
///
/// Sources: IEEE 754-2019 (binary16, rounding directions); OCP 8-bit Floating Point
/// Specification 1.0 (E4M3, E5M2).
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace simt {

/// Rounding directions, in the order of CUDA's suffixes _rn, _rz, _rd, _ru.
enum class Rounding { nearest, zero, down, up };

/// @tparam kExponentBits, kMantissaBits  sizes of the stored fields
/// @tparam kHasInfinity  false: the top exponent holds numbers, too, and only all ones
/// is NaN
template <class Bits_, int kExponentBits, int kMantissaBits, bool kHasInfinity = true>
struct Format {
    using Bits = Bits_;
    static constexpr int kMantissa = kMantissaBits;
    /// Exponent of the smallest normal number.
    static constexpr int kMinExponent = 2 - (1 << (kExponentBits - 1));
    static constexpr Bits kSign = Bits(1u << (kExponentBits + kMantissaBits));
    /// Everything but the sign; also CUDA's canonical NaN.
    static constexpr Bits kNan = Bits(kSign - 1u);
    static constexpr Bits kInfinity =
        kHasInfinity ? Bits(((1u << kExponentBits) - 1u) << kMantissaBits) : kNan;
    static constexpr Bits kLargest = Bits(kInfinity - 1u);
};
using Binary16 = Format<uint16_t, 5, 10>;
using Bfloat16 = Format<uint16_t, 8, 7>;
using E4m3 = Format<uint8_t, 4, 3, false>;
using E5m2 = Format<uint8_t, 5, 2>;

/// The format of a type of CUDA's, as the type's header says: void if none has.
template <class T>
struct FormatOf {
    using type = void;
};

/// The number of the format nearest to `value` in the given direction, rounded once.
/// NaN gives the canonical NaN; overflow gives infinity, or the largest number when
/// rounding towards it or when `saturate` is set.
///
/// @tparam Real  float or double
template <class F, class Real>
constexpr typename F::Bits round_to(Real value,
                                    Rounding rounding = Rounding::nearest,
                                    bool saturate = false) {
    using Word = std::conditional_t<sizeof(Real) == 8, uint64_t, uint32_t>;
    constexpr int kMantissa = sizeof(Real) == 8 ? 52 : 23;
    constexpr int kBias = sizeof(Real) == 8 ? 1023 : 127;
    constexpr Word kHidden = Word(1) << kMantissa;

    const Word bits = std::bit_cast<Word>(value);
    const bool negative = bits >> (8 * sizeof(Word) - 1);
    const unsigned sign = negative ? F::kSign : 0u;
    const int field = int(bits >> kMantissa) & (2 * kBias + 1);
    const Word fraction = bits & (kHidden - 1);
    if (field == 2 * kBias + 1) {
        if (fraction != 0) return F::kNan;
        return typename F::Bits(sign | (saturate ? F::kLargest : F::kInfinity));
    }
    int exponent = field == 0 ? 1 - kBias : field - kBias;
    const Word significand = field == 0 ? fraction : fraction | kHidden;

    // Below the smallest normal number the last place stays where it is.
    int shift = kMantissa - F::kMantissa;
    if (exponent < F::kMinExponent) {
        shift += F::kMinExponent - exponent;
        exponent = F::kMinExponent;
        if (shift > kMantissa + 2)
            shift = kMantissa + 2;  // less than half the last place
    }
    Word kept = significand >> shift;
    const Word rest = significand & ((Word(1) << shift) - 1);
    const Word half = Word(1) << (shift - 1);
    switch (rounding) {
        case Rounding::nearest:
            kept += rest > half || (rest == half && (kept & 1));
            break;
        case Rounding::zero:
            break;
        case Rounding::down:
            kept += negative && rest != 0;
            break;
        case Rounding::up:
            kept += !negative && rest != 0;
            break;
    }
    // A carry out of the mantissa steps the exponent, as it should; the hidden bit
    // makes the exponent field of normal numbers one larger than this difference.
    const uint32_t offset = uint32_t(exponent - F::kMinExponent);
    const uint32_t limit = F::kInfinity;
    if (offset > (limit >> F::kMantissa) || (offset << F::kMantissa) + kept >= limit) {
        const bool towards_zero = rounding == Rounding::zero ||
                                  (rounding == Rounding::down && !negative) ||
                                  (rounding == Rounding::up && negative);
        return typename F::Bits(
            sign | (saturate || towards_zero ? F::kLargest : F::kInfinity));
    }
    return typename F::Bits(sign | ((offset << F::kMantissa) + uint32_t(kept)));
}

/// The exact value of a number of the format.
template <class F>
constexpr float widen(typename F::Bits bits) {
    const uint32_t sign = uint32_t(bits & F::kSign) << (32 - 8 * sizeof(bits));
    const uint32_t magnitude = bits & F::kNan;
    if (magnitude >= F::kInfinity) {
        const bool nan = magnitude > F::kInfinity || F::kInfinity == F::kNan;
        return std::bit_cast<float>(sign | (nan ? 0x7fffffffu : 0x7f800000u));
    }
    // The fields moved into place form a float whose exponent is off by a constant
    // factor; multiplying by it is exact, also for subnormal numbers.
    const float scaled = std::bit_cast<float>(magnitude << (23 - F::kMantissa));
    const float factor =
        std::bit_cast<float>(uint32_t(127 + F::kMinExponent + 126) << 23);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled * factor));
}
/// bfloat16 is the upper half of a float.
template <>
constexpr float widen<Bfloat16>(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// a + b to 53 bits "rounded to odd": an inexact sum gets an odd last bit, so that
/// rounding it again to a format of at most 50 bits gives what one rounding of the
/// exact sum would.
///
/// Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved
/// algorithms using rounding to odd", 2008.
constexpr double add_to_odd(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    const double error = (a - (sum - b_part)) + (b - b_part);
    if (error == 0.0 || !(sum - sum == 0.0)) return sum;
    const int64_t bits = std::bit_cast<int64_t>(sum);
    if (bits & 1) return sum;
    // Step towards the exact sum: away from zero if the error has the sum's sign.
    return std::bit_cast<double>(bits + ((error > 0.0) == (sum > 0.0) ? 1 : -1));
}

}  // namespace simt
