/// wb/ptx/mbarrier.h: barriers in shared memory that count arrivals and bytes
/// (mbarrier, with transactions: sm_90).
///
/// A barrier goes through phases 0, 1, 2, ... A phase is complete when as many threads
/// have arrived as mbarrier_init said, and all bytes that were announced with
/// mbarrier_expect have been written by the TMA unit. Who waits names the parity of
/// the phase: mbarrier_wait(b, p) returns once the phase of parity p is complete. The
/// phase before the first one counts as complete, with parity 1: so a producer that
/// starts with parity 1 finds every stage of its pipeline empty.
///
///     thread 0     mbarrier_init(&full, 1); mbarrier_init_fence();
///     all          __syncthreads();
///     producer     mbarrier_expect(&full, bytes); tma_load(..., &full, ...);
///     consumers    mbarrier_wait(&full, 0);     // the tile is there, and visible
///
/// Source: PTX ISA, "Parallel Synchronization and Communication Instructions:
/// mbarrier".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/hopper.h"

namespace wb::ptx {

/// 8 bytes in shared memory, a multiple of 8; only the functions below touch them.
using Mbarrier = uint64_t;

/// Where a pointer into shared memory points, as instructions want it: 32 bits, counted
/// from the start of the window of shared memory.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
#if defined(WB_HOPPER_SIM)
    return simt::ptx::shared_address(pointer);
#else
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
#endif
}

/// Makes a barrier of `arrivals` arrivals a phase, in phase 0. By one thread.
__device__ __forceinline__ void mbarrier_init(Mbarrier* barrier,
                                              int arrivals WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::mbarrier_init(barrier, arrivals WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(arrivals)
        : "memory");
#else
    __trap();
#endif
}

/// Lets the TMA unit see the barriers that this thread made. A __syncthreads() then
/// lets the block's other threads see them.
__device__ __forceinline__ void mbarrier_init_fence() {
#if defined(WB_HOPPER_SIM)
    simt::ptx::mbarrier_init_fence();
#elif defined(WB_TMA_DEVICE)
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    __trap();
#endif
}

/// Arrives once, and announces that the TMA unit will write `bytes` bytes in this
/// phase: all that its copies into the phase write, zeros past the tensor's edge
/// included. A wrong number of bytes is a kernel that hangs.
__device__ __forceinline__ void mbarrier_expect(Mbarrier* barrier,
                                                int bytes WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::mbarrier_expect(barrier, bytes WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
#else
    __trap();
#endif
}

/// Arrives once. What this thread has read or written before, others may overwrite or
/// read after they have waited for the phase.
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* barrier WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::mbarrier_arrive(barrier WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
        : "memory");
#else
    __trap();
#endif
}

/// Whether the phase of parity `parity` (0 or 1) is complete. May sleep for a while,
/// in the hope that it will be.
__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier* barrier,
                                                  unsigned parity WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    return simt::ptx::mbarrier_try_wait(barrier, parity WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    uint32_t done;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
    return done != 0;
#else
    __trap();
    return true;
#endif
}

/// Waits until the phase of parity `parity` (0 or 1) is complete.
__device__ __forceinline__ void mbarrier_wait(Mbarrier* barrier,
                                              unsigned parity WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::mbarrier_wait(barrier, parity WB_PTX_HERE);
#else
    while (!mbarrier_try_wait(barrier, parity WB_PTX_HERE)) {
    }
#endif
}

/// Orders this thread's ordinary reads and writes of shared memory before those that
/// the asynchronous units (wgmma, TMA) will make: they go by another path. Needed
/// between writing a tile by hand and a wgmma or a TMA store that reads it.
__device__ __forceinline__ void async_proxy_fence() {
#if defined(WB_HOPPER_SIM)
    simt::ptx::async_proxy_fence();
#elif defined(WB_TMA_DEVICE)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
    __trap();
#endif
}

}  // namespace wb::ptx
