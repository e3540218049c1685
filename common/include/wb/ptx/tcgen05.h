/// wb/ptx/tcgen05.h: the tensor cores of Blackwell (sm_100a): d (128 x N, float) +=
/// a (128 x 16) * b (16 x N) for 16-bit operands, issued by one thread, with d in
/// tensor memory (TMEM).
///
/// TMEM has 128 lanes and 512 columns of 32 bits for each block. An address has the
/// lane in bits 16 to 31 and the column in bits 0 to 15. Row i of d is lane i, column j
/// of d is column j. Warp w of a block reaches lanes 32 (w % 4) to 32 (w % 4) + 31
/// only.
///
/// Order of events (one thread issues, four warps read):
///
///     tcgen05_mma_ss(...); ...              // any number; they run in this order
///     tcgen05_commit(&done);                // an arrival when they are done
///     mbarrier_wait(&done, parity); tcgen05_fence_after_sync();
///     tcgen05_ld(r, address); tcgen05_wait_ld(); tcgen05_keep(r);
///     tcgen05_fence_before_sync(); ... a barrier, before TMEM is overwritten
///
/// The descriptors that these instructions take are packed by the learner of
/// day06/09-blackwell-attention. On any other GPU the kernel traps.
///
/// Source: PTX ISA, "TensorCore 5th Generation Family Instructions". We have compiled
/// this, read its SASS and run it in the simulator, but never on a GPU.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/mbarrier.h"
#ifdef SIMT_CPU
#include "simt/blackwell.h"
#elif defined(__CUDA_ARCH_FEAT_SM100_ALL)
#define WB_BLACKWELL_DEVICE
#endif

namespace wb::ptx {

/// Allocates columns, and writes their address to `*address` in shared memory. By a
/// whole warp; waits while there are none.
///
/// @tparam kColumns  32, 64, 128, 256 or 512
template <int kColumns>
__device__ __forceinline__ void tcgen05_alloc(uint32_t* address WB_PTX_SITE) {
    static_assert(kColumns >= 32 && kColumns <= 512 && !(kColumns & (kColumns - 1)));
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_alloc(address, kColumns WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
            shared_address(address)),
        "n"(kColumns)
        : "memory");
    // Nobody else of this multiprocessor's blocks has to wait for this one's next.
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
#else
    __trap();
#endif
}

/// Frees them. By a whole warp, before the block ends.
template <int kColumns>
__device__ __forceinline__ void tcgen05_dealloc(uint32_t address WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_dealloc(address, kColumns WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "n"(kColumns)
                 : "memory");
#else
    __trap();
#endif
}

/// d = a * b (+ d, if `accumulate`), a and b in shared memory. By one thread.
///
/// @param d            TMEM address, lane 0
/// @param a, b         shared memory descriptors
/// @param instruction  instruction descriptor: M 128, N, types, transpositions
__device__ __forceinline__ void tcgen05_mma_ss(uint32_t d,
                                               uint64_t a,
                                               uint64_t b,
                                               uint32_t instruction,
                                               bool accumulate WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_mma_ss(d, a, b, instruction, accumulate WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
        "}\n" ::"r"(d),
        "l"(a),
        "l"(b),
        "r"(instruction),
        "r"(static_cast<uint32_t>(accumulate))
        : "memory");
#else
    __trap();
#endif
}

/// The same with a in TMEM: row i in lane i, elements 2 c and 2 c + 1 of K in column c.
__device__ __forceinline__ void tcgen05_mma_ts(uint32_t d,
                                               uint32_t a,
                                               uint64_t b,
                                               uint32_t instruction,
                                               bool accumulate WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_mma_ts(d, a, b, instruction, accumulate WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n"
        "}\n" ::"r"(d),
        "r"(a),
        "l"(b),
        "r"(instruction),
        "r"(static_cast<uint32_t>(accumulate))
        : "memory");
#else
    __trap();
#endif
}

/// Lets `barrier` count one arrival when all products that this thread has issued are
/// done: their operands may be overwritten, their results read.
__device__ __forceinline__ void tcgen05_commit(Mbarrier* barrier WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_commit(barrier WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
        "[%0];" ::"r"(shared_address(barrier))
        : "memory");
#else
    __trap();
#endif
}

/// Orders this thread's earlier tcgen05 instructions before a barrier that follows.
__device__ __forceinline__ void tcgen05_fence_before_sync() {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_fence_before_sync();
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#endif
}

/// Orders a barrier before this thread's tcgen05 instructions that follow.
__device__ __forceinline__ void tcgen05_fence_after_sync() {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_fence_after_sync();
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
}

// clang-format off
#define WB_TCGEN05_8(C, r, i)                                                          \
    C(r[i]), C(r[i + 1]), C(r[i + 2]), C(r[i + 3]), C(r[i + 4]), C(r[i + 5]),          \
    C(r[i + 6]), C(r[i + 7])
#define WB_TCGEN05_32(C, r)                                                            \
    WB_TCGEN05_8(C, r, 0), WB_TCGEN05_8(C, r, 8), WB_TCGEN05_8(C, r, 16),              \
    WB_TCGEN05_8(C, r, 24)
#define WB_TCGEN05_OUT(x) "=r"(x)
#define WB_TCGEN05_IN(x) "r"(x)
// clang-format on

/// Shape .32x32b.x32: r[i] = lane (32 (warp % 4) + thread's lane), column i, counted
/// from `address`, whose lane is 32 (warp % 4). By a whole warp; r holds the numbers
/// after tcgen05_wait_ld().
__device__ __forceinline__ void tcgen05_ld(uint32_t (&r)[32],
                                           uint32_t address WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_ld(r, address WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
        "%31}, [%32];"
        : WB_TCGEN05_32(WB_TCGEN05_OUT, r)
        : "r"(address)
        : "memory");
#else
    __trap();
#endif
}

/// The same the other way: TMEM holds the numbers after tcgen05_wait_st().
__device__ __forceinline__ void tcgen05_st(uint32_t address,
                                           const uint32_t (&r)[32] WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_st(address, r WB_PTX_HERE);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile(
        "tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
        "%31};" ::WB_TCGEN05_32(WB_TCGEN05_IN, r),
        "r"(address)
        : "memory");
#else
    __trap();
#endif
}

#undef WB_TCGEN05_8
#undef WB_TCGEN05_32
#undef WB_TCGEN05_OUT
#undef WB_TCGEN05_IN

/// Waits for this thread's loads (stores). By a whole warp.
__device__ __forceinline__ void tcgen05_wait_ld(WB_PTX_SITE_ONLY) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_wait_ld(WB_PTX_HERE_ONLY);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void tcgen05_wait_st(WB_PTX_SITE_ONLY) {
#if defined(SIMT_CPU)
    simt::ptx::tcgen05_wait_st(WB_PTX_HERE_ONLY);
#elif defined(WB_BLACKWELL_DEVICE)
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
#endif
}

/// Tells the compiler that registers have changed: by a load that it believes to be
/// done since tcgen05_ld, and that is done since tcgen05_wait_ld. No instruction.
template <int kCount>
__device__ __forceinline__ void tcgen05_keep(uint32_t (&r)[kCount]) {
#if defined(WB_BLACKWELL_DEVICE)
#pragma unroll
    for (int i = 0; i < kCount; ++i)
        asm volatile("" : "+r"(r[i])::"memory");
#else
    (void)r;
#endif
}

}  // namespace wb::ptx
