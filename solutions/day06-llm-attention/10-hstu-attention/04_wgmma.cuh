// 04_wgmma.cuh: v4: the forward pass in the skeleton of chapter 08: one warp has the
// TMA unit copy tiles; three warpgroups own 64 rows each (with D = 256 two), multiply
// with wgmma, and make weights of scores in registers.
#pragma once

#include <wb/attention_rows.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/rcp.h>
#include <wb/ptx/wgmma_fragment.h>
#include <wb/scratch.h>

#include <algorithm>
#include <climits>
#include <cstdint>

#include "../08-hopper-attention/schedule.h"
#include "../08-hopper-attention/tiles.h"
#include "../08-hopper-attention/warpgroups.h"
#include "hstu_attention.h"
#include "pieces.cuh"

// #region v4-work
/// The same for every block of a launch: what chapter 08's skeleton asks for, and what
/// only HSTU has. `row_tiles` is 0 where tiles are numbered as find_tile() does.
struct HstuTiles : Problem {
    HstuMasks mask;
    float alpha;
    float factor;  ///< 1 / N
};

/// What some rows see, by blocks of keys, from the last block to the first: first those
/// that only candidates need, each for itself, then those of the span. What lies
/// between the two is left out.
struct KeyBlocks {
    int top;       ///< the last block
    int own;       ///< how many, from it on, are for candidates only
    int span_top;  ///< the last block of the span
    int count;     ///< of all

    __device__ __forceinline__ int operator[](int i) const {
        return i < own ? top - i : span_top + own - i;
    }
    /// Where a block of these stands.
    __device__ __forceinline__ int place_of(int block) const {
        return block > span_top ? top - block : span_top + own - block;
    }
};

/// Of the rows `first` to `last` of a sequence. With every mask but a list of
/// intervals, a row's span begins no earlier and ends no earlier than that of the row
/// before it, and all candidates are the last rows: so two rows say what all of them
/// see.
///
/// @param upper, lower  the masks of these two rows
template <int BN>
__device__ __forceinline__ KeyBlocks
blocks_of(const RowMask& upper, const RowMask& lower, int first, int last) {
    const int begin = upper.begin / BN;
    const int end = (lower.end + BN - 1) / BN;
    // Rows before the first candidate see themselves, so that the span ends behind
    // them.
    const int own = lower.own < 0 ? 0 : max(0, last / BN + 1 - max(end, first / BN));
    const int top = own > 0 ? last / BN : end - 1;
    return {top, own, end - 1, own + end - begin};
}

/// The sequence and the rows of a tile, as pieces.cuh has them.
__device__ __forceinline__ RowTile rows_of(const TileWork& work) {
    return {work.sequence, work.query_start, work.queries, work.row};
}

/// The blocks that some row of a tile needs.
template <class Sizes>
__device__ __forceinline__ KeyBlocks blocks_of_tile(const HstuTiles& problem,
                                                    const TileWork& work) {
    const int last = min(work.row + Sizes::BM, work.queries) - 1;
    const RowTile rows = rows_of(work);
    return blocks_of<Sizes::BN>(row_mask(problem.mask, rows, work.row),
                                row_mask(problem.mask, rows, last),
                                work.row,
                                last);
}

