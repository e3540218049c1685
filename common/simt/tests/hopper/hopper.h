/// hopper.h: what the tests of Hopper's instructions share.
#pragma once

#include <cuda.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/warp_specialize.h>

#include "../devlib/check.h"

namespace hopper {

/// Leaves the program, as a test that was skipped, on a GPU that is no Hopper.
inline void need_hopper() {
#ifndef SIMT_CPU
    cudaDeviceProp prop;
    check::need(cudaGetDeviceProperties(&prop, 0), "cudaGetDeviceProperties");
    if (prop.major == 9) return;
    std::printf("skipped: these instructions are those of compute capability 9.0\n");
    std::exit(77);
#endif
}

/// Swizzling by 32, 64 or 128 bytes, by the table in the PTX ISA ("Swizzling Modes"):
/// the 16-byte unit u of the 128-byte line i lies at unit u ^ (i mod 8), (i mod 4) or
/// (i mod 2); without swizzling nothing moves.
__host__ __device__ inline int swizzled(int offset, int width) {
    const int line = offset / 128;
    const int unit = offset / 16 % 8;
    const int moved = width == 128  ? unit ^ (line % 8)
                      : width == 64 ? unit ^ (line % 4)
                      : width == 32 ? unit ^ (line % 2)
                                    : unit;
    return line * 128 + moved * 16 + offset % 16;
}

/// Dynamic shared memory from the next multiple of 1024 on.
__device__ inline char* aligned_1024(char* raw) {
    const auto address = reinterpret_cast<uintptr_t>(raw);
    return raw + ((1024 - address % 1024) % 1024);
}

template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
    check::need(cudaFuncSetAttribute(
                    kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "cudaFuncSetAttribute");
}

}  // namespace hopper
