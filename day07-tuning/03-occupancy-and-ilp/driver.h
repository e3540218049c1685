/// driver.h: what the CUDA driver says of a kernel.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstdint>

/// What a kernel takes, as the compiler has made it, and how often it fits.
struct Facts {
    int registers;         ///< of a thread
    int64_t local_bytes;   ///< of a thread: spilled registers, and arrays with an index
    int64_t shared_bytes;  ///< of a block, static and dynamic
    int blocks;            ///< of it that a multiprocessor of this GPU holds
};

/// More than 48 KB of dynamic shared memory a kernel gets only if it was announced.
template <class Kernel>
void announce_shared(Kernel kernel, int64_t dynamic_shared) {
    constexpr int64_t kUnannounced = 48 << 10;
    if (dynamic_shared <= kUnannounced) return;
    CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(dynamic_shared)));
}

// #region ask
/// Asks about kernel<<<…, threads, dynamic_shared>>>.
template <class Kernel>
Facts ask_driver(Kernel kernel, int threads, int64_t dynamic_shared) {
    announce_shared(kernel, dynamic_shared);
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, threads, static_cast<size_t>(dynamic_shared)));
    return {attributes.numRegs,
            static_cast<int64_t>(attributes.localSizeBytes),
            static_cast<int64_t>(attributes.sharedSizeBytes) + dynamic_shared,
            blocks};
}
// #endregion ask
