/// heads.h: given with this exercise: how attention's numbers lie in memory. There is
/// nothing to write here.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "decoder.h"

// #region heads
/// What the kernels of attention need to know of the decoder.
struct Heads {
    float* qkv;            // [3, heads, head_dim]
    const float2* angles;  // [tokens, rotary / 2]
    const int32_t* position;
    const int32_t* pages;  // where a page lies
    float* k;              // [pages, heads, page_size, head_dim] of the layer
    float* v;              // the same
    int64_t heads, head_dim, rotary, page_size, sinks, window;

    __device__ int64_t width() const { return heads * head_dim; }
    /// Where a token's numbers of a head begin in k and v. Slots and pages have 32
    /// bits: a division of 64 bits takes some 70 instructions.
    __device__ int64_t row(int64_t head, int64_t slot) const {
        const auto at = static_cast<unsigned>(slot);
        const auto size = static_cast<unsigned>(page_size);
        const int64_t page = pages[at / size];
        return ((page * heads + head) * page_size + at % size) * head_dim;
    }
    __device__ int64_t slot(int64_t token) const {
        return token < sinks ? token : sinks + (token - sinks) % window;
    }
    /// The two numbers of a head that belong to pair p: in the first rotary / 2 pairs
    /// they turn together, j and j + rotary / 2; all others are neighbours.
    __device__ int2 pair(int64_t p) const {
        const auto half = static_cast<int>(rotary / 2);
        const auto j = static_cast<int>(p);
        return j < half ? int2{j, j + half} : int2{2 * j, 2 * j + 1};
    }
};

/// (a, b) turned by the angle of pair p at the position.
static __device__ inline float2 turned(const Heads& h, float2 ab, int64_t p) {
    if (p >= h.rotary / 2) return ab;
    const float2 angle = h.angles[int64_t{*h.position} * (h.rotary / 2) + p];
    return {ab.x * angle.x - ab.y * angle.y, ab.y * angle.x + ab.x * angle.y};
}

/// Puts a pair of numbers of q (part 0), k (1) or v (2) to where attention reads it.
static __device__ inline void put_pair(
    const Heads& h, int part, int64_t head, int64_t p, float2 ab) {
    const int2 at = h.pair(p);
    if (part < 2) ab = turned(h, ab, p);
    float* const to = part == 0
                          ? h.qkv + head * h.head_dim
                          : (part == 1 ? h.k : h.v) + h.row(head, h.slot(*h.position));
    to[at.x] = ab.x;
    to[at.y] = ab.y;
}

/// Those of a layer of the decoder.
inline Heads heads_of(const Decoder& d, int64_t layer) {
    const DecoderShape& s = d.shape;
    return {d.qkv,
            d.angles,
            d.position,
            d.pages,
            d.k_cache + layer * s.layer_cache(),
            d.v_cache + layer * s.layer_cache(),
            s.gpt.heads,
            s.gpt.head_dim(),
            s.gpt.rotary,
            s.page_size,
            s.sinks,
            s.window};
}
// #endregion heads
