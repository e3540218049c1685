/// given_kernels.h: the five kernels whose cost is to be predicted. Nothing is hidden:
/// what they load, store and compute is what stands here. roofline.cu includes this
/// file, so that the kernels are compiled with your predictions.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include "given.h"
#include "rulers.h"

/// Threads in a block of the first three.
constexpr int kThreads = 256;
/// Edge of a tile of the last two, and lanes in a warp: 32 threads that are neighbours
/// along x are one warp.
constexpr int kTile = 32;
/// Rows of c that a block of matmul_naive computes.
constexpr int kRows = 8;

// #region saxpy
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void saxpy_kernel(int64_t n, float a, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
// #endregion saxpy

// #region strided
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void strided_scale_kernel(int64_t n,
                                     int64_t stride,
                                     float a,
                                     const float* x,  // [(n - 1) * stride + 1]
                                     float* y) {      // [n]
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i * stride];
}
// #endregion strided

// #region polynomial
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void polynomial_kernel(
    int64_t n, int64_t degree, float c, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float t = x[i];
    float p = 1.0f;
#pragma unroll 8
    for (int step = 0; step < static_cast<int>(degree); ++step) {
        p = fmaf(p, t, c);
    }
    y[i] = p;
}
// #endregion polynomial

// #region naive
/// Each thread computes one element; the lanes of a warp have the same row.
///
/// Launch   grid (n / kTile, n / kRows), block (kTile, kRows), no shared memory
__global__ void matmul_naive_kernel(int n,
                                    const float* a,  // [n, n] row-major, as b and c
                                    const float* b,
                                    float* c) {
    const int column = static_cast<int>(blockIdx.x) * kTile + threadIdx.x;
    const int row = static_cast<int>(blockIdx.y) * kRows + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        sum = fmaf(a[int64_t{row} * n + k], b[int64_t{k} * n + column], sum);
    }
    c[int64_t{row} * n + column] = sum;
}
// #endregion naive

// #region tiled
/// A block computes a tile of c. It brings tiles of a and b into shared memory first,
/// so that each element of global memory is loaded n / kTile times instead of n times.
///
/// Launch   grid (n / kTile, n / kTile), block (kTile, kTile), static shared memory
__global__ void matmul_tiled_kernel(int n,
                                    const float* a,  // [n, n] row-major, as b and c
                                    const float* b,
                                    float* c) {
    // Rows of kTile + 1 floats, so that the compiler cannot know that four neighbours
    // begin at a multiple of 16 bytes, and makes no single load of them: the loads that
    // stand here are those that the machine executes.
    __shared__ float s_a[kTile][kTile + 1];
    __shared__ float s_b[kTile][kTile + 1];
    const int tx = static_cast<int>(threadIdx.x);
    const int ty = static_cast<int>(threadIdx.y);
    const int column = static_cast<int>(blockIdx.x) * kTile + tx;
    const int row = static_cast<int>(blockIdx.y) * kTile + ty;
    float sum = 0.0f;
    for (int first = 0; first < n; first += kTile) {
        s_a[ty][tx] = a[int64_t{row} * n + first + tx];
        s_b[ty][tx] = b[int64_t{first + ty} * n + column];
        __syncthreads();
        for (int k = 0; k < kTile; ++k)
            sum = fmaf(s_a[ty][k], s_b[k][tx], sum);
        __syncthreads();  // before the next tile overwrites this one
    }
    c[int64_t{row} * n + column] = sum;
}
// #endregion tiled

void launch_saxpy(int64_t n, float a, const float* x, float* y, cudaStream_t stream) {
    wb::Arguments("launch_saxpy").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    saxpy_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(n, a, x, y);
    CUDA_CHECK_LAUNCH();
}

void launch_strided_scale(
    int64_t n, int64_t stride, float a, const float* x, float* y, cudaStream_t stream) {
    const wb::Arguments arguments("launch_strided_scale");
    arguments.size("n", n).positive("stride", stride);
    if (n == 0) return;
    arguments.device("x", x, arguments.product("(n - 1) * stride", {n - 1, stride}) + 1)
        .device("y", y, n);
    const unsigned blocks = wb::grid_size(n, kThreads);
    strided_scale_kernel<<<blocks, kThreads, 0, stream>>>(n, stride, a, x, y);
    CUDA_CHECK_LAUNCH();
}

void launch_polynomial(
    int64_t n, int64_t degree, float c, const float* x, float* y, cudaStream_t stream) {
    wb::Arguments("launch_polynomial")
        .size("n", n)
        .size("degree", degree)
        .require(degree <= INT32_MAX, "degree", degree, "<= 2147483647")
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    polynomial_kernel<<<blocks, kThreads, 0, stream>>>(n, degree, c, x, y);
    CUDA_CHECK_LAUNCH();
}

/// What both matrix products demand of their arguments.
static void check_matrices(
    const char* function, int64_t n, const float* a, const float* b, const float* c) {
    wb::Arguments(function)
        .size("n", n)
        .require(n % kTile == 0 && n <= 32768, "n", n, "a multiple of 32, <= 32768")
        .device("a", a, n * n)
        .device("b", b, n * n)
        .device("c", c, n * n);
}

void launch_matmul_naive(
    int64_t n, const float* a, const float* b, float* c, cudaStream_t stream) {
    check_matrices("launch_matmul_naive", n, a, b, c);
    if (n == 0) return;
    const dim3 grid(static_cast<unsigned>(n / kTile), static_cast<unsigned>(n / kRows));
    const dim3 block(kTile, kRows);
    matmul_naive_kernel<<<grid, block, 0, stream>>>(static_cast<int>(n), a, b, c);
    CUDA_CHECK_LAUNCH();
}

void launch_matmul_tiled(
    int64_t n, const float* a, const float* b, float* c, cudaStream_t stream) {
    check_matrices("launch_matmul_tiled", n, a, b, c);
    if (n == 0) return;
    const dim3 grid(static_cast<unsigned>(n / kTile), static_cast<unsigned>(n / kTile));
    const dim3 block(kTile, kTile);
    matmul_tiled_kernel<<<grid, block, 0, stream>>>(static_cast<int>(n), a, b, c);
    CUDA_CHECK_LAUNCH();
}
