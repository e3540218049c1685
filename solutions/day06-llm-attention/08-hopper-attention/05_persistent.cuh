// 05_persistent.cuh: v5: as many blocks as there are multiprocessors, each with tile
// after tile, until there are none left; three or four warpgroups that consume; the TMA
// unit stores o; 05_last_round.cuh shares the last tiles out. What limits it: the ends
// of tiles, and for D = 64 exponentials.
#pragma once

#include <wb/device.h>
#include <wb/ptx/pack.h>
#include <wb/ptx/stmatrix.h>
#include <wb/scratch.h>

#include <type_traits>

#include "04_overlap.cuh"
#include "05_last_round.cuh"
#include "schedule.h"
#include "tiles.h"
#include "warpgroups.h"

// #region tma-store
/// Divides a warpgroup's 64 rows of O by the sums of their weights, rounds, and has the
/// TMA unit store them, with the log-sum-exp if it is wanted. Rows past the end lie
/// outside of the tensor map and are not written.
///
/// Where q was, o goes: a warpgroup reads only its own 64 rows of q, and needs them no
/// more. So this also says that q is free, as soon as the rows have been read.
///
/// @param barrier  a named barrier of this warpgroup's own
template <class Sizes>
__device__ __forceinline__ void store_rows_tma(SharedTiles<Sizes>& shared,
                                               const Problem& problem,
                                               const TileWork& work,
                                               int group,
                                               int barrier,
                                               int q_stage,
                                               const float (&o)[Sizes::D / 2],
                                               const RowSums& rows) {
    using namespace wb::ptx;
    using T = typename Sizes::T;
    constexpr int kPanelBytes = Sizes::BM * kSwizzleBytes;
    float inverse[2];
    store_sums(problem, work, group, rows, inverse);

    unsigned char* const tile = shared.q[q_stage] + group * kGroupRows * kSwizzleBytes;
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    const uint32_t row = threadIdx.x / wb::kWarpSize % 4 * 16 + lane % 16;
    named_barrier_sync(barrier, kWarpgroup);  // all four warps are done with q
#pragma unroll
    for (int i = 0; i < Sizes::D / 16; ++i) {
        // Four matrices: rows 0 to 7 and 8 to 15 of 8 columns, and of the next 8.
        uint32_t x[4];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            const float factor = inverse[m % 2];
            x[m] = pack<T>(o[8 * i + 2 * m] * factor, o[8 * i + 2 * m + 1] * factor);
        }
        const uint32_t byte = i % 4 * 32 + lane / 16 * 16;
        stmatrix(tile + i / 4 * kPanelBytes + swizzle_128b(row, byte), x);
    }
    async_proxy_fence();                      // what threads wrote, the TMA unit reads
    named_barrier_sync(barrier, kWarpgroup);  // and of all four warps
    if (threadIdx.x % kWarpgroup != 0) return;
    const int first = work.row + group * kGroupRows;
    if (first < work.queries) {
#pragma unroll
        for (int panel = 0; panel < Sizes::kPanels; ++panel) {
            tma_store(&problem.o_map,
                      tile + panel * kPanelBytes,
                      panel * Sizes::kPanel,
                      first,
                      work.head,
                      work.sequence);
        }
        tma_store_commit();
        tma_store_wait_read<0>();
    }
    mbarrier_arrive(&shared.q_empty[q_stage]);
}
// #endregion tma-store

// #region v5-consumer
/// The loop of v2, unchanged; the TMA unit stores o where it can. Of a piece of a tile,
/// the warp that is the last one stores.
struct PersistentConsumer {
    template <class Sizes, Source kSource>
    static __device__ __forceinline__ void tile(
        SharedTiles<Sizes>& shared,
        const Problem& problem,
        const TileWork& work,
        int group,
        PipelineState<Sizes::kStages>& stage,
        PipelineState<Sizes::kQueryStages> q_stage,
        const LastRound& round) {
        using namespace wb::ptx;
        float s[Sizes::BN / 2];
        uint32_t p[Sizes::BN / 16][4];
        float o[Sizes::D / 2];
        float factor[2];
        RowSums rows;
        const Limits limits = limits_of(problem, work, group);
        const unsigned char* const q =
            shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
        clear_values_behind<Sizes, kSource>(shared, work, stage);
        int blocks = skip_unseen_blocks<Sizes>(shared, problem, work, group, stage);
        if constexpr (kCuts<Sizes, kSource>) blocks = min(blocks, work.blocks);
        mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
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
        if constexpr (kCuts<Sizes, kSource>) {
            if (work.cut < 0) {
                store_rows_tma<Sizes>(shared,
                                      problem,
                                      work,
                                      group,
                                      kGroupBarrier + group,
                                      q_stage.stage,
                                      o,
                                      rows);
                return;
            }
        }
        release_together(&shared.q_empty[q_stage.stage], group);
        if constexpr (kCuts<Sizes, kSource>) {
            if (work.row + group * kGroupRows >= work.queries) return;
            if (!merge_pieces<Sizes>(round, work, o, rows)) return;
        }
        store_rows<Sizes>(problem, work, group, o, rows);
    }
};
// #endregion v5-consumer