/// What to do for tile number `number`: Schedule calls this for our problem.
///
/// Where all sequences are about as long as the longest, the longest tiles come first,
/// as in chapter 08. Else that numbering would have too many tiles without rows, and
/// tiles have the order of find_tile(), backwards.
template <class Sizes, Source kSource>
__device__ __forceinline__ TileWork work_of(const HstuTiles& problem, int number) {
    TileWork work = {};
    RowTile tile;
    if (problem.row_tiles > 0) {
        const TileNumber at = tile_number(problem, number);
        tile.sequence = at.head / problem.query_heads;
        tile.first = at.tile * Sizes::BM;
        tile.begin = problem.query_starts[tile.sequence];
        tile.length = problem.query_starts[tile.sequence + 1] - tile.begin;
        work.head = at.head - tile.sequence * problem.query_heads;
    } else {
        const int count = problem.tiles / problem.query_heads;
        work.head = number / count;
        const int from_last = number - work.head * count;
        tile = find_tile<Sizes::BM>(
            problem.query_starts, problem.sequences, count - 1 - from_last);
    }
    work.sequence = tile.sequence;
    work.kv_head = work.head;
    work.row = tile.first;
    work.queries = work.keys = tile.length;
    work.query_start = work.key_start = tile.begin;
    if (work.row < work.queries)
        work.blocks = blocks_of_tile<Sizes>(problem, work).top + 1;
    return work;
}
// #endregion v4-work

// #region v4-weights
/// Scores that a row does not see become 0, and so do their weights: silu(0) is 0.
///
/// @param masks  of the thread's two rows
template <int kCount>
__device__ __forceinline__ void mask_scores(float (&r_s)[kCount],
                                            int first_key,
                                            const RowMask (&masks)[2]) {
    const int column = first_key + 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        const RowMask& mask = masks[i / 2 % 2];
        const int key = column + i / 4 * 8 + i % 2;
        // One comparison without a sign for both ends of the span.
        const bool in_span = static_cast<unsigned>(key - mask.begin) <
                             static_cast<unsigned>(mask.end - mask.begin);
        if (!in_span && key != mask.own) r_s[i] = 0.0f;
    }
}

/// Products of q and k become weights, rounded, as the left operand of the next
/// product.
///
///     silu(s) = s / d(s),  d(s) = 1 + 2^(-s log2 e)
///     1 / d(a) = d(b) r,   1 / d(b) = d(a) r,   r = 1 / (d(a) d(b))
///
/// Two weights share one reciprocal: three instructions of the special unit in place of
/// four. Their product must not be infinite: 2^60 is enough, for a score below -41 has
/// a weight of |s| 2^-60 then, which is far less than what its own rounding may change.
///
/// @param r_s  the numbers `first` to first + 8 kSteps - 1 of it are 16 keys a step
template <class T, int kSteps, int kCount>
__device__ __forceinline__ void weigh_keys(uint32_t (&p)[kSteps][4],
                                           const float (&r_s)[kCount],
                                           int first,
                                           float alpha) {
    constexpr float kMost = 60.0f;
    constexpr float kLog2e = 1.44269504f;
    const auto divisor = [](float s) {
        return 1.0f + wb::ptx::exp2_approx(fminf(-kLog2e * s, kMost));
    };
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
        const float a = alpha * r_s[first + 2 * i];
        const float b = alpha * r_s[first + 2 * i + 1];
        const float of_a = divisor(a);
        const float of_b = divisor(b);
        const float r = wb::ptx::rcp_approx(of_a * of_b);
        p[i / 4][i % 4] = wb::ptx::pack<T>(a * (of_b * r), b * (of_a * r));
    }
}
// #endregion v4-weights

