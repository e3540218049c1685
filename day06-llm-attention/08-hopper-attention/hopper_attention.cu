// hopper_attention.cu: attention as fast as an H100 can: TMA, wgmma, warps with jobs.
#include "hopper_attention.h"

#include <wb/exercise.h>

#include <cstdint>

#include "calls.h"
#include "tiles.h"
#include "warpgroups.h"

// #region v2-consumer
/// A consuming warpgroup: products and softmax of one block after the other.
struct SerialConsumer {
    /// The work of one warpgroup for one tile.
    ///
    /// @param group    which 64 rows of the tile are its own
    /// @param stage    where the first block of keys and values will be; goes on to
    ///                 where the next tile's will be
    /// @param q_stage  where q will be
    template <class Sizes, Source kSource>
    static __device__ __forceinline__ void tile(
        SharedTiles<Sizes>& shared,
        const Problem& problem,
        const TileWork& work,
        int group,
        PipelineState<Sizes::kStages>& stage,
        PipelineState<Sizes::kQueryStages> q_stage) {
        using namespace wb::ptx;
        float s[Sizes::BN / 2];         // scores, then weights, of two rows
        uint32_t p[Sizes::BN / 16][4];  // weights, rounded, as wgmma wants them
        float o[Sizes::D / 2];          // output of two rows, not divided yet
        float factor[2];                // what to multiply o by
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        clear_values_behind<Sizes, kSource>(shared, work, stage);
        const int blocks =
            skip_unseen_blocks<Sizes>(shared, problem, work, group, stage);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
        // TODO(learner): for each block of keys from blocks - 1 down to 0: wait for its
        // keys; start s = q k^T between a fence and a commit, wait for it, and release
        // the keys. Mask the block, make weights of the scores, pack them, rescale o.
        // Wait for the values; o += p v in the same way (the first block overwrites o),
        // and release them. Advance the ring (about 24 lines)
        // Delete these three lines: they prevent warnings.
        (void)s, (void)p, (void)factor, (void)blocks;
        (void)limits, (void)q;
        for (float& x : o) x = 0.0f;
        release_together(&shared.q_empty[q_stage.stage], group);
        store_rows<Sizes>(problem, work, group, o, rows);
    }
};
// #endregion v2-consumer

// #region v2-launch
/// Two warpgroups of 64 rows, 128 keys a block, twice in shared memory. D = 256 leaves
/// room for 64 keys.
template <class T, Source kSource>
static void hopper_attention_v2(const Call& call) {
    with_head_dim<kSource>(call, [&](auto head_dim) {
        constexpr int D = head_dim();
        using Sizes = TileSizes<T,
                                Tiling{.head_dim = D,
                                       .block_rows = 128,
                                       .block_keys = D == 256 ? 64 : 128,
                                       .stages = 2}>;
        launch_tiles<Sizes>(hopper_attention_kernel<SerialConsumer, Sizes, kSource>,
                            Sizes::kThreads,
                            0,
                            call);
    });
}
// #endregion v2-launch

// #region contract
/// What all functions of the contract do: check, then launch.
///
/// @param prepare  fills in a Call, after it has checked the arguments; false if
///                 nothing is left to do
template <class T, Source kSource, class Prepare>
static void attend(Prepare prepare) {
    WB_NOT_SOLVED();  // delete this line when the TODO above is written
    Call call;
    if (!prepare(call)) return;
    hopper_attention_v2<T, kSource>(call);
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
