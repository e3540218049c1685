/// device.h: the GPU at hand (or the simulator's), as the exercise describes one.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include "occupancy_and_ilp.h"

/// A number that the driver knows of the device.
inline int attribute(cudaDeviceAttr which) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

/// Its multiprocessors, from the driver: also of architectures that are not in
/// multiprocessor.h.
inline Multiprocessor this_multiprocessor() {
    Multiprocessor sm{};
    sm.arch = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
              attribute(cudaDevAttrComputeCapabilityMinor);
    sm.warps = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / 32;
    sm.blocks = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    sm.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    sm.shared_unit = sm.arch < 80 ? 256 : 128;
    sm.shared_reserved = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    return sm;
}

/// What a kernel takes, by the driver's facts.
inline Needs needs_of(const Facts& facts, int threads) {
    return {threads, facts.registers, facts.shared_bytes};
}
