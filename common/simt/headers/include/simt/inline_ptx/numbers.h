/// simt/inline_ptx/numbers.h: PTX arithmetic: floats with a rounding mode, carries,
/// products, bit fields. A part of simt/inline_ptx.h.
#pragma once
#include <fenv.h>

#include "simt/inline_ptx/base.h"
#include "simt/math/integer.h"
#include "simt/math/rounding.h"

namespace simt::ptx {

// ---- Floats ------------------------------------------------------------------------

/// Subnormal numbers as zeros of their sign, if kFlush.
template <bool kFlush, class T>
T flushed(T a) {
    return kFlush && std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(T(0), a) : a;
}
/// Into [0, 1], NaN to 0, if kSaturate.
template <bool kSaturate, class T>
T saturated(T a) {
    if (!kSaturate) return a;
    return a > 0 ? (a < 1 ? a : T(1)) : T(0);
}

/// operation(a...) rounded in a mode of <fenv.h>; .ftz flushes operands and result.
template <int kMode, bool kFlush, bool kSaturate, class F, class... T>
auto rounded(F operation, T... a) {
    using Result = std::common_type_t<T...>;
    Result result;
    if constexpr (kMode == FE_TONEAREST)
        result = operation(flushed<kFlush>(a)...);
    else
        result = detail::rounded(kMode, [&]() -> Result {
            return operation(detail::opaque(flushed<kFlush>(a))...);
        });
    return saturated<kSaturate>(flushed<kFlush>(result));
}

// clang-format off
template <class T> T add_of(T a, T b) { return a + b; }
template <class T> T sub_of(T a, T b) { return a - b; }
template <class T> T mul_of(T a, T b) { return a * b; }
template <class T> T div_of(T a, T b) { return a / b; }
template <class T> T fma_of(T a, T b, T c) { return std::fma(a, b, c); }
template <class T> T rcp_of(T a) { return T(1) / a; }
template <class T> T sqrt_of(T a) { return std::sqrt(a); }
#define SIMT_PTX_ROUNDED(NAME)                                              \
    template <int kMode, bool kFlush, bool kSaturate, class... T>           \
    auto rounded_##NAME(T... a) {                                           \
        return rounded<kMode, kFlush, kSaturate>(                           \
            [](auto... x) { return NAME##_of(x...); }, a...);               \
    }
// clang-format on
SIMT_PTX_ROUNDED(add)
SIMT_PTX_ROUNDED(sub)
SIMT_PTX_ROUNDED(mul)
SIMT_PTX_ROUNDED(div)
SIMT_PTX_ROUNDED(fma)
SIMT_PTX_ROUNDED(rcp)
SIMT_PTX_ROUNDED(sqrt)
#undef SIMT_PTX_ROUNDED

/// What an instruction gives that finds no number.
template <class T>
T canonical_nan() {
    if constexpr (sizeof(T) == 4)
        return as<float>(0x7fffffffu);
    else
        return as<double>(0x7fffffffffffffffull);
}
/// NaN is no number to be less than another; -0 is less than +0.
template <bool kFlush, class T>
T float_min(T a, T b) {
    a = flushed<kFlush>(a), b = flushed<kFlush>(b);
    if (a != a) return b != b ? canonical_nan<T>() : b;
    if (b != b || a < b) return a;
    return a == b && std::signbit(a) ? a : b;
}
template <bool kFlush, class T>
T float_max(T a, T b) {
    a = flushed<kFlush>(a), b = flushed<kFlush>(b);
    if (a != a) return b != b ? canonical_nan<T>() : b;
    if (b != b || a > b) return a;
    return a == b && !std::signbit(a) ? a : b;
}
template <bool kFlush, class T>
T float_min_nan(T a, T b) {
    return a != a || b != b ? canonical_nan<T>() : float_min<kFlush>(a, b);
}
template <bool kFlush, class T>
T float_max_nan(T a, T b) {
    return a != a || b != b ? canonical_nan<T>() : float_max<kFlush>(a, b);
}
template <bool kFlush, class T>
T float_abs(T a) {
    return std::fabs(flushed<kFlush>(a));
}
template <bool kFlush, class T>
T float_neg(T a) {
    return -flushed<kFlush>(a);
}
/// b with the sign of a.
template <class T>
T copysign(T a, T b) {
    return std::copysign(b, a);
}
template <class T>
bool ordered(T a, T b) {
    return a == a && b == b;
}

// ---- Integers ----------------------------------------------------------------------

inline int add_sat(int a, int b) {
    int sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? -2147483647 - 1 : 2147483647)
                                              : sum;
}
inline int sub_sat(int a, int b) {
    int difference;
    return __builtin_sub_overflow(a, b, &difference)
               ? (a < 0 ? -2147483647 - 1 : 2147483647)
               : difference;
}
template <class T>
T cnot(T a) {
    return a == 0 ? T(1) : T(0);
}
template <class T>
T mad_hi(T a, T b, T c) {
    return add(mul_hi(a, b), c);
}
template <class T, class Sum>
auto mad_wide(T a, T b, Sum c) {
    return add<Sum>(Sum(mul_wide(a, b)), c);
}
/// The low words of products of 24-bit numbers.
template <class T>
T mul24(T a, T b) {
    if constexpr (std::is_signed_v<T>)
        return ::__mul24(a, b);
    else
        return ::__umul24(a, b);
}
template <class T>
T mad24(T a, T b, T c) {
    return add(mul24(a, b), c);
}
/// c + |a - b|
template <class T>
T sad(T a, T b, T c) {
    return add(c, a < b ? sub(b, a) : sub(a, b));
}
/// Where the highest bit is that differs from the sign, or from 0; all ones if none
/// does. With kShift, how far to shift it to the top.
template <class T, bool kShift>
unsigned bfind(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
    if (bits == 0) return 0xffffffffu;
    const unsigned from_top = clz(bits);
    return kShift ? from_top : 8 * sizeof(T) - 1 - from_top;
}

/// Byte i of a word, with its sign if T is signed.
template <class T>
int byte_of(unsigned word, int i) {
    const unsigned byte = word >> (8 * i) & 0xff;
    return std::is_signed_v<T> ? static_cast<signed char>(byte)
                               : static_cast<int>(byte);
}
/// c and the products of four bytes of a with those of b.
template <class A, class B>
unsigned dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; ++i)
        c += static_cast<unsigned>(byte_of<A>(a, i) * byte_of<B>(b, i));
    return c;
}
/// c and the products of the halves of a with two bytes of b, from kFirst on.
template <class A, class B, int kFirst>
unsigned dp2a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 2; ++i) {
        const unsigned half = a >> (16 * i) & 0xffff;
        const int value =
            std::is_signed_v<A> ? static_cast<short>(half) : static_cast<int>(half);
        c += static_cast<unsigned>(value) *
             static_cast<unsigned>(byte_of<B>(b, kFirst + i));
    }
    return c;
}

