/// copies.h: the copy that copy_floats() falls back to, and where a float4 may lie.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

/// Floats from `pointer` to the next multiple of 16 bytes: 0 to 3.
inline int64_t floats_to_boundary(const float* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    return static_cast<int64_t>((16 - address % 16) % 16 / sizeof(float));
}

/// Threads in a block of copy_floats_v1.
inline constexpr int kCopyThreads = 256;

// #region copy-v1
/// copy_floats_v1: a float a thread.
///
/// Launch   grid ceil_div(n, kCopyThreads), block kCopyThreads, no shared memory
static __global__ void copy_v1_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

static void copy_floats_v1(const float* in,
                           float* out,
                           int64_t n,
                           cudaStream_t stream) {
    copy_v1_kernel<<<wb::grid_size(n, kCopyThreads), kCopyThreads, 0, stream>>>(
        in, out, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion copy-v1
