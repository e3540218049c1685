// 07_block_lists.cuh: v7: the loop of v4 in the kernel of v5, over a list of blocks in
// place of 0 ... n. Which blocks are copied, and which pairs of them count, is all that
// is new. What limits it: as v4, and tiles that are soon over.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/scratch.h>
#include <wb/sparse_pattern.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "04_overlap.cuh"
#include "05_persistent.cuh"
#include "tiles.h"
#include "warpgroups.h"

/// What the kernel is given besides maps and problem.
struct Lists {
    wb::BlockPattern pattern;
    wb::PatternStatus* status;
};

/// Keys of a block of the pattern, and how many of its blocks make one step, a block of
/// the loop: they need not be neighbours.
inline constexpr int kListKeys = wb::BlockPattern::kKeys;
inline constexpr int kListBlocks = 2;

// #region step
/// One step, as the consumers need it. The producer leaves it in shared memory, before
/// it announces the keys.
struct ListStep {
    int keys[kListBlocks];  ///< of each block that exist; 0: there is no such block
    int64_t masks[kListBlocks];  ///< the place of a block's first word in the masks, or
                                 ///< kFull
    static constexpr int64_t kFull = -1;
};

/// A block of a list, as the producer finds it.
struct ListedBlock {
    int first_key;  ///< the number of all keys: there is no such block
    int64_t masks;  ///< as in ListStep
};
// #endregion step

// #region walk
/// What one row of blocks lists: its full blocks, then its partial ones.
struct ListedRow {
    wb::PlaceRange full = {0, 0};
    wb::PlaceRange partial = {0, 0};

    ListedRow() = default;
    __device__ __forceinline__ ListedRow(const Lists& lists, int block_row) {
        const wb::BlockPattern& pattern = lists.pattern;
        full = wb::row_places(
            pattern.full.offsets, block_row, pattern.full.num_blocks, lists.status);
        partial = wb::row_places(pattern.partial.offsets,
                                 block_row,
                                 pattern.partial.num_blocks,
                                 lists.status);
    }

    /// Steps to go through. A row of blocks that lists nothing has one, in which no
    /// pair counts: no special case.
    __device__ __forceinline__ int steps() const {
        const int64_t blocks = full.end - full.begin + partial.end - partial.begin;
        return max(1, static_cast<int>((blocks + kListBlocks - 1) / kListBlocks));
    }

    /// Block number `number` of both lists. A wrong index is noted, and no block.
    __device__ __forceinline__ ListedBlock block(const Lists& lists,
                                                 int block_row,
                                                 int keys,
                                                 int64_t number) const {
        const wb::BlockPattern& pattern = lists.pattern;
        const int64_t rest = number - (full.end - full.begin);
        const bool is_full = rest < 0;
        const int64_t place = is_full ? full.begin + number : partial.begin + rest;
        if (!is_full && place >= partial.end) return {keys, ListStep::kFull};
        const int32_t found =
            is_full ? pattern.full.blocks[place] : pattern.partial.blocks[place];
        const int limit = wb::BlockPattern::key_blocks(keys);
        if (!wb::check_index(found, limit, block_row, place, lists.status))
            return {keys, ListStep::kFull};
        return {found * kListKeys,
                is_full ? ListStep::kFull : place * wb::BlockPattern::kRows};
    }
};
// #endregion walk

// #region mask
/// Which pairs of a step count: a bit for each key, and a word for each block and each
/// of a thread's two rows.
struct SeenInList {
    const ListStep* steps;    ///< [stages] shared memory
    wb::ptx::Mbarrier* seen;  ///< [stages] all threads have read the step
    const uint64_t* masks;    ///< [blocks, kRows] the pattern's
    int row;                  ///< of the row of blocks: the upper one of the two
    ListStep step = {};
    uint64_t words[kListBlocks][2] = {};  ///< of partial blocks

    /// The words come from far away: they are asked for before the products, and used
    /// behind them. The step is read here, too: from then on the producer may overwrite
    /// it.
    __device__ __forceinline__ void look(int stage) {
        step = steps[stage];
        wb::ptx::mbarrier_arrive(&seen[stage]);
#pragma unroll
        for (int i = 0; i < kListBlocks; ++i) {
            if (step.masks[i] == ListStep::kFull) continue;
            words[i][0] = masks[step.masks[i] + row];
            words[i][1] = masks[step.masks[i] + row + 8];
        }
    }

