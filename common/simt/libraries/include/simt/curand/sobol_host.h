/// simt/curand/sobol_host.h: the direction vectors of quasi-random sequences.
#pragma once
#include <cstddef>

#include "simt/curand/host_types.h"
#include "simt/curand/sobol.h"

/// Tables of Joe and Kuo's direction vectors. CUDA's have 20,000 dimensions, these
/// 1111; what lies behind must not be read. The scrambled sets, and the constants that
/// go with them, are CURAND_STATUS_OUT_OF_RANGE and CURAND_STATUS_TYPE_ERROR.
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors,
                                           curandDirectionVectorSet_t set);
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors,
                                           curandDirectionVectorSet_t set);
curandStatus_t curandGetScrambleConstants32(unsigned int** constants);
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants);

namespace simt::detail {
inline constexpr size_t kSobolDimensions = 1111;
/// The vectors of all dimensions, one after the other.
unsigned int* sobol_vectors32();
unsigned long long* sobol_vectors64();
/// False, with a line on stderr, for more dimensions than are known.
bool knows_sobol_dimensions(unsigned dimensions);
}  // namespace simt::detail
