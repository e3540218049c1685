// compress_03_no_holes.cuh: compress_outliers_v3, which stores what v2 leaves out.
// Included by instructions.cu, below v2.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include <cstdint>

#include "instructions.h"
#include "outliers.h"

// #region compress-v3
/// compress_outliers_v3: as v2, but a thread loads all of its elements before it looks
/// at the first, and stores all of them, so that no store has holes. What it stores for
/// an outlier is overwritten. Launched as compress_kernel, but for kLargeTile.
constexpr int kLargeTile = 4096;
static __global__ void compress_v3_kernel(const float* x, float* y, int64_t n) {
    __shared__ int s_outliers[kLargeTile];
    __shared__ int s_count;
    const int64_t first = int64_t{blockIdx.x} * kLargeTile;
    if (threadIdx.x == 0) s_count = 0;
    __syncthreads();
    const auto size = static_cast<int>(min(int64_t{kLargeTile}, n - first));
    const auto thread = static_cast<int>(threadIdx.x);
    float values[kLargeTile / kThreads];
#pragma unroll
    for (int j = 0; j < kLargeTile / kThreads; ++j)
        if (thread + j * kThreads < size) values[j] = x[first + thread + j * kThreads];
#pragma unroll
    for (int j = 0; j < kLargeTile / kThreads; ++j) {
        const int k = thread + j * kThreads;
        if (k >= size) break;
        y[first + k] = values[j];
        if (is_outlier(values[j])) s_outliers[atomicAdd(&s_count, 1)] = k;
    }
    __syncthreads();
    for (int j = thread; j < s_count; j += kThreads) {
        const int64_t i = first + s_outliers[j];
        y[i] = compressed(x[i]);
    }
}
// #endregion compress-v3

static void compress_outliers_v3(const float* x,
                                 float* y,
                                 int64_t n,
                                 cudaStream_t stream) {
    compress_v3_kernel<<<wb::grid_size(n, kLargeTile), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(compress_outliers, compress_outliers_v3, "stores without holes");