// #region v4-consumer
/// The work of a warpgroup for one tile: 64 rows, against the blocks that they see.
///
/// Weights of the second half of a block are computed while those of the first half are
/// multiplied: no maximum has to be known before, and o is never rescaled.
template <class Sizes>
__device__ __forceinline__ void consume_tile(
    SharedTiles<Sizes>& shared,
    const HstuTiles& problem,
    const TileWork& work,
    int group,
    PipelineState<Sizes::kStages>& stage,
    PipelineState<Sizes::kQueryStages> q_stage) {
    using namespace wb::ptx;
    using T = typename Sizes::T;
    constexpr int BN = Sizes::BN;
    constexpr int kSteps = BN / 16;    // of a block, 16 keys each
    constexpr int kHalf = kSteps / 2;  // of its first half
    constexpr int kHalfBytes = kHalf * 16 * kSwizzleBytes;
    // Rows behind the last one see what that one sees; nobody stores them.
    const RowTile rows = rows_of(work);
    const int end = work.queries - 1;
    const int first = min(work.row + group * kGroupRows, end);
    const int last = min(work.row + (group + 1) * kGroupRows - 1, end);
    const int row = work.row + group * kGroupRows +
                    static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                    static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
    const RowMask masks[2] = {row_mask(problem.mask, rows, min(row, end)),
                              row_mask(problem.mask, rows, min(row + 8, end))};
    const RowMask upper = row_mask(problem.mask, rows, first);
    const RowMask lower = row_mask(problem.mask, rows, last);
    // All rows of the warpgroup see the blocks from here on as a whole, up to there.
    const int full_begin = (lower.begin + BN - 1) / BN;
    const int full_end = upper.end / BN;
    // Of the tile's blocks, those from place `from` to `to` - 1 are this warpgroup's.
    const KeyBlocks blocks = blocks_of_tile<Sizes>(problem, work);
    const KeyBlocks needed = blocks_of<BN>(upper, lower, first, last);
    const bool has_rows = work.row + group * kGroupRows < work.queries;
    const int from = has_rows ? blocks.place_of(needed.top) : blocks.count;
    const int to =
        has_rows ? blocks.place_of(needed[needed.count - 1]) + 1 : blocks.count;
    const unsigned char* const q =
        shared.q[q_stage.stage] + group * kGroupRows * kSwizzleBytes;
    float r_s[BN / 2];
    float r_o[Sizes::D / 2];
    uint32_t p_first[kHalf][4];
    uint32_t p_second[kSteps - kHalf][4];

    for (int i = 0; i < from; ++i)
        pass_block(shared, group, stage);
    mbarrier_wait(&shared.q_full[q_stage.stage], q_stage.parity);
    for (int i = from; i < to; ++i) {
        const int block = blocks[i];
        mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
        wgmma_fence();
        start_scores<Sizes>(r_s, q, shared.k[stage.stage]);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(r_s);
        release(&shared.k_empty[stage.stage]);

        if (block < full_begin || block >= full_end)
            mask_scores(r_s, block * BN, masks);
        const unsigned char* const v = shared.v[stage.stage];
        weigh_keys<T>(p_first, r_s, 0, problem.alpha);
        mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
        wgmma_fence();
        start_output<Sizes>(r_o, p_first, v, i > from);
        wgmma_commit();
        weigh_keys<T>(p_second, r_s, 8 * kHalf, problem.alpha);
        wgmma_fence();
        start_output<Sizes>(r_o, p_second, v + kHalfBytes, true);
        wgmma_commit();
        wgmma_wait<0>();
        wgmma_keep(r_o);
        release(&shared.v_empty[stage.stage]);
        stage.advance();
    }
    for (int i = to; i < blocks.count; ++i)
        pass_block(shared, group, stage);
    release_together(&shared.q_empty[q_stage.stage], group);
    const float factor[2] = {problem.factor, problem.factor};
    store_scaled_rows<Sizes>(problem, work, group, r_o, factor);
}
// #endregion v4-consumer

