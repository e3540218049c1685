/// wb/launch_kernel.h: a launch with much shared memory.
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

}  // namespace wb
