// 03_ping_pong.cuh: v3: two warpgroups take turns on the tensor cores, so that one's
// softmax lies under the other's products. What limits it: a turn also begins with
// waits, and no third warpgroup uses that time.
#pragma once

#include "tiles.h"
#include "warpgroups.h"

// #region turns
/// Whose turn it is to issue products. Warpgroup g waits at barrier kTurnBarrier + g,
/// which opens when the other one has passed the turn on: 128 threads that wait, 128
/// that only arrive.
struct Turns {
    int group;

    /// The first turn is warpgroup 0's: the other one passes it on unasked.
    __device__ __forceinline__ explicit Turns(int own_group) : group(own_group) {
        if (group == 1) pass();
    }
    __device__ __forceinline__ void wait() const {
        wb::ptx::named_barrier_sync(kTurnBarrier + group, 2 * wb::ptx::kWarpgroup);
    }
    __device__ __forceinline__ void pass() const {
        wb::ptx::named_barrier_arrive(kTurnBarrier + 1 - group,
                                      2 * wb::ptx::kWarpgroup);
    }
};
// #endregion turns

// #region ping-pong
/// A step is O += P V of the block before and S = Q K^T of this one, so that between
/// two steps there is nothing but softmax. While one warpgroup is at its softmax, the
/// other one has the tensor cores.
struct PingPongConsumer {
    template <class Sizes, Source kSource>
    static __device__ __forceinline__ void tile(
        SharedTiles<Sizes>& shared,
        const Problem& problem,
        const TileWork& work,
        int group,
        PipelineState<Sizes::kStages>& k,
        PipelineState<Sizes::kQueryStages> q_stage) {
        using namespace wb::ptx;
        using T = typename Sizes::T;
        static_assert(Sizes::kWarpgroups == 2, "two take turns");
        float s[Sizes::BN / 2];
        uint32_t p[Sizes::BN / 16][4];
        float o[Sizes::D / 2];
        float factor[2];
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        const Turns turns(group);
        clear_values_behind<Sizes, kSource>(shared, work, k);
        const int blocks = work.blocks;  // if you take turns, you cannot leave one out
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);

        PipelineState<Sizes::kStages> v = k;  // K is one block ahead of V
        mbarrier_wait(&shared.k_full[k.stage], k.parity);
        turns.wait();
        wgmma_fence();
        start_scores<Sizes>(s, q, shared.k[k.stage]);
        wgmma_commit();
        turns.pass();
        wgmma_wait<0>();
        wgmma_keep(s);
        release(&shared.k_empty[k.stage]);
        k.advance();
        mask_block(s, blocks - 1, limits);
        softmax_step(s, problem.scale_log2, rows, factor);
        pack_operand<T>(p, s);

        bool accumulate = false;
        for (int block = blocks - 2; block >= 0; --block) {
            mbarrier_wait(&shared.k_full[k.stage], k.parity);
            mbarrier_wait(&shared.v_full[v.stage], v.parity);
            turns.wait();
            wgmma_fence();
            start_scores<Sizes>(s, q, shared.k[k.stage]);
            wgmma_commit();
            start_output<Sizes>(o, p, shared.v[v.stage], accumulate);
            wgmma_commit();
            turns.pass();
            wgmma_wait<0>();
            wgmma_keep(s);
            release(&shared.k_empty[k.stage]);
            wgmma_keep(o);
            release(&shared.v_empty[v.stage]);
            mask_block(s, block, limits);
            softmax_step(s, problem.scale_log2, rows, factor);
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
};
// #endregion ping-pong

// #region v3-launch
/// The tiles of v1 and v2.
template <class T>
void hopper_attention_v3(const Call& call) {
    with_head_dim<Source::dense>(call, [&](auto head_dim) {
        constexpr int D = head_dim();
        using Sizes = TileSizes<T,
                                Tiling{.head_dim = D,
                                       .block_rows = 128,
                                       .block_keys = D == 256 ? 64 : 128,
                                       .stages = 2}>;
        launch_tiles<Sizes>(
            hopper_attention_kernel<PingPongConsumer, Sizes, Source::dense>,
            Sizes::kThreads,
            0,
            call);
    });
}
// #endregion v3-launch
