// schedule.h: given with this exercise: tile after tile for a block that stays, from
// the warp that produces to those that consume.
#pragma once

#include <wb/launch.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pipeline.h>

#include "tiles.h"

// #region schedule
/// Tiles, from the producing warp to the consumers, through two slots: so the producer
/// may be a tile ahead.
///
/// @tparam Tiles  the kernel's own Problem. What its tile number t is,
///                work_of<Sizes, kSource>(problem, t) says
template <class Sizes, Source kSource, class Tiles = Problem>
struct Schedule {
    SharedTiles<Sizes>& shared;
    const Tiles& problem;
    wb::ptx::PipelineState<2> slot;
    int tile = -1;  ///< the number of the producer's current tile

    /// The producer's next tile; `blocks` is 0 after the last one. By one warp, which
    /// tells the consumers.
    __device__ __forceinline__ TileWork take() {
        return take(
            [&](int number) { return work_of<Sizes, kSource>(problem, number); });
    }

    /// The same where look_up(number) says what a tile is.
    template <class LookUp>
    __device__ __forceinline__ TileWork take(LookUp look_up) {
        TileWork work;
        do {
            tile = next_number();
            work.blocks = 0;
            if (tile >= problem.tiles) break;
            work = look_up(tile);
        } while (work.blocks == 0);  // a packed sequence that is shorter than others
        wb::ptx::mbarrier_wait(&shared.work_empty[slot.stage], slot.parity ^ 1);
        __syncwarp();  // a lane that is late would miss this phase
        if (threadIdx.x == 0) {
            shared.work[slot.stage] = work;
            wb::ptx::mbarrier_arrive(&shared.work_full[slot.stage]);
        }
        slot.advance();
        return work;
    }

    /// The same tile, for a consumer, until finish().
    __device__ __forceinline__ const TileWork& receive() {
        wb::ptx::mbarrier_wait(&shared.work_full[slot.stage], slot.parity);
        return shared.work[slot.stage];
    }

    /// By all consumers, when they need the tile no more. Each thread speaks for
    /// itself: nothing keeps them in step.
    __device__ __forceinline__ void finish() {
        wb::ptx::mbarrier_arrive(&shared.work_empty[slot.stage]);
        slot.advance();
    }

 private:
    /// With a counter, whichever tile nobody has taken yet: who has finished early
    /// takes more. Without, every gridDim.x-th. An atomic operation takes a microsecond
    /// to come back. Nobody waits for it: the consumers still have all stages before
    /// them.
    __device__ __forceinline__ int next_number() const {
        const int blocks = static_cast<int>(gridDim.x);
        if (tile < 0) return static_cast<int>(blockIdx.x);
        if (problem.counter == nullptr) return tile + blocks;
        unsigned ticket = 0;
        if (threadIdx.x == 0) ticket = atomicAdd(problem.counter, 1u);
        return blocks + static_cast<int>(__shfl_sync(wb::kAllLanes, ticket, 0));
    }
};
// #endregion schedule
