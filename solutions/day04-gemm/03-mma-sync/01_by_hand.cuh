// 01_by_hand.cuh: v1: one warp for 16 x 8 sums, its fragments loaded by hand.
#pragma once

#include <cstring>

#include "tiles.h"

/// Warps of a block. Each has a tile of C of its own.
constexpr int kWarpsV1 = 4;
constexpr int kThreadsV1 = kWarpsV1 * wb::kWarpSize;

// #region v1-fragments
/// Two numbers in one register, the first one in its lower half; 0 for what the matrix
/// does not have.
template <class T>
__device__ __forceinline__ uint32_t
two_numbers(const T* first, bool has_first, const T* second, bool has_second) {
    const T numbers[2] = {has_first ? *first : static_cast<T>(0.0f),
                          has_second ? *second : static_cast<T>(0.0f)};
    uint32_t bits;
    memcpy(&bits, numbers, sizeof bits);
    return bits;
}

/// A lane's part of 16 x 16 numbers of A, which begin at (row, k): of two rows, four
/// pairs of neighbours.
template <class T>
__device__ __forceinline__ void load_a_by_hand(
    uint32_t (&a)[4], const Problem<T>& p, int64_t row, int64_t k, int lane) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const int64_t m = row + lane / 4 + r % 2 * 8;
        const int64_t n = k + lane % 4 * 2 + r / 2 * 8;
        const T* const g_pair = p.A + m * p.lda + n;
        a[r] =
            two_numbers(g_pair, m < p.M && n < p.K, g_pair + 1, m < p.M && n + 1 < p.K);
    }
}

/// A lane's part of 16 x 8 numbers of B, which begin at (k, col): of one column, two
/// pairs, one below the other.
template <class T>
__device__ __forceinline__ void load_b_by_hand(
    uint32_t (&b)[2], const Problem<T>& p, int64_t k, int64_t col, int lane) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int64_t m = k + lane % 4 * 2 + r * 8;
        const int64_t n = col + lane / 4;
        const T* const g_upper = p.B + m * p.ldb + n;
        b[r] = two_numbers(
            g_upper, m < p.K && n < p.N, g_upper + p.ldb, m + 1 < p.K && n < p.N);
    }
}
// #endregion v1-fragments

// #region v1-kernel
/// v1: a warp has 16 x 8 sums. It reads 16 rows of A and 8 columns of B for them, and
/// so does each other warp: every element of A is loaded N / 8 times.
///
/// Launch   grid ceil_div(tiles of C, kWarpsV1), block kThreadsV1
/// Traffic  loads 2 B for 5.3 products, from L1 and L2 for the most part, 2 B a lane
template <class T>
__global__ void __launch_bounds__(kThreadsV1)
    mma_sync_v1_kernel(const Problem<T> p, int64_t tiles_across) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t tile = int64_t{blockIdx.x} * kWarpsV1 + threadIdx.x / wb::kWarpSize;
    const int64_t row = tile / tiles_across * kTileM;
    const int64_t col = tile % tiles_across * kTileN;
    if (row >= p.M) return;  // all lanes of the warp
    float c[4] = {};
    for (int64_t k = 0; k < p.K; k += kTileK) {
        uint32_t a[4];
        uint32_t b[2];
        load_a_by_hand(a, p, row, k, lane);
        load_b_by_hand(b, p, k, col, lane);
        multiply_add<T>(c, a, b);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int64_t m = row + lane / 4 + e / 2 * 8;
        const int64_t n = col + lane % 4 * 2 + e % 2;
        if (m < p.M && n < p.N) p.C[m * p.ldc + n] = c[e];
    }
}
// #endregion v1-kernel

template <class T>
static void mma_sync_v1(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    const int64_t tiles_across = wb::ceil_div(shape.N, int64_t{kTileN});
    const int64_t tiles = wb::ceil_div(shape.M, int64_t{kTileM}) * tiles_across;
    mma_sync_v1_kernel<<<wb::grid_size(tiles, kWarpsV1), kThreadsV1, 0, stream>>>(
        Problem<T>::of(shape, A, B, C), tiles_across);
    CUDA_CHECK_LAUNCH();
}
