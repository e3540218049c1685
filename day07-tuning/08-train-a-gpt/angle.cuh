// angle.cuh: given with this exercise: by which angle a number of a head turns. There
// is nothing to write here.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// #region angle
/// Cosine and sine of position * 10000^(-2 pair / rotary), each a double that is
/// rounded once.
__device__ __forceinline__ float2 angle_of(int64_t position,
                                           int64_t pair,
                                           int64_t rotary) {
    const double exponent =
        -2.0 * static_cast<double>(pair) / static_cast<double>(rotary);
    const double angle = static_cast<double>(position) * pow(10000.0, exponent);
    return {static_cast<float>(cos(angle)), static_cast<float>(sin(angle))};
}
// #endregion angle
