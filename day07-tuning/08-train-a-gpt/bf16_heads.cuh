// bf16_heads.cuh: given with this exercise: from arrays by tokens to arrays by heads,
// and back. There is nothing to write here.
#pragma once

#include "bf16_kernels.cuh"

// #region heads
/// Sizes of arrays by heads, [batch, heads, length, D], and by tokens. Numbers of a
/// head come in vectors of eight.
struct Bf16Heads {
    uint32_t batch, heads, length;
    uint32_t head_dim;  ///< numbers of a head
    uint32_t D;         ///< 64 or 128; zeros behind the head's numbers
    uint32_t rotary;  ///< the first numbers of a head that turn: i with i + rotary / 2

    __host__ __device__ uint32_t tokens() const { return batch * length; }
    __host__ __device__ uint32_t width() const { return heads * head_dim; }
};

/// A vector of a head of a token.
struct HeadVector {
    uint32_t token, head, d;  ///< d: its first number, of D

    /// @param i  counts them by tokens, then heads, then d
    __device__ HeadVector(const Bf16Heads& h, uint32_t i)
        : token(i / (h.D / 8) / h.heads),
          head(i / (h.D / 8) % h.heads),
          d(i % (h.D / 8) * 8) {}

    __device__ uint32_t by_heads(const Bf16Heads& h) const {
        const uint32_t b = token / h.length;
        return ((b * h.heads + head) * h.length + token % h.length) * h.D + d;
    }
    __device__ uint32_t by_tokens(const Bf16Heads& h) const {
        return token * h.width() + head * h.head_dim + d;
    }
};

/// Eight numbers that turn with the eight that are rotary / 2 away.
///
/// @param row      the head's numbers
/// @param angles   [rotary / 2] of the token's position
/// @param forward  1, or -1 to turn back
__device__ __forceinline__ Eight turned(
    const Bf16* row, uint32_t d, uint32_t rotary, const float2* angles, float forward) {
    const Eight mine = Eight::load(row + d);
    if (d >= rotary) return mine;
    const uint32_t half = rotary / 2;
    const bool is_first = d < half;
    float a[8];
    float b[8];
    mine.unpack(a);
    Eight::load(row + (is_first ? d + half : d - half)).unpack(b);
    const float2* const angle = angles + (is_first ? d : d - half);
    const float side = is_first ? -forward : forward;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        a[k] = a[k] * angle[k].x + side * b[k] * angle[k].y;
    return Eight::pack(a);
}

/// q, k and v by heads, from qkv by tokens; q and k turn by the angles of the position.
/// A thread has the same vector of all three: where it lies is computed once.
///
/// Launch   a thread for each vector of q, block kBf16Threads
/// Traffic  reads qkv, and writes q, k, v: 6 B a number and token each
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_split_heads_kernel(const Bf16Heads h,
                            const Bf16* qkv,       // [tokens, 3 width]
                            const float2* angles,  // [length, rotary / 2]
                            Bf16* q,               // [batch, heads, length, D]
                            Bf16* k,
                            Bf16* v) {
    const HeadVector at(h, thread_of_grid());
    if (at.token >= h.tokens()) return;
    Eight vectors[3] = {};
    if (at.d < h.head_dim) {
        const uint32_t width = h.width();
        const Bf16* const row = qkv + at.token * 3 * width + at.head * h.head_dim;
        const float2* const angle = angles + at.token % h.length * (h.rotary / 2);
        vectors[0] = turned(row, at.d, h.rotary, angle, 1.0f);
        vectors[1] = turned(row + width, at.d, h.rotary, angle, 1.0f);
        vectors[2] = Eight::load(row + 2 * width + at.d);
    }
    const uint32_t place = at.by_heads(h);
    vectors[0].store(q + place);
    vectors[1].store(k + place);
    vectors[2].store(v + place);
}

/// From heads to tokens, to = from, or back.
///
/// @tparam kBack  from is by tokens, to by heads; zeros behind a head's numbers
///
/// Launch   a thread for each vector, block kBf16Threads
template <bool kBack>
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_merge_heads_kernel(const Bf16Heads h,
                            const Bf16* from,  // [batch, heads, length, D]
                            Bf16* to) {        // [tokens, width]
    const HeadVector at(h, thread_of_grid());
    if (at.token >= h.tokens()) return;
    const bool is_number = at.d < h.head_dim;
    if constexpr (kBack) {
        Eight numbers = {make_uint4(0, 0, 0, 0)};
        if (is_number) numbers = Eight::load(from + at.by_tokens(h));
        numbers.store(to + at.by_heads(h));
    } else if (is_number) {
        Eight::load(from + at.by_heads(h)).store(to + at.by_tokens(h));
    }
}
// #endregion heads
