/// simt/curand/host.h: curand's host API: generators that fill arrays.
///
/// XORWOW and Philox: the numbers have the right distributions; which of them stands
/// where is not promised to be as on a GPU. Sobol32 and Sobol64: the GPU's numbers, in
/// its order, for up to 1111 dimensions.
#pragma once
#include <cmath>
#include <cstdio>

#include "simt/curand/distributions.h"
#include "simt/curand/host_types.h"
#include "simt/curand/sobol.h"
#include "simt/curand/sobol_host.h"

/// A generator of the host API.
struct curandGenerator_st {
    curandRngType_t type;
    unsigned int dimensions = 1;  // of a quasi-random sequence
    unsigned long long seed = 0;
    unsigned long long offset = 0;
    bool started = false;
    curandStateXORWOW_t xorwow_state{};
    curandStatePhilox4_32_10_t philox_state{};
};
using curandGenerator_t = curandGenerator_st*;

namespace simt::detail {
inline bool is_quasi(curandGenerator_t generator) {
    return generator->type >= CURAND_RNG_QUASI_DEFAULT;
}
}  // namespace simt::detail

/// Makes a generator of type XORWOW (the default), Philox, Sobol32 or Sobol64;
/// CURAND_STATUS_TYPE_ERROR for others.
inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator,
                                            curandRngType_t type) {
    if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
    if (type == CURAND_RNG_QUASI_DEFAULT) type = CURAND_RNG_QUASI_SOBOL32;
    if (type != CURAND_RNG_PSEUDO_XORWOW && type != CURAND_RNG_PSEUDO_PHILOX4_32_10 &&
        type != CURAND_RNG_QUASI_SOBOL32 && type != CURAND_RNG_QUASI_SOBOL64) {
        std::fprintf(stderr,
                     "==SIMT== curandCreateGenerator: type %d is not simulated, only "
                     "XORWOW, Philox4_32_10, Sobol32 and Sobol64 are\n",
                     static_cast<int>(type));
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{type};
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
    if (simt::detail::is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
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

/// The sequence of a quasi-random generator has so many dimensions.
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(
    curandGenerator_t generator, unsigned int dimensions) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (!simt::detail::is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1 || dimensions > 20000 ||
        !simt::detail::knows_sobol_dimensions(dimensions))
        return CURAND_STATUS_OUT_OF_RANGE;
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}

namespace simt::detail {
/// All points' first coordinate, then all points' second one, and so on.
template <class T, class Draw>
curandStatus_t sobol_fill(curandGenerator_t generator, T* out, size_t n, Draw draw) {
    const size_t points = n / generator->dimensions;
    if (n % generator->dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    for (unsigned int d = 0; d < generator->dimensions; ++d) {
        const auto fill = [&](auto state, auto* vectors) {
            curand_init(vectors + 8 * sizeof *vectors * d,
                        static_cast<decltype(state.i)>(generator->offset), &state);
            for (size_t i = 0; i < points; ++i)
                *out++ = static_cast<T>(draw(&state));
        };
        if (generator->type == CURAND_RNG_QUASI_SOBOL64)
            fill(curandStateSobol64{}, sobol_vectors64());
        else
            fill(curandStateSobol32{}, sobol_vectors32());
    }
    generator->offset += points;
    return CURAND_STATUS_SUCCESS;
}

/// out[i] = draw(state) with the state of the generator's type.
template <class T, class Draw>
curandStatus_t curand_fill(curandGenerator_t generator, T* out, size_t n, Draw draw) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (simt::detail::is_quasi(generator)) return sobol_fill(generator, out, n, draw);
    if (!generator->started) {
        curand_init(generator->seed, 0, generator->offset, &generator->xorwow_state);
        curand_init(generator->seed, 0, generator->offset, &generator->philox_state);
        generator->started = true;
    }
    for (size_t i = 0; i < n; ++i) {
        out[i] = generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10
                     ? draw(&generator->philox_state)
                     : draw(&generator->xorwow_state);
    }
    return CURAND_STATUS_SUCCESS;
}
/// The same for distributions that make pairs: n must be even.
template <class T, class Draw>
curandStatus_t curand_fill_pairs(curandGenerator_t generator, T* out, size_t n,
                                 Draw draw) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasi(generator) && n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return curand_fill(generator, out, n, draw);
}
}  // namespace simt::detail

/// Fills out[0, n) with random bits, uniform numbers in (0, 1], normal, log-normal or
/// Poisson numbers.
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned int* out, size_t n) {
    if (g != nullptr && g->type == CURAND_RNG_QUASI_SOBOL64)
        return CURAND_STATUS_TYPE_ERROR;
    return simt::detail::curand_fill(g, out, n, [](auto* s) { return curand(s); });
}
/// 64 random bits each; of quasi-random generators, Sobol64 makes them.
inline curandStatus_t curandGenerateLongLong(curandGenerator_t g,
                                             unsigned long long* out, size_t n) {
    if (g == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (g->type != CURAND_RNG_QUASI_SOBOL64 && n > 0) return CURAND_STATUS_TYPE_ERROR;
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
    if (g != nullptr && simt::detail::is_quasi(g)) {
        std::fprintf(stderr,
                     "==SIMT== curandGeneratePoisson: quasi-random Poisson numbers are "
                     "not simulated\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    return simt::detail::curand_fill(g, out, n, [=](auto* s) {
        if constexpr (simt::detail::SobolState<std::decay_t<decltype(*s)>>)
            return 0u;  // refused above
        else
            return curand_poisson(s, lambda);
    });
}
