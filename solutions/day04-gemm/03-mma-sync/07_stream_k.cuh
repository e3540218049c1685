// 07_stream_k.cuh: v7: every block computes the same number of steps, wherever tiles of
// C begin and end.
#pragma once

#include <wb/scratch.h>

#include <algorithm>

#include "block_tiles.h"

// #region v7-shares
/// All steps of BK columns of A, tile of C after tile of C, cut into equal shares: one
/// for each block.
struct Shares {
    int64_t down;  ///< tiles of C in each direction
    int64_t across;
    int64_t steps;   ///< of a tile
    int64_t share;   ///< steps of a block; the last may have fewer
    int64_t total;   ///< down * across * steps
    int64_t blocks;  ///< ceil_div(total, share)

    /// @param most   blocks that there is room for at once
    /// @param least  steps that are worth a block
    template <class S>
    static Shares of(const wb::GemmShape& shape, int64_t most, int64_t least) {
        Shares w{};
        w.down = wb::ceil_div(shape.M, int64_t{S::BM});
        w.across = blocks_across<S>(shape);
        w.steps = wb::ceil_div(shape.K, int64_t{S::BK});
        w.total = w.down * w.across * w.steps;
        w.share = std::max(wb::ceil_div(w.total, most), std::min(least, w.steps));
        w.blocks = wb::ceil_div(w.total, w.share);
        return w;
    }

    /// The block that has a step of all.
    __device__ int64_t block_of(int64_t step) const { return step / share; }

    /// A block has two parts of tiles at most: one where its share begins, and one
    /// at the beginning of its last tile.
    /// @return 0 or 1, for the first or the second of the block's places in memory
    __device__ int64_t place_of(int64_t block, int64_t tile) const {
        return 2 * block + (block * share / steps == tile ? 0 : 1);
    }

    /// Where a tile is in C. Tiles below each other follow one another: they need the
    /// same columns of B.
    template <class S>
    __device__ Place<S> place(int64_t tile, int64_t K) const {
        return Place<S>(tile % down, tile / down, K);
    }
};
// #endregion v7-shares

// #region v7-part
/// The sums of a tile's part, as lanes have them: four neighbours of a lane are a
/// float4, and lanes of the block lie side by side.
template <class S>
__device__ __forceinline__ float4* place_of_part(float4* g_parts, int64_t place) {
    return g_parts + place * (S::BM * S::BN / 4) + threadIdx.x;
}

/// A block computes its share: the end of a tile, whole tiles, the beginning of one.
/// Whole tiles go to C, parts to a memory of their own.
///
/// @param g_parts  [2 blocks, BM * BN / 4]
///
/// Launch   grid w.blocks, block S::kThreads, kStages stages
/// Traffic  loads (BM + BN) * 2 B for BM * BN products; writes M N * 4 B, and at most
///          2 BM * BN * 4 B for each block
template <class S, int kStages, int kBlocks, class T>
__global__ void __launch_bounds__(S::kThreads, kBlocks)
    mma_sync_v7_kernel(const Problem<T> p, float4* g_parts, const Shares w) {
    extern __shared__ uint4 s_bytes[];
    auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
    int64_t step = blockIdx.x * w.share;
    const int64_t end = step + w.share < w.total ? step + w.share : w.total;
    while (step < end) {
        const int64_t tile = step / w.steps;
        const int64_t first = step % w.steps;
        const int64_t left = end - step;
        const int64_t steps = w.steps - first < left ? w.steps - first : left;
        Place<S> at = w.place<S>(tile, p.K);
        at.k_begin = first * S::BK;
        if ((first + steps) * S::BK < p.K) at.k_end = (first + steps) * S::BK;
        WarpSums<S> sums;
        clear(sums);
        multiply_ahead<kStages>(s_stages, sums, p, at);
        if (steps == w.steps) {
            store_sums(sums, p.C, p.ldc, p.M, p.N, p.pairs_c, at);
        } else {
            float4* const g_part =
                place_of_part<S>(g_parts, w.place_of(blockIdx.x, tile));
#pragma unroll
            for (int i = 0; i < S::kTilesM; ++i)
#pragma unroll
                for (int j = 0; j < S::kTilesN; ++j)
                    g_part[(i * S::kTilesN + j) * S::kThreads] = {sums.at[i][j][0],
                                                                  sums.at[i][j][1],
                                                                  sums.at[i][j][2],
                                                                  sums.at[i][j][3]};
        }
        step += steps;  // the stages are free: multiply_ahead() ends behind a barrier
    }
}
// #endregion v7-part

