/// wb/ptx/load.h: loads from global memory that tell the caches what will happen next.
///
/// Source: PTX ISA, "Data Movement and Conversion Instructions: ld.global.nc" and
/// "... prefetch".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace wb::ptx {

/// Loads 16 bytes that are read once, by one multiprocessor, and written by nobody
/// while the kernel runs: they are not kept in the L1 cache, and the L2 cache fetches
/// the 256 bytes around them at once, for the neighbours will be asked for, too.
///
/// @param address  in global memory, a multiple of 16
///
/// Hints only: GPUs before sm_80 ignore the size, and the simulator has no caches. Its
/// checker says if the kernel writes there.
__device__ __forceinline__ uint4 load_streaming(const void* address) {
#if defined(__CUDA_ARCH__) && !defined(SIMT_CPU)
    uint4 value;
    asm volatile(
#if __CUDA_ARCH__ >= 800
        "ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
#else
        "ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
#endif
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(address));
    return value;
#else
    return __ldg(static_cast<const uint4*>(address));
#endif
}

/// Asks for the 128-byte line of an address to be brought into the L2 cache. Nothing
/// waits for it, and nothing happens if it does not come.
///
/// @param address  in global memory
__device__ __forceinline__ void prefetch_l2(const void* address) {
#if defined(__CUDA_ARCH__) && !defined(SIMT_CPU)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
    (void)address;
#endif
}

}  // namespace wb::ptx
