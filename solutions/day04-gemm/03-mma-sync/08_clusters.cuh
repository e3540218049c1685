// 08_clusters.cuh: v8: where C is small, blocks that share a tile are a cluster and add
// their sums in shared memory; where it is large, larger tiles.
#pragma once

#include <cooperative_groups.h>
#include <wb/device.h>
#include <wb/launch_kernel.h>
#include <wb/shared_memory.h>

#include <algorithm>

#include "block_tiles.h"

// #region v8-add
/// C = the sum of a cluster's parts of a tile, in the order of K: two calls give the
/// same bits. Each block adds some of the tile's sums, and reads those of the others
/// where they are. A lane's four sums of 16 x 8 are a float4, as in v7.
///
/// @param s_sums  [tiles of a warp, kThreads] in each block, free to be written
template <class S, class Cluster, class T>
__device__ __forceinline__ void add_in_cluster(const Cluster& cluster,
                                               float4* s_sums,
                                               const WarpSums<S>& sums,
                                               const Problem<T>& p,
                                               const Place<S>& at) {
    const int parts = static_cast<int>(cluster.num_blocks());
    const int tid = threadIdx.x;
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < S::kTilesN; ++j)
            s_sums[(i * S::kTilesN + j) * S::kThreads + tid] = {
                sums.at[i][j][0], sums.at[i][j][1], sums.at[i][j][2], sums.at[i][j][3]};
    cluster.sync();
    for (int tile = static_cast<int>(cluster.block_rank());
         tile < S::kTilesM * S::kTilesN;
         tile += parts) {
        float total[4] = {};
        for (int part = 0; part < parts; ++part) {
            const float4 more =
                cluster.map_shared_rank(s_sums, part)[tile * S::kThreads + tid];
            total[0] += more.x;
            total[1] += more.y;
            total[2] += more.z;
            total[3] += more.w;
        }
        const int lane = tid % wb::kWarpSize;
        store_tile(total,
                   p.C,
                   p.ldc,
                   p.M,
                   p.N,
                   p.pairs_c,
                   at.row + at.warp_row + tile / S::kTilesN * kTileM + lane / 4,
                   at.col + at.warp_col + tile % S::kTilesN * kTileN + lane % 4 * 2);
    }
    cluster.sync();  // nobody's shared memory is needed after that
}
// #endregion v8-add

// #region v8-kernel
/// A cluster computes a tile of C: each of its blocks a part of K. Nothing goes to
/// memory on its way, and there is no second kernel.
///
/// @param down     tiles of C below each other, which need the same columns of B
/// @param of_part  columns of A in each part, a multiple of BK; the last has the rest
///
/// Launch   grid count_blocks<S>(shape) * parts, in clusters of `parts` blocks of
///          S::kThreads, kStages stages; sm_90
/// Traffic  loads (BM + BN) * 2 B for BM * BN products; writes M N * 4 B
template <class S, int kStages, int kBlocks, class T>
__global__ void __launch_bounds__(S::kThreads, kBlocks)
    mma_sync_v8_kernel(const Problem<T> p, int64_t down, int64_t of_part) {
#if defined(SIMT_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    static_assert(S::BM * S::BN * sizeof(float) <= kStages * sizeof(Stage<S>),
                  "sums fit where stages were");
    extern __shared__ uint4 s_bytes[];
    const auto cluster = cooperative_groups::this_cluster();
    const int64_t tile = blockIdx.x / cluster.num_blocks();
    Place<S> at(tile % down, tile / down, p.K);
    at.k_begin = cluster.block_rank() * of_part;
    if (at.k_begin + of_part < p.K) at.k_end = at.k_begin + of_part;
    WarpSums<S> sums;
    clear(sums);
    multiply_ahead<kStages>(reinterpret_cast<Stage<S>*>(s_bytes), sums, p, at);
    // The stages are free: multiply_ahead() ends behind a barrier.
    add_in_cluster(cluster, reinterpret_cast<float4*>(s_bytes), sums, p, at);
#else
    __trap();  // an older GPU has no clusters: mma_sync_v8() does not come here
#endif
}
// #endregion v8-kernel

