// ping_pong.h: v3, two warpgroups that take turns on the tensor cores; v4, two that
// compute their softmax while their own products run.
#pragma once

#include "kernel.h"

// #region turns
/// Whose turn it is to issue products. Warpgroup g waits at barrier kTurnBarrier + g,
/// which opens when the other one has passed the turn on: 128 threads that wait, 128
/// that only arrive.
///
/// @tparam kTurns  whether there are any; without, all three functions do nothing
template <bool kTurns>
struct Turns {
    int group;

    /// The first turn is warpgroup 0's: the other one passes it on unasked.
    __device__ __forceinline__ explicit Turns(int own_group) : group(own_group) {
        if (group == 1) pass();
    }
    __device__ __forceinline__ void wait() const {
        if constexpr (kTurns)
            wb::ptx::named_barrier_sync(kTurnBarrier + group, 2 * wb::ptx::kWarpgroup);
    }
    __device__ __forceinline__ void pass() const {
        if constexpr (kTurns)
            wb::ptx::named_barrier_arrive(kTurnBarrier + 1 - group,
                                          2 * wb::ptx::kWarpgroup);
    }
};
// #endregion turns

// #region ping-pong
/// A step is O += P V of the block before and S = Q K^T of this one, so that between
/// two steps there is nothing but softmax.
///
/// @tparam kOverlap  false: v3. Warpgroups take turns: while one is at its softmax, the
///                   other one has the tensor cores. true: v4. The softmax begins as
///                   soon as the scores are there, and O += P V runs on beneath it;
///                   turns would only make it wait
template <bool kOverlap>
struct PingPong {
    template <class Tiling, Source kSource>
    static __device__ __forceinline__ void tile(SharedTiles<Tiling>& shared,
                                                const Problem& problem,
                                                const Work& work,
                                                int group,
                                                Ring<Tiling::kStages>& k,
                                                Ring<Tiling::kQueryStages> q_stage) {
        using namespace wb::ptx;
        constexpr int kKeys = Tiling::kKeys;
        using T = typename Tiling::T;
        static_assert(Tiling::kWarpgroups == 2, "two take turns");
        static_assert(!Tiling::kTmaStore, "q is free before o is complete");
        float s[kKeys / 2];
        uint32_t p[kKeys / 16][4];
        float o[Tiling::kDim / 2];
        float factor[2];
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        const Turns<!kOverlap> turns(group);
        clear_values_behind<Tiling, kSource>(shared, work, k);
        // Who takes turns cannot leave any out. And nobody leaves all out: with a
        // branch around the products, the compiler would no longer know that the lanes
        // are together, and would move each descriptor to a uniform register anew.
        const int fewest = kOverlap ? 1 : work.blocks;
        const int blocks =
            skip_unseen_blocks<Tiling>(shared, problem, work, group, k, fewest);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);

        Ring<Tiling::kStages> v = k;  // K is one block ahead of V
        mbarrier_wait(&shared.k_full[k.stage], k.parity);
        turns.wait();
        wgmma_fence();
        start_scores<Tiling>(s, q, shared.k[k.stage]);
        wgmma_commit();
        turns.pass();
        wgmma_wait<0>();
        wgmma_keep(s);
        release(&shared.k_empty[k.stage]);
        k.advance();
        mask_block<kKeys>(s, blocks - 1, limits);
        softmax_step<kKeys>(s, problem.scale_log2, rows, factor);
        pack_weights<T, kKeys>(p, s);

        bool accumulate = false;
        for (int block = blocks - 2; block >= 0; --block) {
            mbarrier_wait(&shared.k_full[k.stage], k.parity);
            mbarrier_wait(&shared.v_full[v.stage], v.parity);
            turns.wait();
            wgmma_fence();
            start_scores<Tiling>(s, q, shared.k[k.stage]);
            wgmma_commit();
            start_output<Tiling>(o, p, shared.v[v.stage], accumulate);
            wgmma_commit();
            turns.pass();
            wgmma_wait<kOverlap ? 1 : 0>();
            wgmma_keep(s);
            release(&shared.k_empty[k.stage]);
            if constexpr (kOverlap) {
                mask_block<kKeys>(s, block, limits);
                softmax_step<kKeys>(s, problem.scale_log2, rows, factor);
                wgmma_wait<0>();
            }
            wgmma_keep(o);
            release(&shared.v_empty[v.stage]);
            if constexpr (!kOverlap) {
                mask_block<kKeys>(s, block, limits);
                softmax_step<kKeys>(s, problem.scale_log2, rows, factor);
            }
            rescale(o, factor);
            pack_weights<T, kKeys>(p, s);
            accumulate = true;
            k.advance();
            v.advance();
        }
        release_together(&shared.q_empty[q_stage.stage], group);
        mbarrier_wait(&shared.v_full[v.stage], v.parity);
        wgmma_fence();
        start_output<Tiling>(o, p, shared.v[v.stage], accumulate);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(o);
        release(&shared.v_empty[v.stage]);
        store_rows<Tiling>(problem, work, group, o, rows);
    }
};
// #endregion ping-pong
