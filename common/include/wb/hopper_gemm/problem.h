/// wb/hopper_gemm/problem.h: what a kernel is told, and which block has which tile.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>
#include <wb/ptx/cluster.h>
#include <wb/ptx/tensor_map.h>

#include <cstdint>

#include "wb/hopper_gemm/sizes.h"

namespace wb::hopper_gemm {

// #region problem
/// The matrices, as the TMA unit knows them. A kernel's parameter, and only for that
/// declared like this: `const __grid_constant__ TensorMaps maps`.
struct TensorMaps {
    wb::ptx::TensorMap a, b, c;
};

/// The same for every block of a launch.
struct Problem {
    int M, N;
    int steps;   ///< stages that a tile needs: ceil_div(K, BK)
    int down;    ///< tiles of clusters below each other
    int across;  ///< and side by side
    int band;    ///< rows of clusters that are worked on together, see cluster_tile
    void* C;     ///< [M, N], where it is stored from registers
    int64_t ldc;
};

/// Where a block works.
struct Place {
    int row;  ///< the first of its BM rows of C
    int col;
};
// #endregion problem

/// Tile number `tile` of 0 <= tile < down * across, for a block of the cluster; see
/// cluster_tile().
template <class S>
__device__ __forceinline__ Place place_of(const Problem& p, int tile, unsigned rank) {
    const ClusterTile at = cluster_tile(tile, p.down, p.across, p.band);
    const int row_in_cluster = static_cast<int>(rank) % S::kClusterRows;
    const int col_in_cluster = static_cast<int>(rank) / S::kClusterRows;
    return {(at.down * S::kClusterRows + row_in_cluster) * S::BM,
            (at.across * S::kClusterColumns + col_in_cluster) * S::BN};
}

/// This block's number in its cluster.
template <class S>
__device__ __forceinline__ unsigned rank_in_cluster() {
    if constexpr (S::kCluster == 1)
        return 0;
    else
        return wb::ptx::cluster_rank();
}

/// Makes all barriers, and waits until all blocks of the cluster have. By the whole
/// block.
template <class S>
__device__ __forceinline__ void make_barriers(SharedTiles<S>& shared) {
    if (threadIdx.x == 0) {
        // A block loads for those below and above it, and for those beside it.
        constexpr int kReaders = S::kClusterRows + S::kClusterColumns - 1;
        for (int i = 0; i < S::kStages; ++i) {
            wb::ptx::mbarrier_init(&shared.full[i], 1);
            wb::ptx::mbarrier_init(&shared.empty[i], S::kConsumers * kReaders);
        }
        wb::ptx::mbarrier_init_fence();
    }
    if constexpr (S::kCluster == 1)
        __syncthreads();
    else
        wb::ptx::cluster_sync();
}

}  // namespace wb::hopper_gemm
