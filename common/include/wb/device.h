/// wb/device.h: what a launcher asks about the GPU that it runs on.
#pragma once

#include <cuda_runtime.h>

#include "wb/check.h"

namespace wb {

/// An attribute of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

/// Multiprocessors of the current device.
inline int multiprocessors() {
    return device_attribute(cudaDevAttrMultiProcessorCount);
}

/// Compute capability of the current device, times 10: 90 of an H100.
inline int compute_capability() {
    return 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
           device_attribute(cudaDevAttrComputeCapabilityMinor);
}

}  // namespace wb
