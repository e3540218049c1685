/// simt/inline_ptx/base.h: operands of inline PTX, integers, special registers. A part
/// of simt/inline_ptx.h.
///
/// Semantics: PTX ISA 8.5, "Instruction Set". T is the type that the instruction names.
#pragma once

#include <time.h>

#include <cstring>
#include <type_traits>

#include "simt/core.h"
#include "simt/cp_async.h"
#include "simt/hopper/warpgroup.h"
#include "simt/math/libm.h"

namespace simt::detail {
int multiprocessors();  // core/device_model.h
}

namespace simt::ptx {

/// A register's value as another type of instruction: numbers convert, a float and an
/// integer of the same size share their bits, pointers are 64-bit integers.
template <class T, class V>
T as(V value) {
    if constexpr (std::is_pointer_v<V> || std::is_pointer_v<T>) {
        return (T)value;
    } else if constexpr (std::is_floating_point_v<T> != std::is_floating_point_v<V> &&
                         sizeof(T) == sizeof(V)) {
        T result;
        std::memcpy(&result, &value, sizeof(T));
        return result;
    } else {
        return static_cast<T>(value);
    }
}

/// Writes a result to an operand.
template <class Out, class V>
void set(Out& out, V value) {
    out = as<Out>(value);
}

/// Integers compute modulo 2^n.
template <class T>
using Wide = unsigned long long;

// clang-format off
template <class T> T add(T a, T b) { return T(Wide<T>(a) + Wide<T>(b)); }
template <class T> T sub(T a, T b) { return T(Wide<T>(a) - Wide<T>(b)); }
template <class T> T mul(T a, T b) { return T(Wide<T>(a) * Wide<T>(b)); }
template <class T> T mad(T a, T b, T c) {
    return T(Wide<T>(a) * Wide<T>(b) + Wide<T>(c));
}
template <class T> T div(T a, T b) { return a / b; }
template <class T> T rem(T a, T b) { return a % b; }
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
template <class T> T abs(T a) { return a < 0 ? T(-Wide<T>(a)) : a; }
template <class T> T neg(T a) { return T(-Wide<T>(a)); }
template <class T> T bit_and(T a, T b) { return a & b; }
template <class T> T bit_or(T a, T b) { return a | b; }
template <class T> T bit_xor(T a, T b) { return a ^ b; }
template <class T> T bit_not(T a) { return ~a; }
// clang-format on

/// The upper half of a product of 32- or 64-bit integers.
template <class T>
T mul_hi(T a, T b) {
    using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((Double(a) * Double(b)) >> (8 * sizeof(T)));
}

/// The product of two integers in twice their size.
template <class T>
auto mul_wide(T a, T b) {
    using Signed = std::conditional_t<sizeof(T) == 2, int, long long>;
    using Unsigned = std::conditional_t<sizeof(T) == 2, unsigned, unsigned long long>;
    using Result = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
    return Result(a) * Result(b);
}

/// Shifts by the size or more give 0, or the sign.
template <class T>
T shl(T a, unsigned n) {
    return n >= 8 * sizeof(T) ? T(0) : T(a << n);
}
template <class T>
T shr(T a, unsigned n) {
    const unsigned bits = 8 * sizeof(T);
    return n >= bits ? T(a < 0 ? -1 : 0) : T(a >> n);
}

/// Funnel shifts of the 64-bit number (high, low).
inline unsigned shf_l(unsigned low, unsigned high, unsigned n) {
    const unsigned long long pair = (static_cast<unsigned long long>(high) << 32) | low;
    return static_cast<unsigned>((pair << n) >> 32);
}
inline unsigned shf_r(unsigned low, unsigned high, unsigned n) {
    const unsigned long long pair = (static_cast<unsigned long long>(high) << 32) | low;
    return static_cast<unsigned>(pair >> n);
}

template <class T>
unsigned popc(T a) {
    return __builtin_popcountll(std::make_unsigned_t<T>(a));
}
template <class T>
unsigned clz(T a) {
    const auto value = std::make_unsigned_t<T>(a);
    return value == 0 ? 8 * sizeof(T) : __builtin_clzll(value) - (64 - 8 * sizeof(T));
}
template <class T>
T brev(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
        result |= T((a >> i) & 1) << (8 * sizeof(T) - 1 - i);
    }
    return result;
}

