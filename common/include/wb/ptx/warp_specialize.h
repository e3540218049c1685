/// wb/ptx/warp_specialize.h: what lets the warps of one block do different work
/// (sm_90a): registers that change hands, and barriers for a part of the block.
///
/// Source: PTX ISA, "Miscellaneous Instructions: setmaxnreg", "Parallel Synchronization
/// and Communication Instructions: bar" and "... elect.sync".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/hopper.h"

namespace wb::ptx {

/// Threads of a warpgroup: four warps, the first of them a multiple of four.
inline constexpr int kWarpgroup = 128;

/// This warp keeps kRegisters registers a thread and gives the rest back. All warps of
/// a warpgroup, together, and only where the launch bounds fix the block's registers;
/// what the kernel was compiled with, __launch_bounds__ decides: 65536 / threads,
/// rounded down to a multiple of 8.
///
/// @tparam kRegisters  a multiple of 8 from 24 to 256, no more than the warp has
template <int kRegisters>
__device__ __forceinline__ void registers_give_back(WB_PTX_SITE_ONLY) {
    static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#if defined(WB_HOPPER_SIM)
    simt::ptx::setmaxnreg_dec(kRegisters WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#else
    __trap();
#endif
}

/// This warp waits until it has kRegisters registers a thread, which others have given
/// back. If the sum over the block is more than it was launched with, it waits for
/// ever. Parameters as for registers_give_back; no fewer than the warp has.
template <int kRegisters>
__device__ __forceinline__ void registers_take(WB_PTX_SITE_ONLY) {
    static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#if defined(WB_HOPPER_SIM)
    simt::ptx::setmaxnreg_inc(kRegisters WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#else
    __trap();
#endif
}

/// Waits at barrier `id` until `threads` threads, those included that only arrived,
/// have come. Whole warps, all lanes together.
///
/// @param id       1 to 15; __syncthreads() is barrier 0
/// @param threads  a multiple of 32
__device__ __forceinline__ void named_barrier_sync(int id, int threads WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::named_barrier_sync(id, threads WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
    __trap();
#endif
}

/// Counts as having come to barrier `id`, and goes on. Parameters as for
/// named_barrier_sync.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::named_barrier_arrive(id, threads WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#else
    __trap();
#endif
}

/// True for one lane of a whole warp, the same one at every call.
__device__ __forceinline__ bool elect_one(WB_PTX_SITE_ONLY) {
#if defined(WB_HOPPER_SIM)
    return simt::ptx::elect_one(WB_PTX_HERE_ONLY);
#elif defined(WB_HOPPER_DEVICE)
    uint32_t elected;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "elect.sync _|p, 0xffffffff;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(elected));
    return elected != 0;
#else
    __trap();
    return false;
#endif
}

}  // namespace wb::ptx
