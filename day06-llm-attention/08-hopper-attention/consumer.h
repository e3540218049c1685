// consumer.h: given with this exercise: what a consuming warpgroup does beside its
// products and its softmax.
#pragma once

#include <wb/ptx/warp_specialize.h>

#include "fragments.h"
#include "store.h"
#include "tma_store.h"

/// Barriers for parts of a block; 0 is __syncthreads().
enum NamedBarrier : int {
    kTurnBarrier = 1,       ///< and one more for each further warpgroup (v3, v4)
    kConsumersBarrier = 3,  ///< all consumers
    kGroupBarrier = 4,      ///< and one more for each further warpgroup
};

/// Which 64 rows of the tile are this warpgroup's: 0, 1, ... Block-uniform arithmetic
/// on threadIdx.x is not uniform to the compiler; a shuffle makes it so.
__device__ __forceinline__ int consumer_group() {
    return __shfl_sync(kAll, static_cast<int>(threadIdx.x) / wb::ptx::kWarpgroup, 0) -
           1;
}

/// Says that this warpgroup is done with a tile. One thread speaks for all: wgmma keeps
/// the four warps of a warpgroup in step, so that all of them have seen what it read.
__device__ __forceinline__ void release(wb::ptx::Mbarrier* empty) {
    if (threadIdx.x % wb::ptx::kWarpgroup == 0) wb::ptx::mbarrier_arrive(empty);
}

/// The same where no wgmma has kept the warps in step. Without the barrier, a warp that
/// is late may still wait for the tile when it has been overwritten: a barrier's parity
/// does not tell the round after next from this one, and the warp waits for ever.
__device__ __forceinline__ void release_together(wb::ptx::Mbarrier* empty, int group) {
    wb::ptx::named_barrier_sync(kGroupBarrier + group, wb::ptx::kWarpgroup);
    release(empty);
}

/// What a thread's two rows see.
struct Limits {
    int row[2];     ///< keys below are seen, for each of the two rows
    int warpgroup;  ///< the smallest in the warpgroup: blocks below need no mask
};
__device__ __forceinline__ Limits limits_of(const Problem& problem,
                                            const Work& work,
                                            int group) {
    const int first = work.row + group * kGroupRows;
    const int row = first + static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                    static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
    return {{key_limit(problem, work, row), key_limit(problem, work, row + 8)},
            key_limit(problem, work, first)};
}

/// Masks a block of scores where it is needed: at the diagonal and at the last key.
template <int kKeys>
__device__ __forceinline__ void mask_block(float (&s)[kKeys / 2],
                                           int block,
                                           const Limits& limits) {
    if ((block + 1) * kKeys > limits.warpgroup)
        mask_scores<kKeys>(s, block * kKeys, limits.row);
}

/// Overwrites with zeros what lies behind the last value of a tile. By all consumers,
/// before they go through its blocks.
///
/// Behind the last key of a packed sequence comes the next sequence, and behind that of
/// a paged one whatever its page held before. Its weights are 0; but 0 times NaN is
/// NaN. In a dense tensor the TMA unit itself fills up with zeros.
///
/// @param ring  of the tile's first block: the last keys, and the only ones that may
///              have something behind them
template <class Tiling, Source kSource>
__device__ __forceinline__ void clear_values_behind(SharedTiles<Tiling>& shared,
                                                    const Work& work,
                                                    Ring<Tiling::kStages> ring) {
    if constexpr (kSource != Source::dense) {
        const int rows = work.keys - (work.blocks - 1) * Tiling::kKeys;
        if (rows >= Tiling::kKeys) return;
        wb::ptx::mbarrier_wait(&shared.v_full[ring.stage], ring.parity);
        constexpr int kConsumers = Tiling::kWarpgroups * wb::ptx::kWarpgroup;
        constexpr int kRowVectors = wb::ptx::kSwizzleBytes / sizeof(uint4);
        const int first = rows * kRowVectors;
        const int end = Tiling::kKeys * kRowVectors;
        for (int panel = 0; panel < Tiling::kPanels; ++panel) {
            uint4* const tile =
                reinterpret_cast<uint4*>(shared.v[ring.stage]) + panel * end;
            for (int i = first + static_cast<int>(threadIdx.x) - wb::ptx::kWarpgroup;
                 i < end;
                 i += kConsumers) {
                tile[i] = make_uint4(0, 0, 0, 0);
            }
        }
        wb::ptx::async_proxy_fence();
        __syncwarp();  // the loop above has parted the lanes
        wb::ptx::named_barrier_sync(kConsumersBarrier, kConsumers);
    }
}

/// Blocks of keys that a warpgroup has to go through: fewer than the tile has, if all
/// of its rows are past the end, or before the diagonal. It waits for those that it
/// does not need, and releases them, so that all warpgroups stay in step with the
/// producer.
template <class Tiling>
__device__ __forceinline__ int skip_unseen_blocks(SharedTiles<Tiling>& shared,
                                                  const Problem& problem,
                                                  const Work& work,
                                                  int group,
                                                  Ring<Tiling::kStages>& stage,
                                                  int fewest = 0) {
    const int row = work.row + group * kGroupRows;
    const int seen = max(fewest, blocks_seen<Tiling>(problem, work, row, kGroupRows));
    for (int block = work.blocks - 1; block >= seen; --block) {
        wb::ptx::mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
        wb::ptx::mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
        release_together(&shared.k_empty[stage.stage], group);
        release(&shared.v_empty[stage.stage]);
        stage.advance();
    }
    return seen;
}

/// Ends a tile: lets q go, and stores the warpgroup's rows of o.
template <class Tiling, Source kSource>
__device__ __forceinline__ void finish_rows(SharedTiles<Tiling>& shared,
                                            const Problem& problem,
                                            const Work& work,
                                            int group,
                                            int q_stage,
                                            const float (&o)[Tiling::kDim / 2],
                                            const RowSums& rows) {
    if constexpr (Tiling::kTmaStore && kSource == Source::dense) {
        store_rows_tma<Tiling>(
            shared, problem, work, group, kGroupBarrier + group, q_stage, o, rows);
    } else {
        release_together(&shared.q_empty[q_stage], group);
        store_rows<Tiling>(problem, work, group, o, rows);
    }
}
