/// sums.h: given with "Go faster": what the backward pass does besides its one pass
/// over the rows. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/row_sums.h>

#include "groups.h"

using wb::Pair;
using wb::part_sums_kernel;
using wb::sum_of_row;

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