// #region v8-small
/// Launches the kernel, in as many parts as there is room for at once: at most 8, which
/// every GPU with clusters can have, and at least four rounds of a ring for each.
/// False, without a launch, if there are more tiles than places.
template <class S, int kStages, int kBlocks, class T>
static bool launch_in_clusters(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    constexpr int64_t kMostParts = 8;
    constexpr int64_t kLeastOfPart = 4 * S::BK;
    const int64_t tiles = count_blocks<S>(shape);
    const int64_t room = int64_t{kBlocks} * wb::multiprocessors() / tiles;
    if (room == 0) return false;
    const int64_t most =
        std::min({room, kMostParts, wb::ceil_div(shape.K, kLeastOfPart)});
    const int64_t of_part =
        wb::ceil_div(wb::ceil_div(shape.K, most), int64_t{S::BK}) * S::BK;
    const int64_t parts = wb::ceil_div(shape.K, of_part);
    wb::launch_clusters(mma_sync_v8_kernel<S, kStages, kBlocks, T>,
                        wb::grid_size(tiles * parts, 1),
                        S::kThreads,
                        static_cast<int>(parts),
                        kStages * sizeof(Stage<S>),
                        stream,
                        Problem<T>::of(shape, A, B, C),
                        wb::ceil_div(shape.M, int64_t{S::BM}),
                        of_part);
    return true;
}

/// Tiles of as many rows as A has, and so many stages that two blocks of a
/// multiprocessor have 128 KB or more of A and B under way.
template <class T>
static bool launch_small(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using Rows16 = Sizes<T, 16, 64, 16, 16, Swizzled, 64>;
    using Rows32 = Sizes<T, 32, 64, 32, 16, Swizzled, 64>;
    using Rows64 = Sizes<T, 64, 64, 32, 32, Swizzled, 64>;
    using Rows128 = Sizes<T, 128, 128, 64, 64, Swizzled, 64>;
    if (shape.M <= Rows16::BM)
        return launch_in_clusters<Rows16, 8, 2>(shape, A, B, C, stream);
    if (shape.M <= Rows32::BM)
        return launch_in_clusters<Rows32, 8, 2>(shape, A, B, C, stream);
    if (shape.M <= Rows64::BM || shape.N <= Rows64::BN)
        return launch_in_clusters<Rows64, 6, 2>(shape, A, B, C, stream);
    return launch_in_clusters<Rows128, 3, 2>(shape, A, B, C, stream);
}
// #endregion v8-small

// #region v8-large
/// 64 columns of A at a time, half as many barriers as v5: three stages of 48 KB.
/// False, without a launch, if a block cannot have so much.
///
/// A sweep on an H100 gave 256 x 128 sums a block 53.1 % of cuBLAS at 4096^3, where
/// shares of all steps had 48.6 %; at 8192^3 54.9 and 57.3 %. These are 3.9 and 15.5
/// rounds of tiles, so shares are for 8 rounds or more.
template <class T>
static bool launch_large(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using Tall = Sizes<T, 256, 128, 64, 64, Swizzled, 64>;
    using Wide = Sizes<T, 128, 256, 64, 64, Swizzled, 64>;
    constexpr int kStages = 3;
    constexpr int64_t kManyRounds = 8;
    constexpr size_t kBytes = kStages * sizeof(Stage<Tall>);
    static_assert(kBytes == kStages * sizeof(Stage<Wide>), "both fit, or none");
    const auto tall = mma_sync_v5_kernel<Tall, kStages, T>;
    if (!wb::allow_shared(tall, kBytes)) return false;
    if (count_blocks<Wide>(shape) >= kManyRounds * wb::multiprocessors()) {
        launch_stream_k<Wide, kStages, 1>(shape, A, B, C, stream);
        return true;
    }
    tall<<<count_blocks<Tall>(shape), Tall::kThreads, kBytes, stream>>>(
        Problem<T>::of(shape, A, B, C),
        wb::ceil_div(shape.M, int64_t{Tall::BM}),
        blocks_across<Tall>(shape));
    CUDA_CHECK_LAUNCH();
    return true;
}
// #endregion v8-large

// #region v8-launch
/// v8: clusters for a C of few tiles, if the GPU has them, else v7; large tiles for a
/// large C.
template <class T>
static void mma_sync_v8(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    constexpr int64_t kOneShare = 128;  // columns of A that are not worth a ring
    if (shape.K <= kOneShare) return mma_sync_v5(shape, A, B, C, stream);
    if (wb::compute_capability() < 90) return mma_sync_v7(shape, A, B, C, stream);
    if (launch_small(shape, A, B, C, stream)) return;
    if (!launch_large(shape, A, B, C, stream)) mma_sync_v5(shape, A, B, C, stream);
}
// #endregion v8-launch