// #region v5-kernel
/// hopper_attention_v5: a consumer, for tile after tile. While one warpgroup stores
/// its rows, the others are still at work, and the producer fetches the next tile.
///
/// @param round  which tiles are cut into pieces, if the consumer can do that
///
/// Launch   grid one block a multiprocessor, or fewer; block Sizes::kThreads, dynamic
///          shared memory kSharedBytes<Sizes>
template <class Consumer, class Sizes, Source kSource>
__global__ void __launch_bounds__(Sizes::kThreads, 1)
    hopper_attention_v5_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem,
                               const __grid_constant__ LastRound round) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<Sizes>& shared = shared_tiles<Sizes>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<Sizes, kSource> schedule{shared, problem, {}};
    PipelineState<Sizes::kStages> stage;
    PipelineState<Sizes::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Sizes::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        const auto take = [&] {
            if constexpr (kCuts<Sizes, kSource>) {
                return schedule.take([&](int number) {
                    return work_of_number<Sizes, kSource>(problem, round, number);
                });
            } else {
                return schedule.take();
            }
        };
        for (TileWork work = take(); work.blocks > 0; work = take()) {
            produce_tile<Sizes, kSource>({shared, maps, problem}, work, stage, q_stage);
        }
    } else {
        wb::ptx::registers_take<Sizes::kConsumerRegisters>();
        while (true) {
            const TileWork& work = schedule.receive();
            if (work.blocks == 0) return;
            if constexpr (std::is_same_v<Consumer, PersistentConsumer>) {
                Consumer::template tile<Sizes, kSource>(
                    shared, problem, work, group, stage, q_stage, round);
            } else {
                Consumer::template tile<Sizes, kSource>(
                    shared, problem, work, group, stage, q_stage);
            }
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion v5-kernel

// #region v5-launch
/// The tiles that were fastest on an H100. Three warpgroups, for D = 64 even four:
/// while some wait for products or compute a softmax, another one has the tensor cores.
/// Each thread then has 160 or 112 registers, 32 or 24 in the producer: too few for
/// D = 256, and to look up pages. The TMA unit stores o where there are two tiles of q:
/// with one, the next q would have to wait for it.
template <int D, Source kSource>
constexpr Tiling tiling_v5() {
    if (D == 64 && kSource != Source::paged) {
        return {.head_dim = 64,
                .block_rows = 256,
                .block_keys = 96,
                .stages = 3,
                .query_stages = 2,
                .tma_store = true};
    }
    if (D == 128 && kSource != Source::paged) {
        return {.head_dim = 128,
                .block_rows = 192,
                .block_keys = 128,
                .stages = 2,
                .query_stages = 2,
                .tma_store = true};
    }
    return {.head_dim = D,
            .block_rows = 128,
            .block_keys = 128,
            .stages = D == 64 ? 4 : 2,
            .query_stages = 2};
}

/// One block a multiprocessor. A counter hands out tiles, unless all of them take the
/// same time: then it does not matter which block takes which. After it come the
/// counters of the last round.
template <class Consumer, class Sizes, Source kSource>
void launch_persistent(const Call& call) {
    Call with_pieces = call;
    const auto launch = [&](unsigned* counter, const LastRound& round) {
        launch_tiles<Sizes>(hopper_attention_v5_kernel<Consumer, Sizes, kSource>,
                            Sizes::kThreads,
                            static_cast<unsigned>(wb::multiprocessors()),
                            with_pieces,
                            counter,
                            round);
    };
    LastRound round;
    if constexpr (kCuts<Sizes, kSource>) round = plan_last_round<Sizes>(call);
    const bool all_the_same = kSource == Source::dense && !call.problem.causal &&
                              call.problem.queries % Sizes::BM == 0 &&
                              round.pieces == 1;
    if (all_the_same) return launch(nullptr, round);
    const int64_t counters = 1 + round.tiles * kConsumerWarps<Sizes>;
    const wb::Scratch<unsigned> counter(counters, call.stream);
    const auto bytes = static_cast<size_t>(counters) * sizeof(unsigned);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, bytes, call.stream));
    if (round.pieces == 1) return launch(counter.data(), round);
    const wb::Scratch<float4> parts(round.tiles * round.pieces * kPartVectors<Sizes>,
                                    call.stream);
    round.parts = parts.data();
    round.arrived = counter.data() + 1;
    with_pieces.problem.tiles = round.tiles * (round.pieces - 1);
    launch(counter.data(), round);
}

/// With D = 256, two warpgroups in the loop of v4: a block's products take almost three
/// times as long as its softmax.
template <class T, Source kSource>
void hopper_attention_v5(const Call& call) {
    with_head_dim<kSource>(call, [&](auto head_dim) {
        constexpr int D = head_dim();
        if constexpr (D == 256) {
            launch_persistent<OverlapConsumer, OverlapSizes<T, D>, kSource>(call);
        } else {
            using Sizes = TileSizes<T, tiling_v5<D, kSource>()>;
            launch_persistent<PersistentConsumer, Sizes, kSource>(call);
        }
    });
}
// #endregion v5-launch
