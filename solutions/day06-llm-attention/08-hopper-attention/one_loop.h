// one_loop.h: v1: every warp does everything, and thread 0 starts the copies besides.
#pragma once

#include "consumer.h"
#include "producer.h"

/// Threads of v1: it has no producer.
template <class Tiling>
inline constexpr int kThreadsV1 = Tiling::kWarpgroups* wb::ptx::kWarpgroup;

// #region v1-copies
/// Has rows of one tensor copied, panel by panel. By one thread.
template <class Tiling>
__device__ __forceinline__ void copy_rows_v1(unsigned char* tile,
                                             const wb::ptx::TensorMap& map,
                                             wb::ptx::Mbarrier* full,
                                             int rows,
                                             int first,
                                             int head,
                                             int sequence) {
    wb::ptx::mbarrier_expect(full, rows * Tiling::kPanels * wb::ptx::kSwizzleBytes);
    for (int panel = 0; panel < Tiling::kPanels; ++panel) {
        wb::ptx::tma_load(tile + panel * rows * wb::ptx::kSwizzleBytes,
                          &map,
                          full,
                          panel * Tiling::kPanel,
                          first,
                          head,
                          sequence);
    }
}

/// Keys and values of one block.
template <class Tiling>
__device__ __forceinline__ void copy_block_v1(SharedTiles<Tiling>& shared,
                                              const TensorMaps& maps,
                                              const Work& work,
                                              int block,
                                              int stage) {
    const int key = block * Tiling::kKeys;
    copy_rows_v1<Tiling>(shared.k[stage],
                         maps.k,
                         &shared.k_full[stage],
                         Tiling::kKeys,
                         key,
                         work.kv_head,
                         work.sequence);
    copy_rows_v1<Tiling>(shared.v[stage],
                         maps.v,
                         &shared.v_full[stage],
                         Tiling::kKeys,
                         key,
                         work.kv_head,
                         work.sequence);
}
// #endregion v1-copies

// #region v1-kernel
/// hopper_attention_v1: one tile of rows a block, 64 rows a warpgroup. While a block of
/// keys is used, the next one is copied; __syncthreads() says that a stage is free.
///
/// Launch   grid problem.tiles, block kThreadsV1<Tiling>, dynamic shared memory
///          kSharedBytes<Tiling>
template <class Tiling>
__global__ void __launch_bounds__(kThreadsV1<Tiling>, 1)
    hopper_attention_v1_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem) {
    using namespace wb::ptx;
    static_assert(Tiling::kStages == 2);
    extern __shared__ unsigned char s_dynamic[];
    const Work work =
        work_of<Tiling, Source::dense>(problem, static_cast<int>(blockIdx.x));
    SharedTiles<Tiling>& shared = shared_tiles<Tiling>(s_dynamic);
    make_barriers(shared);
    const bool leader = threadIdx.x == 0;
    const int group = consumer_group() + 1;  // there is no producer before them
    if (leader) {
        copy_rows_v1<Tiling>(shared.q[0],
                             maps.q,
                             &shared.q_full[0],
                             Tiling::kRows,
                             work.row,
                             work.head,
                             work.sequence);
        copy_block_v1(shared, maps, work, work.blocks - 1, 0);
    }
    const Limits limits = limits_of(problem, work, group);
    const unsigned char* const q = shared.q[0] + group * kGroupRows * kSwizzleBytes;
    float s[Tiling::kKeys / 2];
    uint32_t p[Tiling::kKeys / 16][4];
    float o[Tiling::kDim / 2];
    float factor[2];
    RowSums rows;
    Ring<2> ring;
    mbarrier_wait(&shared.q_full[0], 0);
    for (int block = work.blocks - 1; block >= 0; --block) {
        __syncthreads();  // nobody uses the other stage any more
        if (leader && block > 0)
            copy_block_v1(shared, maps, work, block - 1, ring.stage ^ 1);

        mbarrier_wait(&shared.k_full[ring.stage], ring.parity);
        wgmma_fence();
        start_scores<Tiling>(s, q, shared.k[ring.stage]);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(s);

        mask_block<Tiling::kKeys>(s, block, limits);
        softmax_step<Tiling::kKeys>(s, problem.scale_log2, rows, factor);
        pack_weights<typename Tiling::T, Tiling::kKeys>(p, s);
        const bool first = block == work.blocks - 1;
        if (!first) rescale(o, factor);

        mbarrier_wait(&shared.v_full[ring.stage], ring.parity);
        wgmma_fence();
        start_output<Tiling>(o, p, shared.v[ring.stage], !first);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(o);
        ring.advance();
    }
    store_rows<Tiling>(problem, work, group, o, rows);
}
// #endregion v1-kernel
