// 04_overlap.cuh: v4: each warpgroup computes its softmax while its own products run,
// in larger blocks of keys. What limits it: scores of two blocks are alive at the same
// time, so that registers suffice for two warpgroups only.
#pragma once

#include "tiles.h"
#include "warpgroups.h"

// #region seen
/// Which pairs of a block count where a row sees the keys below its limit.
struct SeenBelow {
    Limits limits;

    /// When the keys of a block are there, before they are multiplied: time to look up
    /// what mask() will need. Here nothing.
    __device__ __forceinline__ void look(int /*stage*/) {}

    /// When its scores are there: those that do not count become -infinity.
    template <int kCount>
    __device__ __forceinline__ void mask(float (&s)[kCount], int block) const {
        mask_block(s, block, limits);
    }
};
// #endregion seen

// #region overlap
/// The steps of v3, without turns. The softmax begins as soon as the scores are there,
/// and O += P V runs on beneath it; turns would only make it wait.
///
/// @param seen    which pairs of a block count: SeenBelow, or what has its functions
/// @param blocks  >= 1 to go through, from the last to the first
/// @param k       where the first one will be; goes on past the last one
template <class Sizes, class Seen>
__device__ __forceinline__ void overlap_blocks(
    SharedTiles<Sizes>& shared,
    const Problem& problem,
    const TileWork& work,
    int group,
    Seen seen,
    int blocks,
    PipelineState<Sizes::kStages>& k,
    PipelineState<Sizes::kQueryStages> q_stage) {
    using namespace wb::ptx;
    using T = typename Sizes::T;
    float s[Sizes::BN / 2];
    uint32_t p[Sizes::BN / 16][4];
    float o[Sizes::D / 2];
    float factor[2];
    RowSums rows;
    const unsigned char* const q =
        shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
    mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);

    PipelineState<Sizes::kStages> v = k;  // K is one block ahead of V
    mbarrier_wait(&shared.k_full[k.stage], k.parity);
    seen.look(k.stage);
    wgmma_fence();
    start_scores<Sizes>(s, q, shared.k[k.stage]);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_keep(s);
    release(&shared.k_empty[k.stage]);
    k.advance();
    seen.mask(s, blocks - 1);
    softmax_step(s, problem.scale_log2, rows, factor);
    pack_operand<T>(p, s);

    bool accumulate = false;
    for (int block = blocks - 2; block >= 0; --block) {
        mbarrier_wait(&shared.k_full[k.stage], k.parity);
        mbarrier_wait(&shared.v_full[v.stage], v.parity);
        seen.look(k.stage);
        wgmma_fence();
        start_scores<Sizes>(s, q, shared.k[k.stage]);
        wgmma_commit();
        start_output<Sizes>(o, p, shared.v[v.stage], accumulate);
        wgmma_commit();
        wgmma_wait<1>();  // the scores are there; P V may run on
        wgmma_keep(s);
        release(&shared.k_empty[k.stage]);
        seen.mask(s, block);
        softmax_step(s, problem.scale_log2, rows, factor);
        wgmma_wait<0>();
        wgmma_keep(o);
        release(&shared.v_empty[v.stage]);
        rescale(o, factor);
        pack_operand<T>(p, s);
        accumulate = true;
        k.advance();
        v.advance();
    }
    release_together(&shared.q_empty[q_stage.stage], group);
    mbarrier_wait(&shared.v_full[v.stage], v.parity);
    wgmma_fence();
    start_output<Sizes>(o, p, shared.v[v.stage], accumulate);
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_keep(o);
    release(&shared.v_empty[v.stage]);
    store_rows<Sizes>(problem, work, group, o, rows);
}
// #endregion overlap

/// The loop over all blocks up to the last one that a warpgroup sees.
struct OverlapConsumer {
    template <class Sizes, Source kSource>
    static __device__ __forceinline__ void tile(
        SharedTiles<Sizes>& shared,
        const Problem& problem,
        const TileWork& work,
        int group,
        PipelineState<Sizes::kStages>& k,
        PipelineState<Sizes::kQueryStages> q_stage) {
        const Limits limits = limits_of(problem, work, group);
        clear_values_behind<Sizes, kSource>(shared, work, k);
        // No warpgroup leaves all out: with a branch around the products, the compiler
        // would no longer know that the lanes are together, and would move each
        // descriptor to a uniform register anew.
        const int blocks =
            skip_unseen_blocks<Sizes>(shared, problem, work, group, k, /*fewest=*/1);
        overlap_blocks<Sizes>(
            shared, problem, work, group, SeenBelow{limits}, blocks, k, q_stage);
    }
};

// #region v4-launch
/// As many keys a block as registers and shared memory hold.
template <class T, int D>
using OverlapSizes = TileSizes<T,
                               Tiling{.head_dim = D,
                                      .block_rows = 128,
                                      .block_keys = D == 256 ? 80 : 176,
                                      .stages = 2}>;

template <class T>
void hopper_attention_v4(const Call& call) {
    with_head_dim<Source::dense>(call, [&](auto head_dim) {
        using Sizes = OverlapSizes<T, head_dim()>;
        launch_tiles<Sizes>(
            hopper_attention_kernel<OverlapConsumer, Sizes, Source::dense>,
            Sizes::kThreads,
            0,
            call);
    });
}
// #endregion v4-launch
