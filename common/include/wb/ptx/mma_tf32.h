/// wb/ptx/mma_tf32.h: mma.sync.m16n8k8 of TF32 (sm_80): c (16x8, float) += a (16x8) *
/// b (8x8), by the 32 lanes of a warp together; and three of them in place of a product
/// of floats.
///
/// TF32 has the sign, the exponent and the first 10 of 23 fraction bits of a float, in
/// the same places; the tensor cores take no notice of the 13 bits behind. Lane l
/// holds, with g = l / 4 and t = l % 4, an element a register:
///
///     a[0] = A[g    ][t]    a[2] = A[g    ][t + 4]       b[0] = B[t    ][g]
///     a[1] = A[g + 8][t]    a[3] = A[g + 8][t + 4]       b[1] = B[t + 4][g]
///     c[0], c[1] = C[g][2 t, 2 t + 1]    c[2], c[3] = C[g + 8][2 t, 2 t + 1]
///
/// GPUs before sm_80 lack the instruction: the kernel traps.
///
/// Source: PTX ISA, "Matrix Fragments for mma.m16n8k8".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/site.h"
#ifdef SIMT_CPU
#include "simt/ptx.h"
#endif

namespace wb::ptx {

/// c += a * b for operands of type TF32.
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&c)[4],
                                                 const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2] WB_PTX_SITE) {
#if defined(SIMT_CPU)
    simt::ptx::mma_m16n8k8(c, a, b WB_PTX_HERE);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

/// Numbers of a fragment, each cut in two: x = big + small + rest. big has the first 11
/// binary digits of x, small the next ones from its own first digit on, and what is
/// left is less than 2^-21 |x|. The subtraction is exact.
template <int kCount>
struct SplitTf32 {
    uint32_t big[kCount];
    uint32_t small[kCount];

    /// Sets number i. Of a number that is not finite, small is NaN; where |x| < 2^-102,
    /// small may be less than the smallest number that has all its digits.
    __device__ __forceinline__ void set(int i, float x) {
        big[i] = __float_as_uint(x);
        small[i] = __float_as_uint(x - __uint_as_float(big[i] & 0xFFFFE000u));
    }
};

/// c[n] += a * b[n], to nearly the accuracy of float: big * big + big * small + small *
/// big. small * small, less than 2^-20 of the product, is left out. The small ones come
/// first, while c is small, and products into the same c are kCount instructions apart.
template <int kCount>
__device__ __forceinline__ void mma_3xtf32(float (&c)[kCount][4],
                                           const SplitTf32<4>& a,
                                           const SplitTf32<2> (&b)[kCount]) {
#pragma unroll
    for (int n = 0; n < kCount; ++n)
        mma_m16n8k8_tf32(c[n], a.small, b[n].big);
#pragma unroll
    for (int n = 0; n < kCount; ++n)
        mma_m16n8k8_tf32(c[n], a.big, b[n].small);
#pragma unroll
    for (int n = 0; n < kCount; ++n)
        mma_m16n8k8_tf32(c[n], a.big, b[n].big);
}

}  // namespace wb::ptx
