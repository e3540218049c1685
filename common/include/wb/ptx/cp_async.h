/// wb/ptx/cp_async.h: asynchronous copies from global to shared memory (cp.async,
/// sm_80).
///
/// Each thread starts copies, closes them into groups, and waits until at most N of its
/// newest groups are still in flight. A wait covers the thread's own copies only:
/// __syncthreads() makes them visible to the block. On older GPUs the copies are made
/// at once.
///
/// Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/site.h"

namespace wb::ptx {

namespace detail {
/// Copies kBytes bytes with ordinary instructions, zeros after the first `valid` ones.
template <int kBytes>
__device__ __forceinline__ void copy_now(void* shared, const void* global, int valid) {
    for (int i = 0; i < kBytes; ++i) {
        static_cast<char*>(shared)[i] =
            i < valid ? static_cast<const char*>(global)[i] : char(0);
    }
}
}  // namespace detail

/// Starts copying `valid` bytes and fills the rest of the kBytes bytes with zeros. With
/// valid = 0 nothing is read, which makes tile edges cheap.
///
/// compute-sanitizer's memcheck counts any other `valid` as a read of kBytes bytes. If
/// an array may end within a copy, copy what is left of it in smaller pieces.
///
/// @tparam kBytes  4, 8 or 16; both addresses are multiples of it
/// @param shared   destination, in shared memory
/// @param global   source, in global memory
/// @param valid    0 <= valid <= kBytes
template <int kBytes>
__device__ __forceinline__ void cp_async_zfill(void* shared,
                                               const void* global,
                                               int valid WB_PTX_SITE) {
    static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16,
                  "cp.async copies 4, 8 or 16 bytes");
#if defined(SIMT_CPU)
    simt::detail::cp_async(shared, global, kBytes, valid, file, line);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const auto dst = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    if constexpr (kBytes == 16) {
        // .cg: past the L1 cache, which the data would only pass through.
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst),
                     "l"(global),
                     "r"(valid)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst),
                     "l"(global),
                     "n"(kBytes),
                     "r"(valid)
                     : "memory");
    }
#else
    detail::copy_now<kBytes>(shared, global, valid);
#endif
}

/// Starts copying kBytes bytes; parameters as for cp_async_zfill.
template <int kBytes>
__device__ __forceinline__ void cp_async(void* shared, const void* global WB_PTX_SITE) {
    cp_async_zfill<kBytes>(shared, global, kBytes WB_PTX_HERE);
}

/// Closes the copies started since the last call into a group.
__device__ __forceinline__ void cp_async_commit() {
#if defined(SIMT_CPU)
    simt::detail::cp_async_commit();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most the kPending newest groups are in flight.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
#if defined(SIMT_CPU)
    simt::detail::cp_async_wait(kPending);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace wb::ptx
