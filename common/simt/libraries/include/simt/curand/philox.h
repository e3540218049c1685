/// simt/curand/philox.h: the counter-based generator Philox4x32-10 of curand: the same
/// numbers as on a GPU.
///
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011.
#pragma once
#include <cstdint>

#include "simt/vector_functions.h"

/// State of a generator: the key is the seed, each value of the counter gives four
/// numbers.
struct curandStatePhilox4_32_10 {
    uint4 ctr;
    uint4 output;
    uint2 key;
    unsigned int STATE;  // which of the four comes next
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

/// The four numbers of a counter: ten rounds of multiplications and exclusive ors.
inline uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const uint64_t p = uint64_t(0xD2511F53u) * c.x;
        const uint64_t q = uint64_t(0xCD9E8D57u) * c.z;
        c = make_uint4(uint32_t(q >> 32) ^ c.y ^ key.x, uint32_t(q),
                       uint32_t(p >> 32) ^ c.w ^ key.y, uint32_t(p));
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

namespace simt::detail {
/// Adds n to the lower (y:x) or upper (w:z) half of the counter; the lower half
/// carries.
inline void philox_advance(curandStatePhilox4_32_10_t* state, unsigned long long low,
                           unsigned long long high) {
    uint4& c = state->ctr;
    const uint64_t old_low = uint64_t(c.y) << 32 | c.x;
    const uint64_t new_low = old_low + low;
    const uint64_t new_high = (uint64_t(c.w) << 32 | c.z) + high + (new_low < old_low);
    c = make_uint4(uint32_t(new_low), uint32_t(new_low >> 32), uint32_t(new_high),
                   uint32_t(new_high >> 32));
    state->output = curand_Philox4x32_10(c, state->key);
}
}  // namespace simt::detail

/// Advances the generator by n numbers.
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned int position = state->STATE + static_cast<unsigned int>(n & 3);
    state->STATE = position & 3;
    simt::detail::philox_advance(state, n / 4 + position / 4, 0);
}
/// Advances the generator by n sequences of 2^66 numbers.
inline void skipahead_sequence(unsigned long long n,
                               curandStatePhilox4_32_10_t* state) {
    simt::detail::philox_advance(state, 0, n);
}

/// Starts a generator: different sequences of one seed do not overlap.
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t* state) {
    *state = {};
    state->key = make_uint2(uint32_t(seed), uint32_t(seed >> 32));
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}

/// The next 32 random bits.
inline unsigned int curand(curandStatePhilox4_32_10_t* state) {
    const unsigned int four[] = {state->output.x, state->output.y, state->output.z,
                                 state->output.w};
    const unsigned int result = four[state->STATE++];
    if (state->STATE == 4) {
        state->STATE = 0;
        simt::detail::philox_advance(state, 1, 0);
    }
    return result;
}
/// The next four.
inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
    uint4 r;
    r.x = curand(state);
    r.y = curand(state);
    r.z = curand(state);
    r.w = curand(state);
    return r;
}