    template <int kCount>
    __device__ __forceinline__ void mask(float (&s)[kCount], int /*block*/) const {
        static_assert(2 * kCount == kListBlocks * kListKeys);
#pragma unroll
        for (int i = 0; i < kListBlocks; ++i) {
            const bool is_partial = step.masks[i] != ListStep::kFull;
            if (!is_partial && step.keys[i] == kListKeys) continue;  // all pairs count
            const uint64_t exist = step.keys[i] == kListKeys
                                       ? ~uint64_t{0}
                                       : (uint64_t{1} << step.keys[i]) - 1;
            uint64_t bits[2];
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                bits[r] = exist & (is_partial ? words[i][r] : ~uint64_t{0});
                bits[r] >>= 2 * (threadIdx.x % 4);  // the first of the thread's columns
            }
            constexpr int kElements = kCount / kListBlocks;
#pragma unroll
            for (int e = 0; e < kElements; ++e) {
                const int column = e / 4 * 8 + e % 2;  // wb/ptx/wgmma_fragment.h
                if ((bits[e / 2 % 2] >> column & 1) == 0)
                    s[i * kElements + e] = -INFINITY;
            }
        }
    }
};
// #endregion mask

// #region producer
/// The warp that produces. What a tile lists is four trips to memory away: the tile's
/// number, its row of blocks, the offsets, the blocks. So they are made for the next
/// tile as soon as the stages are full of this one.
template <class Sizes>
struct ListProducer {
    const Copies<Sizes, Source::dense> copy;
    const Lists& lists;
    ListStep* steps;          ///< [kStages] shared memory
    wb::ptx::Mbarrier* seen;  ///< [kStages] all consumers have read the step
    PipelineState<Sizes::kStages> stage = {};
    PipelineState<Sizes::kQueryStages> q_stage = {};
    ListedRow row = {};           ///< of the tile that was looked up last
    ListedBlock last_steps = {};  ///< of the same, see window()

    /// Tile number `tile`: the rows of blocks with the most work first. No blocks, if
    /// `order` names no row of blocks.
    __device__ __forceinline__ TileWork look_up(int tile) {
        const Problem& problem = copy.problem;
        const TileNumber number = longest_first(problem, tile);
        const int place = problem.row_tiles - 1 - number.tile;
        const int block_row = lists.pattern.order[place];
        TileWork work;
        work.blocks = 0;
        if (block_row < 0 || block_row >= problem.row_tiles) {
            report_fault(
                lists.status, wb::PatternFault::order, place, place, block_row);
            return work;
        }
        work.sequence = number.head / problem.query_heads;
        work.head = number.head - work.sequence * problem.query_heads;
        work.kv_head = work.head / problem.group;
        work.row = block_row * Sizes::BM;
        work.queries = problem.queries;
        work.keys = problem.keys;
        work.query_start = 0;
        work.key_start = 0;
        row = ListedRow(lists, block_row);
        work.blocks = row.steps();
        last_steps = window(work, row, work.blocks - 1);
        return work;
    }

    /// All tiles, until there are none left.
    __device__ __forceinline__ void all_tiles(
        Schedule<Sizes, Source::dense>& schedule) {
        const auto take = [&] {
            return schedule.take([&](int tile) { return look_up(tile); });
        };
        TileWork next = take();
        while (next.blocks > 0) {
            const TileWork work = next;
            const ListedRow listed = row;
            ListedBlock blocks = last_steps;
            copy.queries(work, q_stage);
            q_stage.advance();
            const int ahead = max(0, work.blocks - Sizes::kStages);
            for (int step = work.blocks - 1; step >= 0; --step) {
                if (step % kWindow == kWindow - 1 && step < work.blocks - 1)
                    blocks = window(work, listed, step);
                copy_step(work, blocks, step % kWindow * kListBlocks);
                if (step == ahead) next = take();
            }
        }
    }

 private:
    static constexpr int kWindow = wb::kWarpSize / kListBlocks;  ///< steps

    /// Looks up the blocks of kWindow steps, `step` among them, at once: a lane each.
    __device__ __forceinline__ ListedBlock window(const TileWork& work,
                                                  const ListedRow& listed,
                                                  int step) const {
        const int first = step / kWindow * wb::kWarpSize;
        return listed.block(lists,
                            work.row / wb::BlockPattern::kRows,
                            work.keys,
                            first + static_cast<int>(threadIdx.x));
    }

    /// Keys and values of one step, whose blocks are in the lanes from `lane` on.
    __device__ __forceinline__ void copy_step(const TileWork& work,
                                              const ListedBlock& blocks,
                                              int lane) {
        int first_key[kListBlocks];
        ListStep step;
#pragma unroll
        for (int i = 0; i < kListBlocks; ++i) {
            first_key[i] = __shfl_sync(wb::kAllLanes, blocks.first_key, lane + i);
            step.masks[i] = __shfl_sync(wb::kAllLanes, blocks.masks, lane + i);
            step.keys[i] = min(kListKeys, work.keys - first_key[i]);
        }
        SharedTiles<Sizes>& shared = copy.shared;
        wb::ptx::mbarrier_wait(&shared.k_empty[stage.stage], stage.parity ^ 1);
        if (threadIdx.x == 0) {
            wb::ptx::mbarrier_wait(&seen[stage.stage], stage.parity ^ 1);
            steps[stage.stage] = step;
        }
        __syncwarp();
        rows(shared.k[stage.stage],
             copy.maps.k,
             &shared.k_full[stage.stage],
             work,
             first_key);
        wb::ptx::mbarrier_wait(&shared.v_empty[stage.stage], stage.parity ^ 1);
        rows(shared.v[stage.stage],
             copy.maps.v,
             &shared.v_full[stage.stage],
             work,
             first_key);
        stage.advance();
    }

