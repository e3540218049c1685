// Random numbers: bits and uniform numbers are the same everywhere.
#include <curand_kernel.h>

#include "digest.h"

/// A generator somewhere in one of many sequences, a few numbers on.
template <class State>
__device__ State started(uint64_t seed, uint64_t sequence, uint64_t offset) {
    State state;
    curand_init(seed, sequence, offset, &state);
    for (uint64_t i = 0; i < offset % 7; ++i)
        (void)curand(&state);
    return state;
}
template <class State>
__device__ unsigned int bits(uint64_t a, uint64_t b, uint64_t c) {
    State state = started<State>(a, b % 100000, c % 1000);
    return curand(&state);
}
template <class State>
__device__ unsigned int bits_far(uint64_t a, uint64_t b, uint64_t c) {
    State state = started<State>(a, b, c);
    return curand(&state);
}
template <class State>
__device__ float uniform(uint64_t a, uint64_t b) {
    State state = started<State>(a, b % 100, 3);
    return curand_uniform(&state);
}
template <class State>
__device__ double uniform_double(uint64_t a, uint64_t b) {
    State state = started<State>(a, b % 100, 2);
    return curand_uniform_double(&state);
}
__device__ float uniform4(uint64_t a, uint64_t b) {
    auto state = started<curandStatePhilox4_32_10_t>(a, b, b % 5);
    const float4 four = curand_uniform4(&state);
    return four.x + 2 * four.y + 4 * four.z + 8 * four.w + curand_uniform(&state);
}

DIGEST(xorwow_bits, uint64_t, bits<curandState>(a, b, c))
DIGEST(xorwow_bits_far, uint64_t, bits_far<curandState>(a, b, c))
DIGEST(xorwow_uniform, uint64_t, uniform<curandState>(a, b))
DIGEST(xorwow_uniform_double, uint64_t, uniform_double<curandState>(a, b))
DIGEST(philox_bits, uint64_t, bits<curandStatePhilox4_32_10_t>(a, b, c))
DIGEST(philox_bits_far, uint64_t, bits_far<curandStatePhilox4_32_10_t>(a, b, c))
DIGEST(philox_uniform, uint64_t, uniform<curandStatePhilox4_32_10_t>(a, b))
DIGEST(philox_uniform_double,
       uint64_t,
       uniform_double<curandStatePhilox4_32_10_t>(a, b))
DIGEST(philox_uniform4, uint64_t, uniform4(a, b))
