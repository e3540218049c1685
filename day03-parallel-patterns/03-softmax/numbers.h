/// numbers.h: given with this exercise: elements of two types, and floats.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "softmax.h"

// #region numbers
/// An element as a float, which every bf16 is.
__device__ __forceinline__ float to_float(float value) {
    return value;
}
__device__ __forceinline__ float to_float(Bf16 value) {
    return __bfloat162float(value);
}

/// A float as an element, rounded to the nearest.
template <class T>
__device__ __forceinline__ T to_element(float value) {
    if constexpr (sizeof(T) == sizeof(float))
        return value;
    else
        return __float2bfloat16(value);
}
// #endregion numbers
