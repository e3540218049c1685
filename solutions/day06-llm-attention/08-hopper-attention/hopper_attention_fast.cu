// hopper_attention_fast.cu: v4: each warpgroup computes its softmax while its own
// products run, in larger blocks of keys. What limits it: scores of two blocks are
// alive at the same time, so that registers suffice for two warpgroups only.
// #solution
//
// Only the short test cases
// #end
#include "hopper_attention.h"

#include <wb/exercise.h>

#include <cstdint>

#include "calls.h"
#include "tiles.h"
#include "warpgroups.h"

// #region seen
/// Which pairs of a block count where a row sees the keys below its limit.
struct SeenBelow {
    Limits limits;

    // #solution
    /// When the keys of a block are there, before they are multiplied: time to look up
    /// what mask() will need. Here nothing; v7 has a list of blocks, and its masks.
    __device__ __forceinline__ void look(int /*stage*/) {}

    // #end
    /// When its scores are there: those that do not count become -infinity.
    template <int kCount>
    __device__ __forceinline__ void mask(float (&s)[kCount], int block) const {
        mask_block(s, block, limits);
    }
};
// #endregion seen

// #region overlap
/// All blocks of one tile. While a block's scores become weights, O += P V of the block
/// before runs on beneath.
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
    float s[Sizes::BN / 2];         // scores, then weights, of two rows
    uint32_t p[Sizes::BN / 16][4];  // weights, rounded, as wgmma wants them
    float o[Sizes::D / 2];          // output of two rows, not divided yet
    float factor[2];                // what to multiply o by
    RowSums rows;
    const unsigned char* const q =
        shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
    mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);

    // TODO(learner): this is your loop of v2, one product at a time. Let K be one block
    // ahead of V, with a ring of its own for each. The first block: scores and weights
    // alone. Then for each block the scores, and behind them, in a group of its own,
    // o += p v of the block before; wait for the scores alone, release the keys, and
    // make weights of the scores. When o is there, too: release the values, rescale o,
    // pack the weights. Behind the loop: o += p v of the last block (about 45 lines in
    // place of 21)
    // #starter for (int block = blocks - 1; block >= 0; --block) {
    // #starter     mbarrier_wait(&shared.k_full[k.stage], k.parity);
    // #starter     wgmma_fence();
    // #starter     start_scores<Sizes>(s, q, shared.k[k.stage]);
    // #starter     wgmma_commit();
    // #starter     wgmma_wait<0>();
    // #starter     wgmma_keep(s);
    // #starter     release(&shared.k_empty[k.stage]);
    // #starter     seen.mask(s, block);
    // #starter     softmax_step(s, problem.scale_log2, rows, factor);
    // #starter     pack_operand<T>(p, s);
    // #starter     const bool accumulate = block != blocks - 1;
    // #starter     if (accumulate) rescale(o, factor);
    // #starter     mbarrier_wait(&shared.v_full[k.stage], k.parity);
    // #starter     wgmma_fence();
    // #starter     start_output<Sizes>(o, p, shared.v[k.stage], accumulate);
    // #starter     wgmma_commit();
    // #starter     wgmma_wait<0>();
    // #starter     wgmma_keep(o);
    // #starter     release(&shared.v_empty[k.stage]);
    // #starter     k.advance();
    // #starter }
    // #starter release_together(&shared.q_empty[q_stage.stage], group);
    // #solution
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
    // #end
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
/// As many keys a block as registers and shared memory hold; of a paged cache, 128,
/// which is a number of whole pages.
template <class T, int D, Source kSource = Source::dense>
using OverlapSizes = TileSizes<T,
                               Tiling{.head_dim = D,
                                      .block_rows = 128,
                                      .block_keys = kSource == Source::paged ? 128
                                                    : D == 256               ? 80
                                                                             : 176,
                                      .stages = 2}>;

template <class T, Source kSource>
void hopper_attention_v4(const Call& call) {
    with_head_dim<kSource>(call, [&](auto head_dim) {
        using Sizes = OverlapSizes<T, head_dim(), kSource>;
        launch_tiles<Sizes>(hopper_attention_kernel<OverlapConsumer, Sizes, kSource>,
                            Sizes::kThreads,
                            0,
                            call);
    });
}
// #endregion v4-launch

// #solution
#ifndef WB_VERSION_ONLY  // hopper_attention.cu has all versions, and the contract
// #end
// #region contract
/// What all functions of the contract do: check, then launch.
///
/// @param prepare  fills in a Call, after it has checked the arguments; false if
///                 nothing is left to do
template <class T, Source kSource, class Prepare>
static void attend(Prepare prepare) {
    // #starter WB_NOT_SOLVED();  // delete this line first: it is right, but not fast
    Call call;
    if (prepare(call)) hopper_attention_v4<T, kSource>(call);
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __half* q,
                      const __half* k,
                      const __half* v,
                      __half* o,
                      float* lse,
                      cudaStream_t stream) {
    attend<__half, Source::dense>(
        [&](Call& call) { return dense_call(shape, q, k, v, o, lse, stream, call); });
}

void hopper_attention(const wb::AttentionShape& shape,
                      const __nv_bfloat16* q,
                      const __nv_bfloat16* k,
                      const __nv_bfloat16* v,
                      __nv_bfloat16* o,
                      float* lse,
                      cudaStream_t stream) {
    attend<__nv_bfloat16, Source::dense>(
        [&](Call& call) { return dense_call(shape, q, k, v, o, lse, stream, call); });
}

void hopper_attention_packed(const PackedShape& shape,
                             const __half* q,
                             const __half* k,
                             const __half* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __half* o,
                             float* lse,
                             cudaStream_t stream) {
    attend<__half, Source::packed>([&](Call& call) {
        return packed_call(
            shape, q, k, v, query_starts, key_starts, o, lse, stream, call);
    });
}

void hopper_attention_packed(const PackedShape& shape,
                             const __nv_bfloat16* q,
                             const __nv_bfloat16* k,
                             const __nv_bfloat16* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __nv_bfloat16* o,
                             float* lse,
                             cudaStream_t stream) {
    attend<__nv_bfloat16, Source::packed>([&](Call& call) {
        return packed_call(
            shape, q, k, v, query_starts, key_starts, o, lse, stream, call);
    });
}

void hopper_attention_paged(const PackedShape& shape,
                            const wb::PagedCache& cache,
                            const __nv_bfloat16* q,
                            const int32_t* query_starts,
                            __nv_bfloat16* o,
                            float* lse,
                            const wb::PagedWorkspace& workspace,
                            cudaStream_t stream) {
    attend<__nv_bfloat16, Source::paged>([&](Call& call) {
        return paged_call(
            shape, cache, q, query_starts, o, lse, workspace, stream, call);
    });
}
// #endregion contract
// #solution
#endif
// #end
