// A wrapper of an instruction, for launches.cu.
#pragma once

/// Stores a value, as the wrappers in wb/ptx store: the line that calls it is meant.
__device__ __forceinline__ void store(float* to, float value) {
    *to = value;
}
