/// simt/math/integer.h: integer intrinsics: counting and moving bits, high halves of
/// products, averages without overflow, dot products of packed small integers.
#pragma once
#include <bit>
#include <cstdint>

#include "simt/vector_types.h"

constexpr int __popc(unsigned int x) {
    return __builtin_popcount(x);
}
constexpr int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
constexpr int __clz(int x) {
    return std::countl_zero(unsigned(x));
}
constexpr int __clzll(long long x) {
    return std::countl_zero((unsigned long long)(x));
}
/// Position of the lowest set bit counted from 1; 0 for 0.
constexpr int __ffs(int x) {
    return __builtin_ffs(x);
}
constexpr int __ffsll(long long x) {
    return __builtin_ffsll(x);
}

/// The bits in reverse order.
constexpr unsigned int __brev(unsigned int x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
constexpr unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}

/// Position of the offset-th set bit of mask, counted from bit `base` upwards (offset >
/// 0) or downwards (offset < 0); offset 0 asks about bit `base` itself; 0xffffffff if
/// there is none.
constexpr unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (offset == 0) return base < 32 && (mask >> base & 1u) ? base : 0xffffffffu;
    const int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int bit = int(base); bit >= 0 && bit < 32; bit += step) {
        if ((mask >> bit & 1u) && --left == 0) return unsigned(bit);
    }
    return 0xffffffffu;
}

/// Four bytes picked from the eight bytes of y:x by the low three bits of each nibble
/// of s.
constexpr unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) {
    const uint64_t bytes = uint64_t(y) << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        result |= unsigned(bytes >> (8 * (s >> (4 * i) & 7u)) & 0xffu) << (8 * i);
    }
    return result;
}

/// The high (l) or low (r) word of hi:lo shifted by `shift` modulo 32, or clamped to 32
/// (c).
constexpr unsigned int __funnelshift_l(unsigned int lo,
                                       unsigned int hi,
                                       unsigned int shift) {
    return unsigned((uint64_t(hi) << 32 | lo) << (shift & 31u) >> 32);
}
constexpr unsigned int __funnelshift_lc(unsigned int lo,
                                        unsigned int hi,
                                        unsigned int shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
constexpr unsigned int __funnelshift_r(unsigned int lo,
                                       unsigned int hi,
                                       unsigned int shift) {
    return unsigned((uint64_t(hi) << 32 | lo) >> (shift & 31u));
}
constexpr unsigned int __funnelshift_rc(unsigned int lo,
                                        unsigned int hi,
                                        unsigned int shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

/// The high half of a product.
constexpr int __mulhi(int a, int b) {
    return int((int64_t(a) * b) >> 32);
}
constexpr unsigned int __umulhi(unsigned int a, unsigned int b) {
    return unsigned((uint64_t(a) * b) >> 32);
}
__extension__ typedef __int128 simt_int128;
__extension__ typedef unsigned __int128 simt_uint128;
constexpr long long __mul64hi(long long a, long long b) {
    return (long long)((simt_int128(a) * b) >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((simt_uint128(a) * b) >> 64);
}

/// The low 32 bits of the product of the low 24 bits.
constexpr unsigned int __umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
constexpr int __mul24(int a, int b) {
    const int64_t low_a = int32_t(uint32_t(a) << 8) >> 8;
    const int64_t low_b = int32_t(uint32_t(b) << 8) >> 8;
    return int(low_a * low_b);
}

/// |a - b| + c
constexpr unsigned int __sad(int a, int b, unsigned int c) {
    return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a));
}
constexpr unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a > b ? a - b : b - a);
}

/// (a + b) / 2 rounded down, or (r) up, without overflow.
constexpr int __hadd(int a, int b) {
    return int((int64_t(a) + b) >> 1);
}
constexpr int __rhadd(int a, int b) {
    return int((int64_t(a) + b + 1) >> 1);
}
constexpr unsigned int __uhadd(unsigned int a, unsigned int b) {
    return unsigned((uint64_t(a) + b) >> 1);
}
constexpr unsigned int __urhadd(unsigned int a, unsigned int b) {
    return unsigned((uint64_t(a) + b + 1) >> 1);
}

namespace simt::detail {
/// c + sum of n products: elements of type A from a, of type B from b, b's starting at
/// element `first`. The sum wraps at 32 bits.
template <class A, class B>
constexpr unsigned int packed_dot(
    unsigned int a, unsigned int b, unsigned int c, int n, int first) {
    for (int i = 0; i < n; ++i) {
        const A x = A(a >> (8 * sizeof(A) * i));
        const B y = B(b >> (8 * sizeof(B) * (first + i)));
        c += unsigned(int(x) * int(y));
    }
    return c;
}
}  // namespace simt::detail

/// Dot product of four (dp4a) 8-bit pairs, or of two 16-bit with two 8-bit numbers
/// (dp2a; the lower or upper two of b), added to c.
constexpr int __dp4a(int a, int b, int c) {
    return int(simt::detail::packed_dot<int8_t, int8_t>(a, b, c, 4, 0));
}
constexpr unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    return simt::detail::packed_dot<uint8_t, uint8_t>(a, b, c, 4, 0);
}
constexpr int __dp4a(char4 a, char4 b, int c) {
    return __dp4a(std::bit_cast<int>(a), std::bit_cast<int>(b), c);
}
constexpr unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), c);
}
#define SIMT_DP2A(NAME, FIRST)                                                    \
    constexpr int NAME(int a, int b, int c) {                                     \
        return int(simt::detail::packed_dot<int16_t, int8_t>(a, b, c, 2, FIRST)); \
    }                                                                             \
    constexpr unsigned int NAME(unsigned int a, unsigned int b, unsigned int c) { \
        return simt::detail::packed_dot<uint16_t, uint8_t>(a, b, c, 2, FIRST);    \
    }                                                                             \
    constexpr int NAME(short2 a, char4 b, int c) {                                \
        return NAME(std::bit_cast<int>(a), std::bit_cast<int>(b), c);             \
    }                                                                             \
    constexpr unsigned int NAME(ushort2 a, uchar4 b, unsigned int c) {            \
        return NAME(std::bit_cast<unsigned>(a), std::bit_cast<unsigned>(b), c);   \
    }
SIMT_DP2A(__dp2a_lo, 0)
SIMT_DP2A(__dp2a_hi, 2)
#undef SIMT_DP2A
