/// wb/shared_memory.h: more shared memory for a block than the 48 KB that every kernel
/// may have.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstddef>

namespace wb {

/// Lets a kernel have `bytes` of dynamic shared memory.
/// Returns false where the GPU does not have as much for a block.
template <class Kernel>
bool allow_shared(Kernel kernel, std::size_t bytes) {
    int device = 0;
    int most = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (bytes > static_cast<std::size_t>(most)) return false;
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    return true;
}

}  // namespace wb
