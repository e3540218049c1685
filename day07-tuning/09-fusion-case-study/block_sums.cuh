// block_sums.cuh: given with this exercise: sums over a warp and over a block. There is
// nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

/// Threads of a block, of all given kernels.
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / wb::kWarpSize;

/// The sum over the lanes of a warp, for all of them.
static __device__ inline float warp_sum(float value) {
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(wb::kAllLanes, value, step);
    return value;
}

// #region block-sum
/// The sum over all threads of the block, for all of them: up to 32 whole warps. Ends
/// with a barrier, so that it may be called again.
static __device__ inline float block_sum(float value) {
    __shared__ float s_sums[wb::kWarpSize];
    value = warp_sum(value);
    if (threadIdx.x % wb::kWarpSize == 0) s_sums[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    float sum = 0.0f;
    for (unsigned warp = 0; warp < blockDim.x / wb::kWarpSize; ++warp)
        sum += s_sums[warp];
    __syncthreads();
    return sum;
}
// #endregion block-sum
