/// wb/ptx/wgmma_fragment.h: what a thread does with the accumulators d of a wgmma in
/// its registers (the layout is in wgmma.h).
///
/// A thread has two rows of the 64: number warp * 16 + lane / 4, the upper one, and 8
/// further down. Of each it has columns 8 j + p and 8 j + p + 1, p = 2 (lane % 4). The
/// four lanes of a quad have a row between them. Element i of d is of row i / 2 % 2 and
/// of column i / 4 * 8 + i % 2, p not counted.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "wb/launch.h"
#include "wb/ptx/pack.h"

namespace wb::ptx {

/// Gives -infinity to the elements of columns from a limit on.
///
/// @param first_column  of d, counted as the limits are
/// @param limit         of the upper and of the lower row
template <int kCount>
__device__ __forceinline__ void mask_columns(float (&d)[kCount],
                                             int first_column,
                                             const int (&limit)[2]) {
    const int first = first_column + 2 * static_cast<int>(threadIdx.x % 4);
    const int left[2] = {limit[0] - first, limit[1] - first};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        if (i / 4 * 8 + i % 2 >= left[i / 2 % 2]) d[i] = -INFINITY;
    }
}

/// Accumulators, rounded to 16 bits, as the left operands of the next product: the
/// eight of columns 16 i to 16 i + 15 that a thread has are the eight that it needs, in
/// this order.
template <class T, int kCount>
__device__ __forceinline__ void pack_operand(uint32_t (&a)[kCount / 8][4],
                                             const float (&d)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i)
        a[i / 4][i % 4] = pack<T>(d[2 * i], d[2 * i + 1]);
}

/// Transposes a 4x4 matrix whose column c lies in the registers of lane c of a quad:
/// then lane c has row c. With rows of two elements a register, a lane comes to hold
/// eight neighbours, 16 bytes, instead of four pairs from four places.
__device__ __forceinline__ void transpose_quad(uint32_t (&x)[4]) {
    const unsigned lane = threadIdx.x % 4;
#pragma unroll
    for (unsigned bit = 1; bit <= 2; bit *= 2) {
        // Swap what lies off the diagonal of each 2x2 block, with the lane one bit
        // away.
        const bool upper = (lane & bit) != 0;
        const unsigned step = 3 - bit;  // from one such pair of registers to the other
        uint32_t& a0 = x[0];
        uint32_t& a1 = x[step];
        uint32_t& b0 = x[bit];
        uint32_t& b1 = x[step + bit];
        const uint32_t got0 = __shfl_xor_sync(kAllLanes, upper ? a0 : b0, bit);
        const uint32_t got1 = __shfl_xor_sync(kAllLanes, upper ? a1 : b1, bit);
        (upper ? a0 : b0) = got0;
        (upper ? a1 : b1) = got1;
    }
}

}  // namespace wb::ptx
