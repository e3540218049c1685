// persistent.h: v5: as many blocks as there are multiprocessors, each with tile after
// tile, until there are none left.
#pragma once

#include "consumer.h"
#include "producer.h"

// #region schedule
/// Tiles, from the producing warp to the consumers, through two slots: so the producer
/// may be a tile ahead.
template <class Tiling, Source kSource>
struct Schedule {
    SharedTiles<Tiling>& shared;
    const Problem& problem;
    Ring<2> slot;
    int tile = -1;  ///< the number of the producer's current tile

    /// The producer's next tile; `blocks` is 0 after the last one. By one warp, which
    /// tells the consumers.
    __device__ __forceinline__ Work take() {
        Work work;
        do {
            tile = next_number();
            work.blocks = 0;
            if (tile >= problem.tiles) break;
            work = work_of<Tiling, kSource>(problem, tile);
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
    __device__ __forceinline__ const Work& receive() {
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
        return blocks + static_cast<int>(__shfl_sync(kAll, ticket, 0));
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
        for (Work work = schedule.take(); work.blocks > 0; work = schedule.take()) {
            produce_tile<Tiling, kSource>(
                {shared, maps, problem}, work, stage, q_stage);
        }
    } else {
        wb::ptx::registers_take<Tiling::kConsumerRegisters>();
        while (true) {
            const Work& work = schedule.receive();
            if (work.blocks == 0) return;
            Consumer::template tile<Tiling, kSource>(
                shared, problem, work, group, stage, q_stage);
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion v5-kernel
