// kernel.h: given with this exercise: the kernel around a consumer: who does what.
#pragma once

#include "consumer.h"
#include "producer.h"

// #region kernel
/// One tile of rows a block. Warpgroup 0 produces: one of its warps has tiles copied.
/// All others consume, 64 rows each.
///
/// @tparam Consumer  its function tile<Tiling, kSource>(shared, problem, work, group,
///                   stage, q_stage) does the work of one warpgroup for one tile
///
/// Launch   grid problem.tiles, block Tiling::kThreads, dynamic shared memory
///          kSharedBytes<Tiling>
template <class Consumer, class Tiling, Source kSource>
__global__ void __launch_bounds__(Tiling::kThreads, 1)
    hopper_attention_kernel(const __grid_constant__ TensorMaps maps,
                            const __grid_constant__ Problem problem) {
    extern __shared__ unsigned char s_dynamic[];
    const Work work = work_of<Tiling, kSource>(problem, static_cast<int>(blockIdx.x));
    if (work.blocks == 0) return;
    SharedTiles<Tiling>& shared = shared_tiles<Tiling>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    Ring<Tiling::kStages> stage;
    Ring<Tiling::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Tiling::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize)
            produce_tile<Tiling, kSource>(
                {shared, maps, problem}, work, stage, q_stage);
    } else {
        wb::ptx::registers_take<Tiling::kConsumerRegisters>();
        Consumer::template tile<Tiling, kSource>(
            shared, problem, work, group, stage, q_stage);
    }
}
// #endregion kernel
