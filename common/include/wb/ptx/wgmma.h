/// wb/ptx/wgmma.h: wgmma.mma_async (sm_90a): d (64 x N, float) += a (64 x K) * b (K x
/// N) by the 128 threads of a warpgroup, asynchronously. K is 16 for half and bfloat16,
/// 32 for FP8 (e4m3) and for signed bytes, whose sums d are int32_t. N may be 64, 80,
/// 96, 112, 128, 144, 160, 176, 192, 208, 224, 256.
///
/// Thread t of the warpgroup is lane l = t % 32 of warp w = t / 32. With g = l / 4 and
/// p = 2 (l % 4) it holds, of d,
///
///     d[4 j], d[4 j + 1]      = D[16 w + g    ][8 j + p, 8 j + p + 1]
///     d[4 j + 2], d[4 j + 3]  = D[16 w + g + 8][8 j + p, 8 j + p + 1]
///
/// and, where a comes from registers, pairs of 16-bit elements as in mma.m16n8k16,
///
///     a[0] = A[16 w + g    ][p, p + 1]    a[2] = A[16 w + g    ][p + 8, p + 9]
///     a[1] = A[16 w + g + 8][p, p + 1]    a[3] = A[16 w + g + 8][p + 8, p + 9]
///
/// So d[8 k .. 8 k + 7], rounded and packed pairwise, is the a of columns 16 k to
/// 16 k + 15: what softmax leaves in registers multiplies the next matrix without being
/// moved. (FP8: a[i] holds four elements, columns 2p .. 2p+3 and 2p+16 .. 2p+19.)
///
/// Matrices in shared memory are described by a wgmma_descriptor. b is stored either
/// K-major, as N rows of K elements (a tile of keys: S = Q K^T), or, with kTransposeB,
/// N-major, as K rows of N elements (a tile of values: O = P V; 16-bit types only).
///
/// Order of events:
///
///     wgmma_fence();          // registers that the group uses are written
///     wgmma(...); wgmma(...); // any number, on the same d too
///     wgmma_commit();         // they are a group
///     wgmma_wait<0>();        // at most 0 groups are still running
///     wgmma_keep(d);          // the compiler must not move uses of d above the wait
///
/// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
/// Instructions".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "wb/ptx/hopper.h"
#include "wb/ptx/tile_layout.h"
#include "wb/ptx/wgmma_shapes.h"

namespace wb::ptx {

/// Orders this warpgroup's accesses of registers before the wgmmas that follow. Needed
/// before the first one and wherever d or a was written by other instructions since.
__device__ __forceinline__ void wgmma_fence(WB_PTX_SITE_ONLY) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_fence(WB_PTX_HERE_ONLY);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
    __trap();
#endif
}

/// Makes a group of the wgmmas since the last call.
__device__ __forceinline__ void wgmma_commit(WB_PTX_SITE_ONLY) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_commit(WB_PTX_HERE_ONLY);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    __trap();
#endif
}

/// Waits until at most the kPending newest groups of this warpgroup are running.
template <int kPending>
__device__ __forceinline__ void wgmma_wait(WB_PTX_SITE_ONLY) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_wait(kPending WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#else
    __trap();
#endif
}

/// Tells the compiler that registers have changed: by a wgmma that it believes to be
/// done. No instruction.
template <int kCount>
__device__ __forceinline__ void wgmma_keep(float (&d)[kCount]) {
#if defined(WB_HOPPER_DEVICE)
#pragma unroll
    for (int i = 0; i < kCount; ++i)
        asm volatile("" : "+f"(d[i])::"memory");
#else
    (void)d;
#endif
}

template <int kCount>
__device__ __forceinline__ void wgmma_keep(int32_t (&d)[kCount]) {
#if defined(WB_HOPPER_DEVICE)
#pragma unroll
    for (int i = 0; i < kCount; ++i)
        asm volatile("" : "+r"(d[i])::"memory");
#else
    (void)d;
#endif
}

/// The same for several accumulators.
template <class Sum, int kBlocks, int kCount>
__device__ __forceinline__ void wgmma_keep(Sum (&d)[kBlocks][kCount]) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
        wgmma_keep(d[i]);
}

/// d = a * b (+ d, if `accumulate`), both matrices in shared memory. By all threads of
/// a warpgroup together; a is K-major.
///
/// @tparam T            __half, __nv_bfloat16 or __nv_fp8_e4m3
/// @tparam kTransposeB  whether b is N-major
template <class T, bool kTransposeB = false, int kCount>
__device__ __forceinline__ void wgmma(float (&d)[kCount],
                                      uint64_t a,
                                      uint64_t b,
                                      bool accumulate WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_ss<T, kTransposeB>(d, a, b, accumulate WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    detail::Wgmma<kCount * 2>::template ss<T, kTransposeB>(d, a, b, accumulate);
#else
    __trap();
#endif
}

/// The same of signed bytes: d are whole numbers of 32 bits, which wrap.
///
/// @tparam T  int8_t
template <class T, bool kTransposeB = false, int kCount>
__device__ __forceinline__ void wgmma(int32_t (&d)[kCount],
                                      uint64_t a,
                                      uint64_t b,
                                      bool accumulate WB_PTX_SITE) {
    static_assert(std::is_same_v<T, int8_t> && !kTransposeB, "bytes are K-major");
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_ss_s8(d, a, b, accumulate WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    detail::Wgmma<kCount * 2>::ss_s8(d, a, b, accumulate);
#else
    __trap();
#endif
}

/// d = a * b (+ d) with a in registers, which must not change before the wgmma is done.
template <class T, bool kTransposeB = false, int kCount>
__device__ __forceinline__ void wgmma(float (&d)[kCount],
                                      const uint32_t (&a)[4],
                                      uint64_t b,
                                      bool accumulate WB_PTX_SITE) {
#if defined(WB_HOPPER_SIM)
    simt::ptx::wgmma_rs<T, kTransposeB>(d, a, b, accumulate WB_PTX_HERE);
#elif defined(WB_HOPPER_DEVICE)
    detail::Wgmma<kCount * 2>::template rs<T, kTransposeB>(d, a, b, accumulate);
#else
    __trap();
#endif
}

}  // namespace wb::ptx
