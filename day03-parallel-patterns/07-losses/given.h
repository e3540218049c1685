/// given.h: given with this exercise: sums of a warp and of a block, and the mean of
/// partial sums. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cmath>
#include <cstdint>

#include "losses.h"

/// Threads in a block, and warps.
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / wb::kWarpSize;

// #region warp
/// The largest value of a warp, in all of its lanes; a NaN is left out.
__device__ __forceinline__ float warp_max(float value) {
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(wb::kAllLanes, value, step));
    return value;
}

/// The sum of a warp, in all of its lanes.
__device__ __forceinline__ float warp_sum(float value) {
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(wb::kAllLanes, value, step);
    return value;
}
// #endregion warp

// #region block
/// The sum of one value of each thread of the block, in an order that is always the
/// same. All threads must call it, once in a kernel; the result is thread 0's.
///
/// @tparam kBlock  threads of the block
template <int kBlock>
__device__ __forceinline__ float block_sum(float value) {
    __shared__ float s_warps[wb::kWarpSize];
    const int lane = threadIdx.x % wb::kWarpSize;
    value = warp_sum(value);
    if (lane == 0) s_warps[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    return warp_sum(lane < kBlock / wb::kWarpSize ? s_warps[lane] : 0.0f);
}
// #endregion block

// #region count
/// How many things a mean is of: a number that the host knows, or the last offset of a
/// jagged batch, which only the device knows.
struct Count {
    int64_t most;                      ///< the number, or the largest it may be
    const int64_t* offsets = nullptr;  ///< [batch + 1], or null
    int64_t batch = 0;

    __device__ __forceinline__ int64_t value() const {
        if (offsets == nullptr) return most;
        const int64_t last = offsets[batch];
        return last < 0 ? 0 : last < most ? last : most;
    }

    /// The queries that are real.
    static Count real(const SampledInput& in) {
        return {in.queries, in.offsets, in.batch};
    }
};
// #endregion count

// #region mean
/// Threads of the one block that adds up partial sums.
inline constexpr int kMeanThreads = 1024;

/// *mean = the sum of all partials, divided by count; 0 if the count is 0.
///
/// Launch   grid 1, block kMeanThreads
static __global__ void mean_kernel(const float* partials,  // [num_partials]
                                   int64_t num_partials,
                                   Count count,
                                   float* mean) {  // [1]
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < num_partials; i += kMeanThreads)
        sum += partials[i];
    sum = block_sum<kMeanThreads>(sum);
    const int64_t n = count.value();
    if (threadIdx.x == 0) *mean = n == 0 ? 0.0f : sum / static_cast<float>(n);
}

static inline void launch_mean(const float* partials,
                               int64_t num_partials,
                               Count count,
                               float* mean,
                               cudaStream_t stream) {
    mean_kernel<<<1, kMeanThreads, 0, stream>>>(partials, num_partials, count, mean);
    CUDA_CHECK_LAUNCH();
}
// #endregion mean

/// Blocks for all rows, if a block has so many of them.
inline unsigned count_blocks(int64_t rows, int64_t rows_a_block) {
    return static_cast<unsigned>(wb::ceil_div(rows, rows_a_block));
}
