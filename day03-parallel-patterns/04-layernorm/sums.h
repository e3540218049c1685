/// sums.h: given with "Go faster": what the backward pass does besides its one pass
/// over the rows. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include "groups.h"

// #region share
/// What one thread holds of a row of dy and x.
template <class T, int kPer, int kHeld>
struct Share {
    wb::Elements<T, kPer> r_dy[kHeld] = {};
    wb::Elements<T, kPer> r_x[kHeld] = {};
    float mean = 0.0f;
    float rstd = 0.0f;

    /// Begins to load; nothing is used yet. None of it stays in the L1 cache, which is
    /// left to gamma. If there is no such row, nothing is loaded.
    ///
    /// @param first     the first column of this slice
    /// @param accesses  of the slice
    __device__ __forceinline__ void load(const NormGradient<T>& norm,
                                         int64_t row,
                                         int first,
                                         int accesses,
                                         const Group& group,
                                         bool is_centered) {
        if (row >= norm.rows) return;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= accesses) break;
            const int64_t i = row * norm.columns + first + access * kPer;
            r_dy[k] = wb::Elements<T, kPer>::stream(norm.dy + i);
            r_x[k] = wb::Elements<T, kPer>::stream(norm.x + i);
        }
        mean = is_centered ? norm.mean[row] : 0.0f;
        rstd = norm.rstd[row];
    }
};
// #endregion share

// #region pair
/// The two sums that dx needs of its row.
struct Pair {
    float g;   ///< of g
    float gh;  ///< of g * h
};

/// The sums of a row of a Group. All threads of the block must call it.
///
/// @param s_warps  [32] shared memory that nobody reads or writes any more
__device__ __forceinline__ Pair sum_of_row(Pair mine,
                                           const Group& group,
                                           Pair* s_warps) {
    mine = {group.lane_sum(mine.g), group.lane_sum(mine.gh)};
    if (!group.is_block()) return mine;
    const int lane = threadIdx.x % wb::kWarpSize;
    if (lane == 0) s_warps[threadIdx.x / wb::kWarpSize] = mine;
    __syncthreads();
    const bool is_warp = lane < static_cast<int>(blockDim.x) / wb::kWarpSize;
    const Pair other = is_warp ? s_warps[lane] : Pair{};
    return {warp_sum(other.g), warp_sum(other.gh)};
}
// #endregion pair

// #region row-sums
/// The sums of rows that are too wide for one block.
///
/// Launch   grid rows, block 1024
/// Traffic  reads each element of dy and x once
template <class T>
__global__ void __launch_bounds__(1024) row_sums_kernel(NormGradient<T> norm,
                                                        Pair* sums) {  // [rows]
    __shared__ Pair s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    Pair mine = {};
#pragma unroll 4
    for (int64_t col = threadIdx.x; col < norm.columns; col += 1024) {
        const float g = g_of(norm, row, col);
        mine.g += g;
        mine.gh += g * h_of(norm, row, col);
    }
    const Pair all = sum_of_row(mine, Group(1024), s_warps);
    if (threadIdx.x == 0) sums[row] = all;
}
// #endregion row-sums

// #region part-sums
/// Adds what the blocks have summed up, a warp's width of columns in each block; 32
/// threads share a column, then one of them adds their 32 sums.
///
/// Launch   grid (ceil_div(columns, 32), 2), block (32, 32)
/// Traffic  reads parts * columns * 8 B, most of it from the L2 cache
template <class T>
__global__ void __launch_bounds__(1024)
    part_sums_kernel(NormGradient<T> norm,
                     const float* partial,  // [2, parts, columns]
                     int64_t parts) {
    __shared__ float s_sums[wb::kWarpSize][wb::kWarpSize];
    const int64_t col = int64_t{blockIdx.x} * wb::kWarpSize + threadIdx.x;
    T* const out = blockIdx.y == 0 ? norm.dgamma : norm.dbeta;
    if (out == nullptr) return;  // the whole block
    float sum = 0.0f;
    if (col < norm.columns) {
        const float* const g_parts = partial + blockIdx.y * parts * norm.columns + col;
#pragma unroll 4
        for (int64_t part = threadIdx.y; part < parts; part += wb::kWarpSize)
            sum += g_parts[part * norm.columns];
    }
    s_sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || col >= norm.columns) return;
    for (int i = 1; i < wb::kWarpSize; ++i)
        sum += s_sums[i][threadIdx.x];
    out[col] = to_element<T>(sum);
}
// #endregion part-sums
