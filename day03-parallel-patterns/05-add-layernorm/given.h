/// given.h: given with this exercise: elements of matrices, mean and rstd of a row, and
/// random words. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/elements.h>
#include <wb/launch.h>
#include <wb/moments.h>
#include <wb/philox.h>
#include <wb/row_groups.h>

#include <cmath>
#include <cstdint>

#include "add_layernorm.h"

using wb::to_element;
using wb::to_float;

/// Threads in a block of stage 1.
inline constexpr int kThreads = 256;

// #region statistics
/// What a row is normalised with.
struct Statistics {
    float mean;
    float rstd;
};

/// Mean and 1 / standard deviation of a row, as in chapter 04: each warp measures its
/// columns in two passes, then the warps are merged. All threads of the block must call
/// it, and get the same bits.
///
/// @param element  element(col) is the row's element as a float. A thread asks for the
///                 columns threadIdx.x, threadIdx.x + kThreads, ..., all of them twice
/// @param s_warps  [32] shared memory that nobody reads or writes any more
template <class Element>
__device__ inline Statistics measure_row(int64_t columns,
                                         float eps,
                                         wb::Moments* s_warps,
                                         Element element) {
    wb::Moments mine = {};
    for (int64_t col = threadIdx.x; col < columns; col += kThreads) {
        mine.count += 1.0f;
        mine.mean += element(col);
    }
    mine.count = wb::warp_sum(mine.count);
    mine.mean = wb::warp_sum(mine.mean) / fmaxf(mine.count, 1.0f);
    for (int64_t col = threadIdx.x; col < columns; col += kThreads) {
        const float distance = element(col) - mine.mean;
        mine.squares += distance * distance;
    }
    mine.squares = wb::warp_sum(mine.squares);
    const wb::Moments row = wb::merge_warps(mine, s_warps, columns);
    return {row.mean, wb::rstd_of(row, eps)};
}
// #endregion statistics

// #region elements
/// The address of element (row, 0): its neighbours follow it.
template <class T>
__device__ __forceinline__ T* row_of(const Rows<T>& matrix, int64_t row) {
    return matrix.data + row * matrix.row_stride;
}

/// An element, normalised.
__device__ __forceinline__ float normalized(float x,
                                            const Statistics& row,
                                            float gamma,
                                            float beta) {
    return (x - row.mean) * row.rstd * gamma + beta;
}

/// One thread of the row writes what the backward pass will need.
template <class T>
__device__ __forceinline__ void keep(const FusedNorm<T>& norm,
                                     int64_t row,
                                     const Statistics& known) {
    if (norm.mean != nullptr) norm.mean[row] = known.mean;
    if (norm.rstd != nullptr) norm.rstd[row] = known.rstd;
}
// #endregion elements

// #region terms
/// What one element has a part in, of a gradient.
struct Terms {
    float h;     ///< x, normalised
    float n;     ///< the gradient of h * gamma + beta
    float dmul;  ///< of mul
};
// #endregion terms

// #region mask
/// A Dropout as a kernel takes it.
struct Mask {
    uint32_t threshold;  ///< words below are dropped
    float scale;         ///< what is left is multiplied by it
    uint64_t seed;
    uint64_t offset;
};

inline Mask mask_of(const Dropout& dropout) {
    const double threshold = std::ceil(static_cast<double>(dropout.p) * 4294967296.0);
    return {static_cast<uint32_t>(threshold),
            1.0f / (1.0f - dropout.p),
            dropout.seed,
            dropout.offset};
}

/// The random words of the columns 4 * four, ..., 4 * four + 3 of a row.
__device__ __forceinline__ wb::Words4 words_of(const Mask& mask,
                                               int64_t row,
                                               int64_t four) {
    return wb::philox({{static_cast<uint32_t>(four),
                        static_cast<uint32_t>(row),
                        static_cast<uint32_t>(mask.offset),
                        static_cast<uint32_t>(mask.offset >> 32)}},
                      mask.seed);
}
// #endregion mask
