// mma.sync.m16n8k64 of E2M1 with scales (sm_120a): c (16 x 8, float) += a (16 x 64) * b
// (64 x 8), where each 16 neighbours along K share a scale of E4M3.
//
// Lane l holds, with g = l / 4 and q = l % 4, eight neighbours in each register, the
// first one in its lowest bits:
//
//     a[0] = A[g    ][8q .. 8q+7]    a[2] = A[g    ][8q+32 .. 8q+39]
//     a[1] = A[g + 8][8q .. 8q+7]    a[3] = A[g + 8][8q+32 .. 8q+39]
//     b[0] = B[8q .. 8q+7][g]        b[1] = B[8q+32 .. 8q+39][g]
//     c[0], c[1] = C[g][2q, 2q+1]    c[2], c[3] = C[g + 8][2q, 2q+1]
//
// Byte i of a scale belongs to k = 16 i to 16 i + 15. Those of row g of A come from
// lane q = 0, of row g + 8 from q = 1, of column g of B from q = 0: selectors {0, 0}.
//
// Never run on a GPU: compiled for sm_120a, and modelled on the CPU after the PTX ISA.
// Source: PTX ISA, "Matrix Fragments for mma.m16n8k64", "Block Scaling for mma.sync".
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

#include <cstdint>

// #region mma
#ifdef SIMT_CPU
/// Eight codes times eight codes.
__device__ inline float eight_products(uint32_t a, uint32_t b) {
    const float table[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    float sum = 0.0f;
    for (int shift = 0; shift < 32; shift += 4) {
        const float product = table[a >> shift & 7] * table[b >> shift & 7];
        sum += ((a ^ b) >> shift & 8) != 0 ? -product : product;
    }
    return sum;
}

/// A byte of E4M3 without a sign.
__device__ inline float ue4m3(uint32_t b) {
    return __uint_as_float((b & 0x7Fu) << 20) * 0x1p120f;
}
#endif

__device__ __forceinline__ void mma_m16n8k64_nvfp4(float (&c)[4],
                                                   const uint32_t (&a)[4],
                                                   const uint32_t (&b)[2],
                                                   uint32_t scales_a,
                                                   uint32_t scales_b) {
#if defined(SIMT_CPU)
    const int lane = static_cast<int>(threadIdx.x % wb::kWarpSize);
    for (int half = 0; half < 2; ++half) {  // rows g and g + 8
        const uint32_t of_row =
            __shfl_sync(wb::kAllLanes, scales_a, lane / 4 * 4 + half);
        for (int j = 0; j < 2; ++j) {  // columns 2 q and 2 q + 1
            const int column = lane % 4 * 2 + j;
            const uint32_t of_column = __shfl_sync(wb::kAllLanes, scales_b, column * 4);
            for (int i = 0; i < 8; ++i) {  // k = 8 i to 8 i + 7
                const uint32_t left = __shfl_sync(
                    wb::kAllLanes, a[half + i / 4 * 2], lane / 4 * 4 + i % 4);
                const uint32_t right =
                    __shfl_sync(wb::kAllLanes, b[i / 4], column * 4 + i % 4);
                c[2 * half + j] += eight_products(left, right) *
                                   ue4m3(of_row >> i / 2 * 8) *
                                   ue4m3(of_column >> i / 2 * 8);
            }
        }
    }
#elif defined(__CUDA_ARCH_FEAT_SM120_ALL)
    asm volatile(
        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col"
        ".f32.e2m1.e2m1.f32.ue4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]),
          "r"(a[1]),
          "r"(a[2]),
          "r"(a[3]),
          "r"(b[0]),
          "r"(b[1]),
          "r"(scales_a),
          "r"(scales_b));
#else
    __trap();
#endif
}
// #endregion mma