// #region v4-kernel
/// hstu_attention_v4: o = silu(alpha q k^T) v / N, where a row sees a key. A block
/// stays on its multiprocessor and takes tile after tile: 192 rows of one head of one
/// sequence, or 128 with D = 256.
///
///     q, k, v, o   [total, heads, D]; a copy brings BM or BN rows of one head. Behind
///                  the last row of a sequence it brings those of the next one: they
///                  have a score of 0, and their rows of o are not stored. Behind the
///                  last row of all, the TMA unit brings zeros
///     k, v         128 keys a block, 80 with D = 256; two stages of each, with D = 64
///                  four
///     q            two stages: the next tile's is there when this one ends; with D =
///                  256 there is room for one
///
/// Blocks of keys that no row of a tile sees are not copied. A warpgroup lets those
/// pass that its own 64 rows do not see, and looks at the mask only where one of them
/// does not see all of a block.
///
/// Launch   grid one block a multiprocessor, or fewer; block Sizes::kThreads, dynamic
///          shared memory kSharedBytes<Sizes>; sm_90a
/// Traffic  reads q and writes o once, 4 D B a row and head; reads k and v, 4 D B a
///          key, once for each tile of rows that sees it, mostly from the L2 cache
/// Work     4 D FLOP and 1.5 special instructions a pair, of whole blocks
/// Error    as the contract: a weight in float is exact to 12 + 4 |s| roundings, and
///          then rounded to T
/// Source   chapter 08, v5; silu and masks: HSTU, arXiv:2402.17152
template <class Sizes>
__global__ void __launch_bounds__(Sizes::kThreads, 1)
    hstu_attention_v4_kernel(const __grid_constant__ TensorMaps maps,
                             const __grid_constant__ HstuTiles problem) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<Sizes>& shared = shared_tiles<Sizes>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    Schedule<Sizes, Source::packed, HstuTiles> schedule{shared, problem, {}};
    PipelineState<Sizes::kStages> stage;
    PipelineState<Sizes::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Sizes::kProducerRegisters>();
        if (threadIdx.x >= wb::kWarpSize) return;
        const Copies<Sizes, Source::packed> copy{shared, maps, problem};
        for (TileWork work = schedule.take(); work.blocks > 0; work = schedule.take()) {
            const KeyBlocks blocks = blocks_of_tile<Sizes>(problem, work);
            copy.queries(work, q_stage);
            q_stage.advance();
            for (int i = 0; i < blocks.count; ++i) {
                copy.keys(work, blocks[i], stage);
                copy.values(work, blocks[i], stage);
                stage.advance();
            }
        }
    } else {
        wb::ptx::registers_take<Sizes::kConsumerRegisters>();
        while (true) {
            const TileWork& work = schedule.receive();
            if (work.blocks == 0) return;
            consume_tile<Sizes>(shared, problem, work, group, stage, q_stage);
            schedule.finish();
            q_stage.advance();
        }
    }
}
// #endregion v4-kernel

// #region v4-launch
/// Three warpgroups, as in chapter 08's v5: while some wait for products or compute
/// weights, another one has the tensor cores. With D = 256 a thread's part of o takes
/// 128 registers: there is room for two warpgroups, one tile of q, and 80 keys a block,
/// as in that chapter.
template <class T, int D>
struct HstuSizes : TileSizes<T,
                             Tiling{.head_dim = D,
                                    .block_rows = D == 256 ? 128 : 192,
                                    .block_keys = D == 256 ? 80 : 128,
                                    .stages = D == 64 ? 4 : 2,
                                    .query_stages = D == 256 ? 1 : 2}> {
    /// The warp that has tiles copied looks for sequences and masks, too: with chapter
    /// 08's 24 registers some of that would be spilled.
    static constexpr int kProducerRegisters = D == 256 ? 40 : 32;
    static constexpr int kConsumerRegisters = D == 256 ? 232 : 160;
};

/// Fills in how the call is cut into tiles. Returns how many there are.
template <class Sizes, class T>
int64_t count_tiles(HstuTiles& problem, const HstuCall<T>& call) {
    int64_t longest = 0;
    for (int64_t b = 0; b < call.batch; ++b)
        longest = std::max<int64_t>(
            longest, call.cu_seqlens.host[b + 1] - call.cu_seqlens.host[b]);
    const int64_t as_found = tile_count<Sizes::BM>(call.total, call.batch);
    const int64_t row_tiles = wb::ceil_div(longest, int64_t{Sizes::BM});
    const bool longest_first = call.batch * row_tiles <= 2 * as_found;
    problem.row_tiles = longest_first ? static_cast<int>(row_tiles) : 0;
    // Heads whose keys and values are 32 MB together, as chapter 08 explains: more
    // than there, for eight heads of long sequences would else be four rounds of tiles,
    // each of which waits for its longest.
    constexpr int64_t kBytes = 32 << 20;
    const int64_t of_one =
        std::max<int64_t>(1, call.total / call.batch) * call.head_dim * 4;
    problem.section = static_cast<int>(
        std::clamp<int64_t>(kBytes / of_one, 1, call.batch * call.heads));
    return call.heads * (longest_first ? call.batch * row_tiles : as_found);
}

