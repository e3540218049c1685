// hopper_attention.cu: attention as fast as an H100 can: TMA, wgmma, warps with jobs.
// #solution
//
// The ladder, a file a version; v2, which you write, is in this one.
// <Ladder of="hopper_attention" at="B1 H16 N8192 D128">
//       TFLOP/s  idea                                what limits it
//   v1      568  TMA + wgmma, 01_one_loop.cuh        all want the tensor cores at once
//   v2      606  producer, consumers: this file      two warpgroups drift by chance
//   v3      665  turns, 03_ping_pong.cuh             a turn begins with waits
//   v4      681  own softmax beneath, second stage   registers: two warpgroups only
//   v5      681  three consumers, 05_persistent.cuh  last round, exponentials
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
//   v6  FP8, twice the products a second: 06_fp8.cuh, with a contract of its own,
//       fp8_attention.h, for its error is another
//   v7  v4's loop over a list of blocks, as chapter 05 has them: 07_block_lists.cuh,
//       with the contract of block_sparse_attention.h
// #end
#include "hopper_attention.h"

#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include <cstdint>

#include "calls.h"
#include "tiles.h"
#include "warpgroups.h"
// #solution

#include "01_one_loop.cuh"
#include "03_ping_pong.cuh"
#include "04_overlap.cuh"
#include "05_persistent.cuh"
// #end

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
        // #starter // Delete these three lines: they prevent warnings.
        // #starter (void)s, (void)p, (void)factor, (void)blocks;
        // #starter (void)limits, (void)q;
        // #starter for (float& x : o) x = 0.0f;
        // #solution
        for (int block = blocks - 1; block >= 0; --block) {
            mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
            wgmma_fence();
            start_scores<Sizes>(s, q, shared.k[stage.stage]);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_keep(s);
            release(&shared.k_empty[stage.stage]);

            mask_block(s, block, limits);
            softmax_step(s, problem.scale_log2, rows, factor);
            pack_operand<typename Sizes::T>(p, s);
            const bool first = block == blocks - 1;
            if (!first) rescale(o, factor);

            mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
            wgmma_fence();
            start_output<Sizes>(o, p, shared.v[stage.stage], !first);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_keep(o);
            release(&shared.v_empty[stage.stage]);
            stage.advance();
        }
        // #end
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
// #solution

/// A version as a function of the contract, for tests and benchmarks.
template <class T, void (*launch)(const Call&)>
static void version(const wb::AttentionShape& shape,
                    const T* q,
                    const T* k,
                    const T* v,
                    T* o,
                    float* lse,
                    cudaStream_t stream) {
    Call call;
    if (dense_call(shape, q, k, v, o, lse, stream, call)) launch(call);
}
[[maybe_unused]] static const bool rungs_listed =
    wb::list_rung("hopper_attention",
                  "v1",
                  "TMA and wgmma",
                  version<__half, hopper_attention_v1<__half>>,
                  version<__nv_bfloat16, hopper_attention_v1<__nv_bfloat16>>) &&
    wb::list_rung(
        "hopper_attention",
        "v2",
        "a warp that produces, warpgroups that consume",
        version<__half, hopper_attention_v2<__half, Source::dense>>,
        version<__nv_bfloat16, hopper_attention_v2<__nv_bfloat16, Source::dense>>) &&
    wb::list_rung("hopper_attention",
                  "v3",
                  "ping-pong: turns on the tensor cores",
                  version<__half, hopper_attention_v3<__half>>,
                  version<__nv_bfloat16, hopper_attention_v3<__nv_bfloat16>>) &&
    wb::list_rung(
        "hopper_attention",
        "v4",
        "softmax under its own products, larger blocks",
        version<__half, hopper_attention_v4<__half, Source::dense>>,
        version<__nv_bfloat16, hopper_attention_v4<__nv_bfloat16, Source::dense>>) &&
    wb::list_rung(
        "hopper_attention",
        "v5",
        "three consumers, persistent, longest tile first",
        version<__half, hopper_attention_v5<__half, Source::dense>>,
        version<__nv_bfloat16, hopper_attention_v5<__nv_bfloat16, Source::dense>>);
// #end

// #region contract
/// What all functions of the contract do: check, then launch.
///
/// @param prepare  fills in a Call, after it has checked the arguments; false if
///                 nothing is left to do
template <class T, Source kSource, class Prepare>
static void attend(Prepare prepare) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO above is written
    Call call;
    if (!prepare(call)) return;
    // #starter hopper_attention_v2<T, kSource>(call);
    // #solution
    hopper_attention_v5<T, kSource>(call);
    // #end
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
