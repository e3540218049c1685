// persistent.h: v5: as many blocks as there are multiprocessors, each with tile after
// tile, until there are none left.
#pragma once

#include "consumer.h"
#include "producer.h"

// #region schedule
/// Numbers of tiles, from the producing warp to the consumers, through two slots: so
/// the producer may be a tile ahead.
template <class Tiling, Source kSource>
struct Schedule {
    SharedTiles<Tiling>& shared;
    const Problem& problem;
    Ring<2> slot;

    /// The producer's next tile; `blocks` is 0 after the last one. By one warp, which
    /// tells the consumers.
    ///
    /// @param tile  the number of the current one, or -1; becomes that of the next
    __device__ __forceinline__ Work take(int& tile) {
        Work work;
        do {
            tile = tile < 0 ? static_cast<int>(blockIdx.x) : number_after(tile);
            work.blocks = 0;
            if (tile >= problem.tiles) break;
            work = work_of<Tiling, kSource>(problem, tile);
        } while (work.blocks == 0);  // a packed sequence that is shorter than others
        wb::ptx::mbarrier_wait(&shared.tile_empty[slot.stage], slot.parity ^ 1);
        __syncwarp();  // a lane that is late would miss this phase
        if (threadIdx.x == 0) {
            shared.tile[slot.stage] = tile;
            wb::ptx::mbarrier_arrive(&shared.tile_full[slot.stage]);
        }
        slot.advance();
        return work;
    }

    /// The same tile, for a consumer. All lanes of a warp together.
    __device__ __forceinline__ Work receive() {
        wb::ptx::mbarrier_wait(&shared.tile_full[slot.stage], slot.parity);
        const int tile = shared.tile[slot.stage];
        __syncwarp();
        if (threadIdx.x % wb::kWarpSize == 0)
            wb::ptx::mbarrier_arrive(&shared.tile_empty[slot.stage]);
        slot.advance();
        Work work;
        work.blocks = 0;
        if (tile < problem.tiles) work = work_of<Tiling, kSource>(problem, tile);
        return work;
    }

 private:
    /// With a counter, whichever tile nobody has taken yet: who has finished early
    /// takes more. Without, every gridDim.x-th.
    __device__ __forceinline__ int number_after(int tile) const {
        const int blocks = static_cast<int>(gridDim.x);
        if (problem.counter == nullptr) return tile + blocks;
        int taken = 0;
        if (threadIdx.x == 0) taken = static_cast<int>(atomicAdd(problem.counter, 1u));
        return blocks + __shfl_sync(kAll, taken, 0);
    }
};
// #endregion schedule

// #region v5-kernel
/// hopper_attention_v5: the loop of v2, for tile after tile. While one warpgroup stores
/// its rows, the others are still at work, and the producer fetches the next tile.
///
/// Launch   grid one block a multiprocessor, or fewer; block Tiling::kThreads, dynamic
///          shared memory kSharedBytes<Tiling>
template <class Consumer, class Tiling, Source kSource>
__global__ void __launch_bounds__(Tiling::kThreads, 1)
    hopper_attention_v5_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<Tiling>& shared = shared_tiles<Tiling>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<Tiling, kSource> schedule{shared, problem, {}};
    Ring<Tiling::kStages> stage;
    Ring<Tiling::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Tiling::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        int tile = -1;
        for (Work work = schedule.take(tile); work.blocks > 0;
             work = schedule.take(tile)) {
            produce_tile<Tiling, kSource>(
                {shared, maps, problem}, work, stage, q_stage);
        }
    } else {
        wb::ptx::registers_take<Tiling::kConsumerRegisters>();
        for (Work work = schedule.receive(); work.blocks > 0;
             work = schedule.receive()) {
            Consumer::template tile<Tiling, kSource>(
                shared, problem, work, group, stage, q_stage);
            q_stage.advance();
        }
    }
}
// #endregion v5-kernel
