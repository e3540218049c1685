/// wb/launch_kernel.h: a launch with much shared memory, and one of clusters.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "wb/check.h"

namespace wb {

/// Launches a kernel. More than 48 KB of dynamic shared memory have to be asked for
/// first, which this does.
///
/// @param kernel        a __global__ function, its template arguments included
/// @param shared_bytes  of dynamic shared memory
/// @param arguments     of the kernel
template <class Kernel, class... Arguments>
void launch_kernel(Kernel kernel,
                   unsigned blocks,
                   int threads,
                   size_t shared_bytes,
                   cudaStream_t stream,
                   const Arguments&... arguments) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
    kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
    CUDA_CHECK_LAUNCH();
}

/// The same, in clusters of `cluster` blocks; `blocks` is a multiple of it.
template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...),
                     unsigned blocks,
                     int threads,
                     int cluster,
                     size_t shared_bytes,
                     cudaStream_t stream,
                     const Arguments&... arguments) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace wb
