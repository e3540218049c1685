/// outliers.h: what compress_outliers() does to a number, and a kernel that is right
/// and slow.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "given.h"

// #region outliers
/// Whether |x| > 2: true of 4.6 in 100 normal numbers.
__device__ inline bool is_outlier(float x) {
    return fabsf(x) > 2.0f;
}

/// sqrt(2 |x|), with the sign of x, by 32 steps of Heron's method. It stands for
/// anything that takes some hundred instructions.
///
/// Error    2^-23 of the result for |x| <= 2^20: the last steps change nothing but the
///          rounding of a quotient and of a sum
__device__ inline float compressed(float x) {
    const float v = 2.0f * fabsf(x);
    float root = v;
#pragma unroll 1
    for (int step = 0; step < 32; ++step)
        root = 0.5f * (root + v / root);
    return copysignf(root, x);
}
// #endregion outliers

// #region divergent
/// Each thread does what its element needs.
///
/// Launch   grid ceil_div(n, 256), block 256, no shared memory
__global__ void divergent_kernel(const float* x, float* y, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (is_outlier(x[i]))
        y[i] = compressed(x[i]);
    else
        y[i] = x[i];
}
// #endregion divergent

void launch_divergent(const float* x, float* y, int64_t n, cudaStream_t stream) {
    if (n == 0) return;
    constexpr int kBlock = 256;
    divergent_kernel<<<wb::grid_size(n, kBlock), kBlock, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
