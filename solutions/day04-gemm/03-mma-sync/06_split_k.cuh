// 06_split_k.cuh: v6: where C has too few tiles for all multiprocessors, several blocks
// share one: each has a part of K.
#pragma once

#include <wb/scratch.h>

#include <algorithm>

#include "block_tiles.h"

// #region v6-part
/// A block computes its tile of C over a part of K, into a matrix of its own.
///
/// @param g_parts   [parts, M, N], without gaps
/// @param of_part   columns of A in each part, a multiple of BK; the last has the rest
///
/// Launch   grid (count_blocks<S>(shape), parts), block S::kThreads, kStages stages
/// Traffic  loads (BM + BN) * 2 B for BM * BN products; writes M N * 4 B for each part
template <class S, int kStages, int kBlocks, class T>
__global__ void __launch_bounds__(S::kThreads, kBlocks) mma_sync_v6_kernel(
    const Problem<T> p, float* g_parts, int64_t blocks_across, int64_t of_part) {
    extern __shared__ uint4 s_bytes[];
    auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
    const int64_t part = blockIdx.y;
    Place<S> at(blockIdx.x / blocks_across, blockIdx.x % blocks_across, p.K);
    at.k_begin = part * of_part;
    if (at.k_begin + of_part < p.K) at.k_end = at.k_begin + of_part;
    WarpSums<S> sums;
    clear(sums);
    multiply_ring<kStages>(s_stages, sums, p, at);
    float* const g_part = g_parts + part * p.M * p.N;
    store_sums(sums, g_part, p.N, p.M, p.N, p.N % 2 == 0, at);
}
// #endregion v6-part

// #region v6-total
constexpr int kThreadsTotal = 256;

/// C = the sum of all parts, always in the same order: two calls give the same bits.
/// (Atomic additions to C would need no second kernel, and come in any order.)
///
/// Launch   grid ceil_div(M N, kThreadsTotal), block kThreadsTotal
/// Traffic  reads parts M N * 4 B, from L2 for the most part; writes M N * 4 B
template <class T>
__global__ void __launch_bounds__(kThreadsTotal)
    add_parts_kernel(const Problem<T> p, const float* g_parts, int parts) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsTotal + threadIdx.x;
    const int64_t of_part = p.M * p.N;
    if (i >= of_part) return;
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part)
        sum += g_parts[part * of_part + i];
    p.C[i / p.N * p.ldc + i % p.N] = sum;
}
// #endregion v6-total

// #region v6-launch
/// v6: v5, or blocks of 64 x 128 that share tiles of C, so that each multiprocessor has
/// two of them. A part is 128 columns of A or more: less is not worth a block.
template <class T>
static void mma_sync_v6(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using S = Sizes<T, 64, 128, 32, 32, Swizzled>;
    constexpr int kStagesV6 = 4;
    constexpr int64_t kLeastOfPart = 4 * S::BK;
    const unsigned tiles = count_blocks<S>(shape);
    const int64_t wanted = 2 * wb::multiprocessors() / tiles;
    const int64_t possible = wb::ceil_div(shape.K, kLeastOfPart);
    const int64_t most = std::min(wanted, possible);
    if (most < 2) return mma_sync_v5(shape, A, B, C, stream);
    const int64_t of_part =
        wb::ceil_div(wb::ceil_div(shape.K, most), int64_t{S::BK}) * S::BK;
    const int64_t parts = wb::ceil_div(shape.K, of_part);
    const auto p = Problem<T>::of(shape, A, B, C);
    const wb::Scratch<float> g_parts(parts * shape.M * shape.N, stream);

    const auto kernel = mma_sync_v6_kernel<S, kStagesV6, 2, T>;
    constexpr size_t kBytes = kStagesV6 * sizeof(Stage<S>);
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int{kBytes}));
    const dim3 grid(tiles, static_cast<unsigned>(parts));
    kernel<<<grid, S::kThreads, kBytes, stream>>>(
        p, g_parts.data(), blocks_across<S>(shape), of_part);
    CUDA_CHECK_LAUNCH();

    const unsigned blocks = wb::grid_size(shape.M * shape.N, kThreadsTotal);
    add_parts_kernel<<<blocks, kThreadsTotal, 0, stream>>>(
        p, g_parts.data(), static_cast<int>(parts));
    CUDA_CHECK_LAUNCH();
}
// #endregion v6-launch
