// store.h: given with this exercise: from a thread's registers to rows of o and lse.
#pragma once

#include "fragments.h"

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
        const uint32_t got0 = __shfl_xor_sync(kAll, upper ? a0 : b0, bit);
        const uint32_t got1 = __shfl_xor_sync(kAll, upper ? a1 : b1, bit);
        (upper ? a0 : b0) = got0;
        (upper ? a1 : b1) = got1;
    }
}

// #region store
/// Stores the log-sum-exp of a thread's two rows, if it is wanted.
///
/// @param inverse  of the sums of their weights; 0 for rows without any
__device__ __forceinline__ void store_sums(const Problem& problem,
                                           const Work& work,
                                           int group,
                                           const RowSums& rows,
                                           float (&inverse)[2]) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float sum = rows.sum[r];
        sum += __shfl_xor_sync(kAll, sum, 1);
        sum += __shfl_xor_sync(kAll, sum, 2);
        inverse[r] = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int row = work.row + group * kGroupRows + warp * 16 + lane / 4 + 8 * r;
        if (problem.lse != nullptr && row < work.queries && lane % 4 == 0) {
            constexpr float kLn2 = 0.693147180559945f;
            problem.lse[work.sequence * problem.lse_sequence +
                        work.head * problem.lse_head + work.query_start + row] =
                (rows.reference[r] + log2f(sum)) * kLn2;
        }
    }
}

/// Divides a warpgroup's 64 rows of O by the sums of their weights, rounds, and stores
/// them, with the log-sum-exp if it is wanted.
///
/// @param group  which 64 rows of the tile
template <class Tiling>
__device__ __forceinline__ void store_rows(const Problem& problem,
                                           const Work& work,
                                           int group,
                                           const float (&o)[Tiling::kDim / 2],
                                           const RowSums& rows) {
    using T = typename Tiling::T;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
    const int64_t g_head = work.sequence * problem.o_sequence +
                           work.head * problem.o_head +
                           work.query_start * problem.o_row;
    float inverse[2];
    store_sums(problem, work, group, rows, inverse);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = work.row + group * kGroupRows + warp * 16 + lane / 4 + 8 * r;
        const bool has_row = row < work.queries;
        T* const o_row =
            static_cast<T*>(problem.o) + g_head + int64_t{row} * problem.o_row;
#pragma unroll
        for (int i = 0; i < Tiling::kDim / 2; i += 16) {  // 32 columns of the quad
            uint32_t x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int e = i + 4 * c + 2 * r;
                x[c] = pack<T>(o[e] * inverse[r], o[e + 1] * inverse[r]);
            }
            transpose_quad(x);
            if (has_row) {
                *reinterpret_cast<uint4*>(o_row + 2 * i + 8 * (lane % 4)) =
                    make_uint4(x[0], x[1], x[2], x[3]);
            }
        }
    }
}
// #endregion store
