/// gradient.h: given with "Go faster": what the backward pass does besides its one pass
/// over the rows. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/row_sums.h>

#include "pieces.h"

/// Threads of a block that has a row of a backward pass, at most.
inline constexpr int kMost = 512;

// #region terms-from
/// Terms of an element, as in stage 1.
///
/// @param factor  0 if it is dropped
__device__ __forceinline__ Terms terms_from(float dy,
                                            float x,
                                            float mul,
                                            float gamma,
                                            float beta,
                                            const Statistics& row,
                                            float factor) {
    const float h = (x - row.mean) * row.rstd;
    if (factor == 0.0f) return {h, 0.0f, 0.0f};
    const float e = dy * factor;
    return {h, e * mul, e * (h * gamma + beta)};
}
// #endregion terms-from

// #region share
/// What one thread holds of a row of dy, x and mul.
template <class T, int kPer, int kHeld>
struct Share {
    wb::Elements<T, kPer> r_dy[kHeld] = {};
    wb::Elements<T, kPer> r_x[kHeld] = {};
    wb::Elements<T, kPer> r_mul[kHeld] = {};
    Statistics known = {};

    /// Begins to load; nothing is used yet. If there is no such row, nothing is loaded.
    ///
    /// @param first     the first column of this slice
    /// @param accesses  of the slice
    __device__ __forceinline__ void load(const FusedNormGradient<T>& norm,
                                         int64_t row,
                                         int first,
                                         int accesses,
                                         const wb::Group& group) {
        if (row >= norm.rows) return;
        using Access = wb::Elements<T, kPer>;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int access = group.place + k * group.threads;
            if (access >= accesses) break;
            const int col = first + access * kPer;
            r_dy[k] = Access::stream(row_of(norm.dy, row) + col);
            r_x[k] = Access::stream(row_of(norm.x, row) + col);
            r_mul[k] = Access::stream(row_of(norm.mul, row) + col);
        }
        known = {norm.mean[row], norm.rstd[row]};
    }
};
// #endregion share

// #region row-sums
/// The sums of rows that are too wide for one block.
///
/// Launch   grid rows, block 1024
/// Traffic  reads each element of dy, x and mul once
template <class T>
__global__ void __launch_bounds__(1024)
    row_sums_kernel(FusedNormGradient<T> norm, Mask mask, wb::Pair* sums) {  // [rows]
    __shared__ wb::Pair s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const Statistics known = {norm.mean[row], norm.rstd[row]};
    wb::Pair mine = {};
    for (int64_t col = threadIdx.x; col < norm.columns; col += 1024) {
        const uint32_t word = words_of(mask, row, col / 4).word[col % 4];
        const float gamma = to_float(norm.gamma[col]);
        const Terms terms = terms_from(to_float(row_of(norm.dy, row)[col]),
                                       to_float(row_of(norm.x, row)[col]),
                                       to_float(row_of(norm.mul, row)[col]),
                                       gamma,
                                       0.0f,  // of dmul alone
                                       known,
                                       word < mask.threshold ? 0.0f : mask.scale);
        mine.g += terms.n * gamma;
        mine.gh += terms.n * gamma * terms.h;
    }
    const wb::Pair all = wb::sum_of_row(mine, wb::Group(1024), s_warps);
    if (threadIdx.x == 0) sums[row] = all;
}
// #endregion row-sums