/// Bit field of `length` bits from `start`, extended by its sign if T is signed.
template <class T>
T bfe(T a, unsigned start, unsigned length) {
    start &= 255;
    length &= 255;
    const unsigned top = 8 * sizeof(T) - 1;
    const unsigned sign_at = start + length - 1 < top ? start + length - 1 : top;
    const bool sign = std::is_signed_v<T> && length > 0 && ((a >> sign_at) & 1);
    std::make_unsigned_t<T> result = 0;
    for (unsigned i = 0; i <= top; ++i) {
        const bool inside = i < length && start + i <= top;
        const bool bit = inside ? (a >> (start + i)) & 1 : sign;
        result |= std::make_unsigned_t<T>(bit) << i;
    }
    return static_cast<T>(result);
}

/// b with the low `length` bits of a put in at `start`.
template <class T>
T bfi(T a, T b, unsigned start, unsigned length) {
    start &= 255;
    length &= 255;
    for (unsigned i = 0; i < length && start + i < 8 * sizeof(T); ++i) {
        const T mask = T(1) << (start + i);
        b = (b & ~mask) | (((a >> i) & 1) ? mask : 0);
    }
    return b;
}

/// Four bytes chosen from the eight of (b, a); bit 3 of a selector spreads the sign.
inline unsigned prmt(unsigned a, unsigned b, unsigned selectors) {
    const unsigned long long pair = (static_cast<unsigned long long>(b) << 32) | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned selector = selectors >> (4 * i);
        unsigned byte = (pair >> (8 * (selector & 7))) & 255;
        if (selector & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

/// prmt.f4e, .b4e, .rc8, .ecl, .ecr, .rc16 (kMode 0 to 5): the selectors that each has
/// for the last two bits of `control`.
template <int kMode>
unsigned prmt_mode(unsigned a, unsigned b, unsigned control) {
    constexpr unsigned kSelectors[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543},
                                           {0x5670, 0x6701, 0x7012, 0x0123},
                                           {0x0000, 0x1111, 0x2222, 0x3333},
                                           {0x3210, 0x3211, 0x3222, 0x3333},
                                           {0x0000, 0x1110, 0x2210, 0x3210},
                                           {0x1010, 0x3232, 0x1010, 0x3232}};
    return prmt(a, b, kSelectors[kMode][control & 3]);
}

/// Any function of three bits, given by its truth table.
inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned result = 0;
    for (unsigned row = 0; row < 8; ++row) {
        if (!((table >> row) & 1)) continue;
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    }
    return result;
}

/// The approximate functions; the hardware's have errors of a few units in the last
/// place.
template <class T>
T rsqrt(T a) {
    return 1 / std::sqrt(a);
}
inline float ex2(float a) {
    return std::exp2(a);
}
inline float lg2(float a) {
    return std::log2(a);
}
inline float sin(float a) {
    return std::sin(a);
}
inline float cos(float a) {
    return std::cos(a);
}
inline float tanh(float a) {
    return std::tanh(a);
}

inline unsigned block_threads() {
    return blockDim.x * blockDim.y * blockDim.z;
}
inline unsigned laneid() {
    return detail::lane();
}
inline unsigned warpid() {
    return detail::thread_rank / 32;
}
inline unsigned nwarpid() {
    return (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
}
/// One multiprocessor after the other, as hardware hands out blocks; `count` of them.
inline unsigned nsmid() {
    return static_cast<unsigned>(detail::multiprocessors());
}
inline unsigned smid() {
    return (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) % nsmid();
}
inline unsigned lanemask_eq() {
    return 1u << laneid();
}
inline unsigned lanemask_lt() {
    return lanemask_eq() - 1;
}
inline unsigned lanemask_le() {
    return lanemask_lt() | lanemask_eq();
}
inline unsigned lanemask_gt() {
    return ~lanemask_le();
}
inline unsigned lanemask_ge() {
    return ~lanemask_lt();
}
/// Nanoseconds since some fixed time.
inline unsigned long long globaltimer() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

}  // namespace simt::ptx
