/// wb/ptx/cluster.h: blocks that run together and reach each other's shared memory: a
/// cluster (sm_90). A launch says how many blocks make one (launch_clusters in
/// wb/launch_kernel.h).
///
/// A block of a cluster may have tiles copied into the shared memory of the others
/// (tma_load_multicast) and arrive at their mbarriers. So nobody may begin with that
/// before all have made their barriers, and nobody may end while others still could:
/// cluster_sync() stands at both ends of such a kernel.
///
/// Source: PTX ISA, "barrier.cluster", "mapa" and "mbarrier.arrive".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/hopper.h"
#include "wb/ptx/mbarrier.h"
#if defined(WB_HOPPER_SIM)
#include "simt/cluster_intrinsics.h"
#endif

namespace wb::ptx {

/// This block's number in its cluster: 0 to the blocks of a cluster - 1.
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(WB_HOPPER_SIM)
    return __clusterRelativeBlockRank();
#elif defined(WB_TMA_DEVICE)
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
#else
    __trap();
    return 0;
#endif
}

/// Waits until all threads of all blocks of the cluster have come here; what they wrote
/// to shared memory before, all may read. By whole warps.
__device__ __forceinline__ void cluster_sync() {
#if defined(WB_HOPPER_SIM)
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n"
        "barrier.cluster.wait.acquire.aligned;" ::
            : "memory");
#else
    __trap();
#endif
}

/// Arrives once at the barrier that lies, in another block of the cluster, where
/// `barrier` lies in this one. It orders what wgmma has read, which its wait completes,
/// before what TMA copies to there after the phase; ordinary stores of this thread it
/// does not show to the other block: that takes .release.cluster, a fence of about a
/// microsecond (measured: 535 TFLOP/s in place of what the plain one gives).
///
/// @param rank  of the other block; this block's own is legal, too
__device__ __forceinline__ void mbarrier_arrive_at(Mbarrier* barrier,
                                                   unsigned rank WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    mbarrier_arrive(static_cast<Mbarrier*>(__cluster_map_shared_rank(barrier, rank))
                        WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}\n" ::"r"(shared_address(barrier)),
        "r"(rank)
        : "memory");
#else
    __trap();
#endif
}

}  // namespace wb::ptx
