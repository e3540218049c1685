/// wb/ptx/tma.h: the Tensor Memory Accelerator (sm_90): one thread has a whole tile
/// copied between global and shared memory.
///
/// A tensor map describes the tensor in global memory and the box that one copy moves.
/// Ours have four dimensions, the first one contiguous, and the 128-byte swizzle: a row
/// of the box is 128 bytes, and of row r, counted from an address that is a multiple of
/// 1024, the 16 bytes at byte b lie at byte b ^ (r % 8) * 16 (swizzle_128b in
/// tile_layout.h). So eight rows of one 16-byte column lie in all 32 banks, and the
/// TMA unit and wgmma both read and write without conflicts.
///
/// A box may stick out of the tensor: what lies outside is read as zeros, and not
/// written. The zeros count as bytes for the barrier.
///
/// Source: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA, "cp.async.bulk.tensor".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/mbarrier.h"
#include "wb/ptx/tensor_map.h"
#include "wb/ptx/tile_layout.h"

namespace wb::ptx {

/// Starts copying the box at (x, y, z, w), counted in elements and possibly negative,
/// into shared memory. Its bytes are counted by `barrier`, to which they must have been
/// announced with mbarrier_expect. By one thread.
///
/// @param shared  the destination, a multiple of 1024
/// @param map     in a kernel's parameters or in global memory
__device__ __forceinline__ void tma_load(void* shared,
                                         const TensorMap* map,
                                         Mbarrier* barrier,
                                         int x,
                                         int y,
                                         int z,
                                         int w WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::tma_load(shared, map, barrier, x, y, z, w WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(
            shared_address(shared)),
        "l"(map),
        "r"(shared_address(barrier)),
        "r"(x),
        "r"(y),
        "r"(z),
        "r"(w)
        : "memory");
#else
    __trap();
#endif
}

/// The same into the shared memory of several blocks of a cluster: to where `shared`
/// lies in each, counted by the barrier that lies there where `barrier` does. Each
/// block announces the bytes that it gets to its own barrier. By one thread of one
/// block. For sm_90a: ptxas calls it slow on targets that name no single GPU.
///
/// @param blocks  a bit for each block of the cluster, by its rank
__device__ __forceinline__ void tma_load_multicast(void* shared,
                                                   const TensorMap* map,
                                                   Mbarrier* barrier,
                                                   int x,
                                                   int y,
                                                   int z,
                                                   int w,
                                                   unsigned blocks WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    const int at[4] = {x, y, z, w};
    simt::ptx::tma_load_multicast(shared, map, barrier, at, 4, blocks WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(shared_address(shared)),
        "l"(map),
        "r"(shared_address(barrier)),
        "r"(x),
        "r"(y),
        "r"(z),
        "r"(w),
        "h"(static_cast<uint16_t>(blocks))
        : "memory");
#else
    __trap();
#endif
}

/// Brings a tensor map near to the TMA unit before the first copy asks for it. A hint.
__device__ __forceinline__ void tma_prefetch_map(const TensorMap* map) {
#if !defined(WB_HOPPER_SIM) && defined(WB_TMA_DEVICE)
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#else
    (void)map;
#endif
}

/// Starts copying a box from shared memory to (x, y, z, w), which must lie inside of
/// the tensor; only the box's far end may stick out. (A negative y ended our kernel on
/// an H100 with an illegal instruction.) What ordinary stores have written into it must
/// have passed an async_proxy_fence() and a barrier before. By one thread, which then
/// calls tma_store_commit, and tma_store_wait_read before the box is written again or
/// the block ends.
__device__ __forceinline__ void tma_store(
    const TensorMap* map, const void* shared, int x, int y, int z, int w WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::tma_store(map, shared, x, y, z, w WB_PTX_HERE);
#elif defined(WB_TMA_DEVICE)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"
        " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
        "r"(shared_address(shared)),
        "r"(x),
        "r"(y),
        "r"(z),
        "r"(w)
        : "memory");
#else
    __trap();
#endif
}

/// Closes the stores that this thread started since the last call into a group.
__device__ __forceinline__ void tma_store_commit() {
#if defined(WB_HOPPER_SIM)
    simt::ptx::tma_store_commit();
#elif defined(WB_TMA_DEVICE)
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
    __trap();
#endif
}

/// Waits until, of all but the kPending newest groups of this thread, shared memory has
/// been read and may be written again.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
#if defined(WB_HOPPER_SIM)
    simt::ptx::tma_store_wait_read(kPending);
#elif defined(WB_TMA_DEVICE)
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#else
    __trap();
#endif
}

}  // namespace wb::ptx
