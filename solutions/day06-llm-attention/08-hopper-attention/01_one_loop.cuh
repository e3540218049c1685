// 01_one_loop.cuh: v1: every warp does everything, and thread 0 starts the copies
// besides. What limits it: all warps want the tensor cores at the same time, and then
// none does.
#pragma once

#include "tiles.h"
#include "warpgroups.h"

/// Threads of v1: it has no producer.
template <class Sizes>
inline constexpr int kThreadsV1 = Sizes::kWarpgroups* wb::ptx::kWarpgroup;

// #region v1-copies
/// Has rows of one tensor copied, panel by panel. By one thread.
template <class Sizes>
__device__ __forceinline__ void copy_rows_v1(unsigned char* tile,
                                             const wb::ptx::TensorMap& map,
                                             wb::ptx::Mbarrier* full,
                                             int rows,
                                             int first,
                                             int head,
                                             int sequence) {
    wb::ptx::mbarrier_expect(full, rows * Sizes::kPanels * wb::ptx::kSwizzleBytes);
    for (int panel = 0; panel < Sizes::kPanels; ++panel) {
        wb::ptx::tma_load(tile + panel * rows * wb::ptx::kSwizzleBytes,
                          &map,
                          full,
                          panel * Sizes::kPanel,
                          first,
                          head,
                          sequence);
    }
}

/// Keys and values of one block.
template <class Sizes>
__device__ __forceinline__ void copy_block_v1(SharedTiles<Sizes>& shared,
                                              const TensorMaps& maps,
                                              const TileWork& work,
                                              int block,
                                              int stage) {
    const int key = block * Sizes::BN;
    copy_rows_v1<Sizes>(shared.k[stage],
                        maps.k,
                        &shared.k_full[stage],
                        Sizes::BN,
                        key,
                        work.kv_head,
                        work.sequence);
    copy_rows_v1<Sizes>(shared.v[stage],
                        maps.v,
                        &shared.v_full[stage],
                        Sizes::BN,
                        key,
                        work.kv_head,
                        work.sequence);
}
// #endregion v1-copies

// #region v1-kernel
/// hopper_attention_v1: one tile of rows a block, 64 rows a warpgroup. While a block of
/// keys is used, the next one is copied; __syncthreads() says that a stage is free.
///
/// Launch   grid problem.tiles, block kThreadsV1<Sizes>, dynamic shared memory
///          kSharedBytes<Sizes>
template <class Sizes>
__global__ void __launch_bounds__(kThreadsV1<Sizes>, 1)
    hopper_attention_v1_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem) {
    using namespace wb::ptx;
    static_assert(Sizes::kStages == 2);
    extern __shared__ unsigned char s_dynamic[];
    const TileWork work =
        work_of<Sizes, Source::dense>(problem, static_cast<int>(blockIdx.x));
    SharedTiles<Sizes>& shared = shared_tiles<Sizes>(s_dynamic);
    make_barriers(shared);
    const bool leader = threadIdx.x == 0;
    const int group = consumer_group() + 1;  // there is no producer before them
    if (leader) {
        copy_rows_v1<Sizes>(shared.q[0],
                            maps.q,
                            &shared.q_full[0],
                            Sizes::BM,
                            work.row,
                            work.head,
                            work.sequence);
        copy_block_v1(shared, maps, work, work.blocks - 1, 0);
    }
    const Limits limits = limits_of(problem, work, group);
    const unsigned char* const q = shared.q[0] + group * kGroupRows * kSwizzleBytes;
    float s[Sizes::BN / 2];
    uint32_t p[Sizes::BN / 16][4];
    float o[Sizes::D / 2];
    float factor[2];
    RowSums rows;
    PipelineState<2> ring;
    mbarrier_wait(&shared.q_full[0], 0);
    for (int block = work.blocks - 1; block >= 0; --block) {
        __syncthreads();  // nobody uses the other stage any more
        if (leader && block > 0)
            copy_block_v1(shared, maps, work, block - 1, ring.stage ^ 1);

        mbarrier_wait(&shared.k_full[ring.stage], ring.parity);
        wgmma_fence();
        start_scores<Sizes>(s, q, shared.k[ring.stage]);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(s);

        mask_block(s, block, limits);
        softmax_step(s, problem.scale_log2, rows, factor);
        pack_operand<typename Sizes::T>(p, s);
        const bool first = block == work.blocks - 1;
        if (!first) rescale(o, factor);

        mbarrier_wait(&shared.v_full[ring.stage], ring.parity);
        wgmma_fence();
        start_output<Sizes>(o, p, shared.v[ring.stage], !first);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(o);
        ring.advance();
    }
    store_rows<Sizes>(problem, work, group, o, rows);
}
// #endregion v1-kernel

// #region v1-launch
/// Two warpgroups of 64 rows, 128 keys a block, twice in shared memory. D = 256 leaves
/// room for 64 keys.
template <class T>
void hopper_attention_v1(const Call& call) {
    with_head_dim<Source::dense>(call, [&](auto head_dim) {
        constexpr int D = head_dim();
        using Sizes = TileSizes<T,
                                Tiling{.head_dim = D,
                                       .block_rows = 128,
                                       .block_keys = D == 256 ? 64 : 128,
                                       .stages = 2}>;
        launch_tiles<Sizes>(
            hopper_attention_v1_kernel<Sizes>, kThreadsV1<Sizes>, 0, call);
    });
}
// #endregion v1-launch
