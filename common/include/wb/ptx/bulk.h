/// wb/ptx/bulk.h: bulk copies (cp.async.bulk, sm_90): one thread has neighbouring bytes
/// copied from global to shared memory, as many as it likes, with one instruction.
///
/// An mbarrier counts the bytes. Nothing describes the source: for tiles of a tensor,
/// with rows that are apart, see tma.h.
///
///     make_full_barriers(s_full);
///     mbarrier_expect(&s_full[0], bytes);
///     bulk_load(s_tile, g_tile, bytes, &s_full[0]);
///     mbarrier_wait(&s_full[0], parity);       // by all threads that read s_tile
///
/// Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk".
#pragma once
#include <cuda_runtime.h>

#include "wb/ptx/mbarrier.h"

namespace wb::ptx {

/// Makes the barriers of a ring, with one arrival a phase: that of the thread which
/// announces the bytes. All threads of the block must call it; then all may use them.
template <int kBarriers>
__device__ __forceinline__ void make_full_barriers(Mbarrier (&barriers)[kBarriers]) {
    if (threadIdx.x == 0) {
        for (Mbarrier& barrier : barriers)
            mbarrier_init(&barrier, 1);
        mbarrier_init_fence();
    }
    __syncthreads();
}

/// Starts copying `bytes` bytes. They are counted by `barrier`, to which they must have
/// been announced with mbarrier_expect. By one thread.
///
/// @param shared  destination, a multiple of 16
/// @param global  source, a multiple of 16
/// @param bytes   > 0, a multiple of 16
__device__ __forceinline__ void bulk_load(void* shared,
                                          const void* global,
                                          int bytes,
                                          Mbarrier* barrier WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::bulk_load(shared, global, bytes, barrier WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1], %2, [%3];" ::"r"(shared_address(shared)),
        "l"(global),
        "r"(bytes),
        "r"(shared_address(barrier))
        : "memory");
#else
    __trap();
#endif
}

}  // namespace wb::ptx
