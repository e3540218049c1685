/// simt/curand/xorwow.h: the XORWOW generator of curand, curandState: the same numbers
/// as on a GPU.
///
/// Sources: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003,
/// section 3.1 (the generator); cuRAND Library Programming Guide (sequences 2^67
/// apart). Jumping ahead multiplies the state by a power of the generator's matrix over
/// GF(2).
#pragma once
#include <cstdint>

#include "simt/vector_types.h"

/// State of a generator: the xorshift registers v, the Weyl counter d, and what a
/// normal distribution has drawn in advance.
struct curandStateXORWOW {
    unsigned int d;
    unsigned int v[5];
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandState = curandStateXORWOW;

namespace simt::detail {
constexpr unsigned int kWeylStep = 362437;

/// The five registers: a vector of 160 bits.
struct XorshiftState {
    uint32_t v[5];
};
inline void xorshift_step(uint32_t (&v)[5]) {
    const uint32_t t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

/// Advances the registers by n * 2^log2_unit steps. In the library: the matrices that
/// it makes at its first call must be made in one go, whatever thread is preempted.
void xorshift_jump(uint32_t (&v)[5], unsigned long long n, int log2_unit);
}  // namespace simt::detail

/// Advances the generator by n numbers.
inline void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
    simt::detail::xorshift_jump(state->v, n, 0);
    state->d += simt::detail::kWeylStep * static_cast<unsigned int>(n);
}
/// Advances the generator by n sequences of 2^67 numbers.
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
    simt::detail::xorshift_jump(state->v, n, 67);
}

/// Starts a generator: different sequences of one seed do not overlap.
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStateXORWOW_t* state) {
    const uint32_t low = static_cast<uint32_t>(seed) ^ 0xaad26b49u;
    const uint32_t high = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu;
    const uint32_t a = 1099087573u * low;
    const uint32_t b = 2591861531u * high;
    *state = {};
    state->d = 6615241u + a + b;
    state->v[0] = 123456789u + a;
    state->v[1] = 362436069u ^ a;
    state->v[2] = 521288629u + b;
    state->v[3] = 88675123u ^ b;
    state->v[4] = 5783321u + a;
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}

/// The next 32 random bits.
inline unsigned int curand(curandStateXORWOW_t* state) {
    simt::detail::xorshift_step(state->v);
    state->d += simt::detail::kWeylStep;
    return state->v[4] + state->d;
}