// #region v7-total
/// C = the sum of a tile's parts, from the first columns of A to the last ones: two
/// calls give the same bits. A tile that one block had to itself is there already.
///
/// Launch   grid (tiles of C, tiles of a warp), block S::kThreads
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads)
    mma_sync_v7_total_kernel(const Problem<T> p, float4* g_parts, const Shares w) {
    const int64_t tile = blockIdx.x;
    const int64_t first = w.block_of(tile * w.steps);
    const int64_t last = w.block_of((tile + 1) * w.steps - 1);
    if (first == last) return;
    const int i = blockIdx.y / S::kTilesN;
    const int j = blockIdx.y % S::kTilesN;
    float sums[4] = {};
    for (int64_t block = first; block <= last; ++block) {
        const float4 part = place_of_part<S>(
            g_parts, w.place_of(block, tile))[blockIdx.y * S::kThreads];
        sums[0] += part.x;
        sums[1] += part.y;
        sums[2] += part.z;
        sums[3] += part.w;
    }
    const Place<S> at = w.place<S>(tile, p.K);
    const int lane = threadIdx.x % wb::kWarpSize;
    store_tile(sums,
               p.C,
               p.ldc,
               p.M,
               p.N,
               p.pairs_c,
               at.row + at.warp_row + i * kTileM + lane / 4,
               at.col + at.warp_col + j * kTileN + lane % 4 * 2);
}
// #endregion v7-total

// #region v7-launch
template <class S, int kStages, int kBlocks, class T>
static void launch_stream_k(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    constexpr int64_t kLeast = 4;
    const Shares w =
        Shares::of<S>(shape, int64_t{kBlocks} * wb::multiprocessors(), kLeast);
    const auto p = Problem<T>::of(shape, A, B, C);
    const wb::Scratch<float4> g_parts(2 * w.blocks * (S::BM * S::BN / 4), stream);
    wb::launch_kernel(mma_sync_v7_kernel<S, kStages, kBlocks, T>,
                      wb::grid_size(w.blocks, 1),
                      S::kThreads,
                      kStages * sizeof(Stage<S>),
                      stream,
                      p,
                      g_parts.data(),
                      w);
    const dim3 grid(wb::grid_size(w.down * w.across, 1), S::kTilesM * S::kTilesN);
    mma_sync_v7_total_kernel<S><<<grid, S::kThreads, 0, stream>>>(p, g_parts.data(), w);
    CUDA_CHECK_LAUNCH();
}

/// v7: where C has few tiles, shares of all steps; blocks of 16 or 32 rows where A has
/// no more: they need fewer registers for zeros, and more of them fit.
template <class T>
static void mma_sync_v7(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using Rows16 = Sizes<T, 16, 128, 16, 32, Swizzled, 64>;
    using Rows32 = Sizes<T, 32, 128, 32, 32, Swizzled, 64>;
    using Rows64 = Sizes<T, 64, 128, 32, 32, Swizzled>;
    constexpr int kStages = 4;
    constexpr int64_t kOneShare = 4 * Rows64::BK;  // fewer steps are not worth a block
    if (shape.K <= kOneShare) return mma_sync_v5(shape, A, B, C, stream);
    if (count_blocks<Rows64>(shape) >= 2 * static_cast<unsigned>(wb::multiprocessors()))
        return mma_sync_v5(shape, A, B, C, stream);
    if (shape.M <= Rows16::BM)
        return launch_stream_k<Rows16, kStages, 3>(shape, A, B, C, stream);
    if (shape.M <= Rows32::BM)
        return launch_stream_k<Rows32, kStages, 3>(shape, A, B, C, stream);
    launch_stream_k<Rows64, kStages, 2>(shape, A, B, C, stream);
}
// #endregion v7-launch
