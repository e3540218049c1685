/// simt/curand/host.h: curand's host API: generators that fill arrays.
///
/// XORWOW and Philox. The numbers have the right distributions; which of them stands
/// where is not promised to be as on a GPU.
#pragma once
#include <cmath>
#include <cstdio>

#include "simt/curand/distributions.h"

enum curandStatus_t {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999,
};
enum curandRngType_t {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204,
};
enum curandOrdering_t {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201,
};
using curandStatus = curandStatus_t;
using curandRngType = curandRngType_t;
using curandOrdering = curandOrdering_t;

/// A generator of the host API.
struct curandGenerator_st {
    bool philox;
    unsigned long long seed = 0;
    unsigned long long offset = 0;
    bool started = false;
    curandStateXORWOW_t xorwow_state{};
    curandStatePhilox4_32_10_t philox_state{};
};
using curandGenerator_t = curandGenerator_st*;

/// Makes a generator of type XORWOW (the default) or Philox; CURAND_STATUS_TYPE_ERROR
/// for others.
inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator,
                                            curandRngType_t type) {
    const bool xorwow =
        type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW;
    if (!xorwow && type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        std::fprintf(stderr,
                     "==SIMT== curandCreateGenerator: type %d is not simulated, only "
                     "XORWOW and Philox4_32_10 are\n",
                     static_cast<int>(type));
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{!xorwow};
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
    return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetVersion(int* version) {
    *version = 10400;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t) {
    return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
/// Seed and offset take effect with the next numbers.
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                 curandOrdering_t) {
    return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

namespace simt::detail {
/// out[i] = draw(state) with the state of the generator's type.
template <class T, class Draw>
curandStatus_t curand_fill(curandGenerator_t generator, T* out, size_t n, Draw draw) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (!generator->started) {
        curand_init(generator->seed, 0, generator->offset, &generator->xorwow_state);
        curand_init(generator->seed, 0, generator->offset, &generator->philox_state);
        generator->started = true;
    }
    for (size_t i = 0; i < n; ++i) {
        out[i] = generator->philox ? draw(&generator->philox_state)
                                   : draw(&generator->xorwow_state);
    }
    return CURAND_STATUS_SUCCESS;
}
/// The same for distributions that make pairs: n must be even.
template <class T, class Draw>
curandStatus_t curand_fill_pairs(curandGenerator_t generator, T* out, size_t n,
                                 Draw draw) {
    if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return curand_fill(generator, out, n, draw);
}
}  // namespace simt::detail

/// Fills out[0, n) with random bits, uniform numbers in (0, 1], normal, log-normal or
/// Poisson numbers.
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned int* out, size_t n) {
    return simt::detail::curand_fill(g, out, n, [](auto* s) { return curand(s); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* out, size_t n) {
    return simt::detail::curand_fill(g, out, n,
                                     [](auto* s) { return curand_uniform(s); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* out,
                                                  size_t n) {
    return simt::detail::curand_fill(g, out, n,
                                     [](auto* s) { return curand_uniform_double(s); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* out, size_t n,
                                           float mean, float deviation) {
    return simt::detail::curand_fill_pairs(
        g, out, n, [=](auto* s) { return mean + deviation * curand_normal(s); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* out,
                                                 size_t n, double mean,
                                                 double deviation) {
    return simt::detail::curand_fill_pairs(
        g, out, n, [=](auto* s) { return mean + deviation * curand_normal_double(s); });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* out, size_t n,
                                              float mean, float deviation) {
    return simt::detail::curand_fill_pairs(
        g, out, n, [=](auto* s) { return curand_log_normal(s, mean, deviation); });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* out,
                                                    size_t n, double mean,
                                                    double deviation) {
    return simt::detail::curand_fill_pairs(g, out, n, [=](auto* s) {
        return curand_log_normal_double(s, mean, deviation);
    });
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int* out,
                                            size_t n, double lambda) {
    if (!(lambda > 0.0 && lambda <= 400000.0)) return CURAND_STATUS_OUT_OF_RANGE;
    return simt::detail::curand_fill(
        g, out, n, [=](auto* s) { return curand_poisson(s, lambda); });
}
