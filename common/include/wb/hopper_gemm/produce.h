/// wb/hopper_gemm/produce.h: one thread has tiles of A and B copied, stage after stage.
#pragma once

#include <wb/ptx/pipeline.h>
#include <wb/ptx/tma.h>

#include "wb/hopper_gemm/problem.h"

namespace wb::hopper_gemm {

// #region load
/// Starts a copy for one block, or for several of its cluster.
template <bool kMulticast>
__device__ __forceinline__ void load_box(unsigned char* tile,
                                         const wb::ptx::TensorMap* map,
                                         wb::ptx::Mbarrier* full,
                                         int x,
                                         int y,
                                         unsigned blocks) {
    if constexpr (kMulticast)
        wb::ptx::tma_load_multicast(tile, map, full, x, y, 0, 0, blocks);
    else
        wb::ptx::tma_load(tile, map, full, x, y, 0, 0);
}

/// Starts the copies of this block's share of a stage. Blocks of a row of the cluster
/// share rows of A, those of a column share columns of B: each loads a part, for all.
/// What lies outside of the matrices comes as zeros.
///
/// @param k  the first of BK columns of A, and rows of B
template <class S>
__device__ __forceinline__ void load_stage(SharedTiles<S>& shared,
                                           const TensorMaps& maps,
                                           const Place& at,
                                           int k,
                                           int stage,
                                           unsigned rank) {
    using wb::ptx::kSwizzleBytes;
    wb::ptx::Mbarrier* const full = &shared.full[stage];
    const int row_in_cluster = static_cast<int>(rank) % S::kClusterRows;
    const int col_in_cluster = static_cast<int>(rank) / S::kClusterRows;

    constexpr int kRowsA = S::BM / S::kClusterColumns;
    constexpr unsigned kBlocksInRow = [] {  // rank 0, kClusterRows, 2 kClusterRows ...
        unsigned blocks = 0;
        for (int i = 0; i < S::kClusterColumns; ++i)
            blocks |= 1u << i * S::kClusterRows;
        return blocks;
    }();
    const int row = col_in_cluster * kRowsA;
    load_box<(S::kClusterColumns > 1)>(shared.a[stage] + row * kSwizzleBytes,
                                       &maps.a,
                                       full,
                                       k,
                                       at.row + row,
                                       kBlocksInRow << row_in_cluster);

    constexpr unsigned kBlocksInColumn = (1u << S::kClusterRows) - 1;
    const unsigned column_mates = kBlocksInColumn << col_in_cluster * S::kClusterRows;
    if constexpr (S::kRowsOfK) {
        constexpr int kDepth = S::BK / S::kClusterRows;
        const int depth = row_in_cluster * kDepth;
#pragma unroll
        for (int panel = 0; panel < S::kPanels; ++panel) {
            load_box<(S::kClusterRows > 1)>(
                shared.b[stage] + (panel * S::BK + depth) * kSwizzleBytes,
                &maps.b,
                full,
                at.col + panel * S::kPanel,
                k + depth,
                column_mates);
        }
    } else {
        constexpr int kColumnsB = S::BN / S::kClusterRows;
        const int column = row_in_cluster * kColumnsB;
        load_box<(S::kClusterRows > 1)>(shared.b[stage] + column * kSwizzleBytes,
                                        &maps.b,
                                        full,
                                        k,
                                        at.col + column,
                                        column_mates);
    }
}
// #endregion load

// #region produce
/// All stages of one tile, or of a part of its K. By one thread.
///
/// @param steps  the first one, and the one behind the last
/// @param ring   goes on to the next tile's first stage
template <class S>
__device__ __forceinline__ void produce_tile(SharedTiles<S>& shared,
                                             const TensorMaps& maps,
                                             const Steps& steps,
                                             const Place& at,
                                             unsigned rank,
                                             wb::ptx::PipelineState<S::kStages>& ring) {
    for (int step = steps.begin; step < steps.end; ++step) {
        wb::ptx::mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
        // All that arrives here, whichever block of the cluster has asked for it.
        wb::ptx::mbarrier_expect(&shared.full[ring.stage], S::kABytes + S::kBBytes);
        load_stage<S>(shared, maps, at, step * S::BK, ring.stage, rank);
        ring.advance();
    }
}
// #endregion produce

}  // namespace wb::hopper_gemm