// ---- Carries -----------------------------------------------------------------------

// The flag is no memory of the program's, and the checker does not see it.
SIMT_UNSEEN inline bool carry_flag() {
    return detail::ptx_carry;
}
SIMT_UNSEEN inline void set_carry_flag(bool carry) {
    detail::ptx_carry = carry;
}

/// a + b, and the carry of the last such sum if kTakes; if kGives, keeps its own.
template <class T, bool kTakes, bool kGives>
T add_carry(T a, T b) {
    T sum;
    bool carry = __builtin_add_overflow(a, b, &sum);
    if (kTakes) carry |= __builtin_add_overflow(sum, T(carry_flag()), &sum);
    if (kGives) set_carry_flag(carry);
    return sum;
}
/// a - b, with borrows.
template <class T, bool kTakes, bool kGives>
T sub_carry(T a, T b) {
    T difference;
    bool borrow = __builtin_sub_overflow(a, b, &difference);
    if (kTakes)
        borrow |= __builtin_sub_overflow(difference, T(carry_flag()), &difference);
    if (kGives) set_carry_flag(borrow);
    return difference;
}
template <class T, bool kTakes, bool kGives>
T mad_lo_carry(T a, T b, T c) {
    return add_carry<T, kTakes, kGives>(mul(a, b), c);
}

}  // namespace simt::ptx
