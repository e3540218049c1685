/// wb/ptx/mma.h: mma.sync.m16n8k16 (sm_80): c (16x8, float) += a (16x16) * b (16x8), by
/// the 32 lanes of a warp together; and m16n8k32 of bytes.
///
/// Lane l holds, with g = l / 4 and p = 2 (l % 4), pairs of 16-bit elements per
/// register:
///
///     a[0] = A[g    ][p, p+1]    a[2] = A[g    ][p+8, p+9]
///     a[1] = A[g + 8][p, p+1]    a[3] = A[g + 8][p+8, p+9]
///     b[0] = B[p, p+1][g]        b[1] = B[p+8, p+9][g]
///     c[0], c[1] = C[g][p, p+1]  c[2], c[3] = C[g + 8][p, p+1]
///
/// Bytes lie the same way, twice as many in each register: with p = 4 (lane % 4),
///
///     a[0] = A[g    ][p .. p+3]  a[2] = A[g    ][p+16 .. p+19]
///     a[1] = A[g + 8][p .. p+3]  a[3] = A[g + 8][p+16 .. p+19]
///     b[0] = B[p .. p+3][g]      b[1] = B[p+16 .. p+19][g]
///
/// GPUs before sm_80 lack the instructions: the kernel traps.
///
/// Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", and
/// "for mma.m16n8k32".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/site.h"
#ifdef SIMT_CPU
#include "simt/ptx.h"
#endif

namespace wb::ptx {

/// c += a * b for operands of type half.
__device__ __forceinline__ void mma_m16n8k16_f16(float (&c)[4],
                                                 const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2] WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::mma_m16n8k16<simt::Binary16>(c, a, b WB_PTX_HERE);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

/// c += a * b for operands of type bfloat16.
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&c)[4],
                                                  const uint32_t (&a)[4],
                                                  const uint32_t (&b)[2] WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::mma_m16n8k16<simt::Bfloat16>(c, a, b WB_PTX_HERE);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

/// c += a * b for operands of signed bytes, a 16 x 32, b 32 x 8. Sums are whole numbers
/// of 32 bits, which wrap.
__device__ __forceinline__ void mma_m16n8k32_s8(int32_t (&c)[4],
                                                const uint32_t (&a)[4],
                                                const uint32_t (&b)[2] WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::mma_m16n8k32_s8(c, a, b WB_PTX_HERE);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

}  // namespace wb::ptx