    /// The rows of one tensor, a lane for each panel of each block. Those of a block
    /// that is not there lie past the last key: the TMA unit writes zeros.
    __device__ __forceinline__ void rows(unsigned char* tile,
                                         const wb::ptx::TensorMap& map,
                                         wb::ptx::Mbarrier* full,
                                         const TileWork& work,
                                         const int (&first_key)[kListBlocks]) const {
        const int lane = static_cast<int>(threadIdx.x);
        if (lane == 0) wb::ptx::mbarrier_expect(full, Sizes::kKeyBytes);
        __syncwarp();
        if (lane >= kListBlocks * Sizes::kPanels) return;
        const int panel = lane / kListBlocks;
        const int block = lane % kListBlocks;
        wb::ptx::tma_load(
            tile + (panel * Sizes::BN + block * kListKeys) * wb::ptx::kSwizzleBytes,
            &map,
            full,
            panel * Sizes::kPanel,
            block == 0 ? first_key[0] : first_key[1],
            work.kv_head,
            work.sequence);
    }
};
// #endregion producer

// #region kernel
/// hopper_attention_v7. A tile is a row of blocks.
///
/// Launch   as hopper_attention_v5_kernel
template <class Sizes>
__global__ void __launch_bounds__(Sizes::kThreads, 1)
    hopper_attention_v7_kernel(const __grid_constant__ TensorMaps maps,
                               const __grid_constant__ Problem problem,
                               const __grid_constant__ Lists lists) {
    static_assert(Sizes::BM == wb::BlockPattern::kRows, "a tile is a row of blocks");
    static_assert(Sizes::BN == kListBlocks * kListKeys, "a step is whole blocks");
    extern __shared__ unsigned char s_dynamic[];
    __shared__ ListStep s_steps[Sizes::kStages];
    __shared__ wb::ptx::Mbarrier s_seen[Sizes::kStages];
    SharedTiles<Sizes>& shared = shared_tiles<Sizes>(s_dynamic);
    if (threadIdx.x == 0)
        for (int i = 0; i < Sizes::kStages; ++i)
            wb::ptx::mbarrier_init(&s_seen[i], Sizes::kThreads - wb::ptx::kWarpgroup);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<Sizes, Source::dense> schedule{shared, problem, {}};
    if (group < 0) {
        wb::ptx::registers_give_back<Sizes::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        ListProducer<Sizes> producer{{shared, maps, problem}, lists, s_steps, s_seen};
        producer.all_tiles(schedule);
    } else {
        wb::ptx::registers_take<Sizes::kConsumerRegisters>();
        const int row = group * kGroupRows +
                        static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                        static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
        PipelineState<Sizes::kStages> stage;
        PipelineState<Sizes::kQueryStages> q_stage;
        while (true) {
            const TileWork& work = schedule.receive();
            if (work.blocks == 0) return;
            overlap_blocks<Sizes>(shared,
                                  problem,
                                  work,
                                  group,
                                  SeenInList{s_steps, s_seen, lists.pattern.masks, row},
                                  work.blocks,
                                  stage,
                                  q_stage);
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion kernel

// #region launch
/// Tiles of 128 rows, as the pattern's blocks are, and so two consumers.
template <class T, int D>
using ListSizes = TileSizes<T,
                            Tiling{.head_dim = D,
                                   .block_rows = wb::BlockPattern::kRows,
                                   .block_keys = kListBlocks* kListKeys,
                                   .stages = D == 64 ? 4 : 2,
                                   .query_stages = 2}>;

template <class T>
void hopper_attention_v7(Call call, const Lists& lists) {
    call.problem.copy_rows = kListKeys;
    const wb::Scratch<unsigned> counter(1, call.stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), call.stream));
    wb::with_head_dim<64, 128>(call.q.head_dim, [&](auto head_dim) {
        using Sizes = ListSizes<T, head_dim()>;
        launch_tiles<Sizes>(hopper_attention_v7_kernel<Sizes>,
                            Sizes::kThreads,
                            static_cast<unsigned>(wb::multiprocessors()),
                            call,
                            counter.data(),
                            lists);
    });
}
// #endregion launch
