/// simt/curand/sobol.h: the quasi-random generators of curand, plain and scrambled:
/// the same numbers as on a GPU, but for the last bits of normal ones.
///
/// Source: Bratley, Fox, "Algorithm 659: Implementing Sobol's quasirandom sequence
/// generator", 1988, in the order of Antonov and Saleev's Gray code.
#pragma once
#include <concepts>

#include "simt/curand/distributions.h"
#include "simt/math/special.h"

using curandDirectionVectors32_t = unsigned int[32];
using curandDirectionVectors64_t = unsigned long long[64];

namespace simt::detail {
/// One dimension of a sequence.
template <class Word>
struct Sobol {
    using word_type = Word;
    Word i, x, c;  // the number of the next point, the point, what scrambles it
    Word direction_vectors[8 * sizeof(Word)];
};
template <class State>
concept SobolState = requires {
    typename State::word_type;
}
&&std::derived_from<State, Sobol<typename State::word_type>>;

template <class Word>
void sobol_skip(Word n, Sobol<Word>* state) {
    state->i += n;
    state->x = state->c;
    Word gray = state->i ^ (state->i >> 1);
    for (int bit = 0; gray != 0; gray >>= 1, ++bit)
        if (gray & 1) state->x ^= state->direction_vectors[bit];
}
template <class Word>
void sobol_init(const Word* vectors, Word scramble, Word offset, Sobol<Word>* state) {
    for (unsigned bit = 0; bit < 8 * sizeof(Word); ++bit)
        state->direction_vectors[bit] = vectors[bit];
    state->i = 0;
    state->c = scramble;
    sobol_skip(offset, state);
}

/// The normal number that as many of all others are below as points of [0, 1) are
/// below x; symmetric, so that small probabilities keep their precision.
inline float normal_from(unsigned int x) {
    float s = -1.4142135f;
    if (x > 0x80000000u) {
        x = 0xffffffffu - x;
        s = -s;
    }
    return s * ::erfcinvf(2.0f * uniform_float(x));
}
inline float normal_from(unsigned long long x) {
    return normal_from(static_cast<unsigned int>(x >> 32));
}
inline double normal_double_from(unsigned long long x, double unit, bool upper) {
    const double s = upper ? 1.4142135623730951 : -1.4142135623730951;
    return s * ::erfcinv(2.0 * __builtin_fma(double(x), unit, unit / 2));
}
inline double normal_double_from(unsigned int x) {
    const bool upper = x > 0x80000000u;
    return normal_double_from(upper ? 0xffffffffu - x : x, 0x1p-32, upper);
}
inline double normal_double_from(unsigned long long x) {
    x >>= 11;
    const bool upper = x > 0x10000000000000u;
    return normal_double_from(upper ? 0x1fffffffffffffu - x : x, 0x1p-53, upper);
}
inline float uniform_of(unsigned int x) {
    return uniform_float(x);
}
inline float uniform_of(unsigned long long x) {
    return uniform_float(static_cast<unsigned int>(x >> 32));
}
inline double uniform_double_of(unsigned int x) {
    return uniform_double(x);
}
inline double uniform_double_of(unsigned long long x) {
    return __builtin_fma(double(x >> 11), 0x1p-53, 0x1p-54);
}
}  // namespace simt::detail

struct curandStateSobol32 : simt::detail::Sobol<unsigned int> {};
struct curandStateScrambledSobol32 : simt::detail::Sobol<unsigned int> {};
struct curandStateSobol64 : simt::detail::Sobol<unsigned long long> {};
struct curandStateScrambledSobol64 : simt::detail::Sobol<unsigned long long> {};
using curandStateSobol32_t = curandStateSobol32;
using curandStateScrambledSobol32_t = curandStateScrambledSobol32;
using curandStateSobol64_t = curandStateSobol64;
using curandStateScrambledSobol64_t = curandStateScrambledSobol64;

/// Starts at point `offset` of the dimension that these vectors stand for.
inline void curand_init(curandDirectionVectors32_t vectors, unsigned int offset,
                        curandStateSobol32_t* state) {
    simt::detail::sobol_init(vectors, 0u, offset, state);
}
inline void curand_init(curandDirectionVectors32_t vectors, unsigned int scramble,
                        unsigned int offset, curandStateScrambledSobol32_t* state) {
    simt::detail::sobol_init(vectors, scramble, offset, state);
}
inline void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset,
                        curandStateSobol64_t* state) {
    simt::detail::sobol_init(vectors, 0ull, offset, state);
}
inline void curand_init(curandDirectionVectors64_t vectors, unsigned long long scramble,
                        unsigned long long offset,
                        curandStateScrambledSobol64_t* state) {
    simt::detail::sobol_init(vectors, scramble, offset, state);
}

template <simt::detail::SobolState State>
void skipahead(unsigned long long n, State* state) {
    simt::detail::sobol_skip(static_cast<typename State::word_type>(n), state);
}
/// The next point; from one to the next, a single direction vector comes or goes.
template <simt::detail::SobolState State>
typename State::word_type curand(State* state) {
    const auto point = state->x;
    const int bit = __builtin_ctzll(~static_cast<unsigned long long>(state->i));
    const int last = 8 * sizeof point - 1;
    state->x ^= state->direction_vectors[bit < last ? bit : last];
    ++state->i;
    return point;
}
template <simt::detail::SobolState State>
float curand_uniform(State* state) {
    return simt::detail::uniform_of(curand(state));
}
template <simt::detail::SobolState State>
double curand_uniform_double(State* state) {
    return simt::detail::uniform_double_of(curand(state));
}
template <simt::detail::SobolState State>
float curand_normal(State* state) {
    return simt::detail::normal_from(curand(state));
}
template <simt::detail::SobolState State>
double curand_normal_double(State* state) {
    return simt::detail::normal_double_from(curand(state));
}
template <simt::detail::SobolState State>
float curand_log_normal(State* state, float mean, float deviation) {
    return ::expf(mean + deviation * curand_normal(state));
}
template <simt::detail::SobolState State>
double curand_log_normal_double(State* state, double mean, double deviation) {
    return ::exp(mean + deviation * curand_normal_double(state));
}
// CUDA has no pairs of quasi-random numbers; its Poisson numbers are not simulated.
template <simt::detail::SobolState State>
float2 curand_normal2(State*) = delete;
template <simt::detail::SobolState State>
double2 curand_normal2_double(State*) = delete;
template <simt::detail::SobolState State>
unsigned int curand_poisson(State*, double) = delete;
