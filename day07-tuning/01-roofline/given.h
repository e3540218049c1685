/// given.h: launches the kernels of given_kernels.h and the rulers of rulers.h.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// y = a x + y, n elements. Throws wb::InvalidArgument, as all below.
void launch_saxpy(int64_t n, float a, const float* x, float* y, cudaStream_t stream);

/// y[i] = a x[i * stride], n elements.
void launch_strided_scale(
    int64_t n, int64_t stride, float a, const float* x, float* y, cudaStream_t stream);

/// y[i] = x[i]^degree + c (x[i]^(degree - 1) + ... + x[i] + 1), n elements.
void launch_polynomial(
    int64_t n, int64_t degree, float c, const float* x, float* y, cudaStream_t stream);

/// c = a b, matrices of n x n, row-major; n a multiple of 32.
void launch_matmul_naive(
    int64_t n, const float* a, const float* b, float* c, cudaStream_t stream);
void launch_matmul_tiled(
    int64_t n, const float* a, const float* b, float* c, cudaStream_t stream);

/// Rulers: kernels that do one thing only, as fast as the machine can. `blocks` blocks
/// of kRulerThreads threads; each warp makes `steps` times kRulerUnroll FMAs a lane, or
/// loads from shared memory.
///
/// @param sink  [1] device memory, never written; it keeps the work from being removed
inline constexpr int kRulerThreads = 256;
inline constexpr int kRulerUnroll = 16;
void launch_fma_ruler(int blocks, int steps, float* sink, cudaStream_t stream);
void launch_shared_ruler(int blocks, int steps, float* sink, cudaStream_t stream);
void launch_nothing(cudaStream_t stream);
