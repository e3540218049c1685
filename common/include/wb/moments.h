/// wb/moments.h: mean and variance of a row whose parts several warps have measured.
///
/// Source: T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms for computing the sample
/// variance, The American Statistician 37 (1983).
#pragma once

#include <cuda_runtime.h>
#include <wb/row_groups.h>

#include <cstdint>

namespace wb {

// #region moments
/// What is known of some elements of a row.
struct Moments {
    float count;    ///< how many they are
    float mean;     ///< 0 for an RMSNorm
    float squares;  ///< the sum of their squared distances from it
};

/// What is known of two sets of elements together. The distances of b's elements are
/// longer or shorter than from their own mean, by what the two means differ.
__device__ __forceinline__ Moments merged(Moments a, Moments b) {
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count;
    const float distance = b.mean - a.mean;
    const float share = b.count / count;
    // In this order: a set of no elements adds 0, however large the distance is.
    const float between = (a.count * distance) * (share * distance);
    return {count, a.mean + distance * share, a.squares + b.squares + between};
}

/// What the warps of a block know of `columns` elements. All threads of the block must
/// call it, and all get the same bits: no lane merges in another order.
///
/// @param mine     the same in all lanes of a warp
/// @param s_warps  [32] shared memory that nobody reads or writes any more
__device__ __forceinline__ Moments merge_warps(Moments mine,
                                               Moments* s_warps,
                                               int64_t columns) {
    const int lane = threadIdx.x % kWarpSize;
    if (lane == 0) s_warps[threadIdx.x / kWarpSize] = mine;
    __syncthreads();
    const bool is_warp = lane < static_cast<int>(blockDim.x) / kWarpSize;
    const Moments other = is_warp ? s_warps[lane] : Moments{};
    const auto count = static_cast<float>(columns);
    const float mean = warp_sum(other.count * other.mean) / count;
    const float distance = other.mean - mean;
    const float between = (other.count * distance) * distance;  // as in merged()
    return {count, mean, warp_sum(other.squares + between)};
}
// #endregion moments

// #region results
/// 1 / standard deviation, of a row that is known.
__device__ __forceinline__ float rstd_of(const Moments& row, float eps) {
    return 1.0f / sqrtf(row.squares / row.count + eps);
}
// #endregion results

}  // namespace wb