/// Whether v4 has a kernel for a call: for sm_90a, D of 64 or more, no bias, and every
/// mask but lists of intervals, whose rows do not see a span.
template <class T>
bool has_wgmma_kernel(const HstuCall<T>& call) {
    return wb::compute_capability() == 90 && call.head_dim >= 64 &&
           call.mask.kind != HstuMask::arbitrary && call.bias.positions == nullptr &&
           call.bias.times == nullptr;
}

/// All of a problem but what belongs to one pass.
template <class Sizes, class T>
void fill_problem(HstuTiles& problem, const HstuCall<T>& call, int64_t tiles) {
    problem.tiles = static_cast<int>(tiles);
    problem.sequences = static_cast<int>(call.batch);
    problem.query_heads = static_cast<int>(call.heads);
    problem.copy_rows = Sizes::BN;
    problem.causal = true;  // tiles of one head do not take the same time
    problem.query_starts = call.cu_seqlens.device;
    problem.o_row = call.heads * Sizes::D;
    problem.o_head = Sizes::D;
    problem.mask = call.mask;
    problem.alpha = call.alpha;
    problem.factor = 1.0f / static_cast<float>(call.scaling_length);
}

/// An array of the call as the TMA unit sees it.
template <class T>
wb::AttentionRows rows_of_call(const HstuCall<T>& call, const T* base) {
    const int64_t token = call.heads * call.head_dim;
    return {
        base, call.head_dim, call.total, call.heads, 1, token, call.head_dim, token};
}

/// A call that v4 has a kernel for. Returns false, and does nothing, if there are more
/// tiles than an int counts.
template <int D, class T>
bool launch_hstu_attention_v4(const HstuCall<T>& call, cudaStream_t stream) {
    using Sizes = HstuSizes<T, D>;
    HstuTiles problem = {};
    const int64_t tiles = count_tiles<Sizes>(problem, call);
    if (tiles > INT_MAX) return false;
    fill_problem<Sizes>(problem, call, tiles);
    problem.o = call.o;
    const auto map = [&](const char* name, const T* base, int box_rows) {
        return wb::tensor_map<T>(name, rows_of_call(call, base), box_rows);
    };
    const TensorMaps maps = {map("q", call.q, Sizes::BM),
                             map("k", call.k, Sizes::BN),
                             map("v", call.v, Sizes::BN)};
    const wb::Scratch<unsigned> counter(1, stream);
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
    problem.counter = counter.data();
    wb::launch_kernel(
        hstu_attention_v4_kernel<Sizes>,
        static_cast<unsigned>(std::min<int64_t>(tiles, wb::multiprocessors())),
        Sizes::kThreads,
        kSharedBytes<Sizes>,
        stream,
        maps,
        problem);
    return true;
}

/// v4, and v3 for what it leaves.
template <class T>
requires(sizeof(T) == 2) static void hstu_attention_v4(const HstuCall<T>& call,
                                                       cudaStream_t stream) {
    bool is_done = false;
    if (has_wgmma_kernel(call))
        wb::with_head_dim<64, 128, 256>(call.head_dim, [&](auto head_dim) {
            is_done = launch_hstu_attention_v4<head_dim()>(call, stream);
        });
    if (!is_done) hstu_attention_v3(call, stream);
}
// #endregion v4-launch
