// warpgroups.h: given with this exercise: what the warps of a block do. One produces,
// that is, has tiles copied; the warpgroups that consume multiply, make weights of
// scores, and store their rows of o.
#pragma once

#include <wb/online_softmax.h>
#include <wb/ptx/fragment_softmax.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pipeline.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>
#include <wb/ptx/wgmma.h>
#include <wb/ptx/wgmma_fragment.h>

#include <cstdint>

#include "tiles.h"

using wb::ptx::PipelineState;
using wb::ptx::RowSums;

/// Starts the copies of one block; all lanes of one warp call its functions together.
template <class Sizes, Source kSource>
struct Copies {
    SharedTiles<Sizes>& shared;
    const TensorMaps& maps;
    const Problem& problem;

    /// The BM rows of q of a tile. Rows past the end are zeros, or, if packed, those
    /// of the next sequence: nobody stores what comes of them.
    __device__ __forceinline__ void queries(
        const TileWork& work, PipelineState<Sizes::kQueryStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.q_empty[ring.stage], ring.parity ^ 1);
        wb::ptx::Mbarrier* const full = &shared.q_full[ring.stage];
        announce(full, Sizes::kQueryBytes);
        const int panel = lane();
        if (panel < Sizes::kPanels) {
            const bool dense = kSource == Source::dense;
            wb::ptx::tma_load(
                shared.q[ring.stage] + panel * Sizes::BM * wb::ptx::kSwizzleBytes,
                &maps.q,
                full,
                panel * Sizes::kPanel,
                work.query_start + work.row,
                work.head,
                dense ? work.sequence : 0);
        }
    }

    /// Block number `block` of the keys.
    __device__ __forceinline__ void keys(const TileWork& work,
                                         int block,
                                         PipelineState<Sizes::kStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.k_empty[ring.stage], ring.parity ^ 1);
        rows(shared.k[ring.stage], maps.k, &shared.k_full[ring.stage], work, block);
    }

    /// Block number `block` of the values.
    __device__ __forceinline__ void values(const TileWork& work,
                                           int block,
                                           PipelineState<Sizes::kStages> ring) const {
        wb::ptx::mbarrier_wait(&shared.v_empty[ring.stage], ring.parity ^ 1);
        rows(shared.v[ring.stage], maps.v, &shared.v_full[ring.stage], work, block);
    }

 private:
    static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x % wb::kWarpSize);
    }

    static __device__ __forceinline__ void announce(wb::ptx::Mbarrier* full,
                                                    int bytes) {
        if (lane() == 0) wb::ptx::mbarrier_expect(full, bytes);
        __syncwarp();
    }

    /// Each lane takes some panels of some pages: with small pages there are many, and
    /// each has to be looked up in the table.
    __device__ __forceinline__ void rows(unsigned char* tile,
                                         const wb::ptx::TensorMap& map,
                                         wb::ptx::Mbarrier* full,
                                         const TileWork& work,
                                         int block) const {
        announce(full, Sizes::kKeyBytes);
        const int pieces = kSource == Source::paged
                               ? Sizes::BN / problem.copy_rows * Sizes::kPanels
                               : Sizes::kPanels;
        for (int piece = lane(); piece < pieces; piece += wb::kWarpSize) {
            const int panel = piece % Sizes::kPanels;
            const int row = piece / Sizes::kPanels * problem.copy_rows;
            const int key = block * Sizes::BN + row;
            int place = work.key_start + key;
            int sequence = kSource == Source::dense ? work.sequence : 0;
            if constexpr (kSource == Source::paged) {
                place = key % static_cast<int>(problem.cache.page_size);
                sequence = page_of(work, key);
            }
            wb::ptx::tma_load(tile + (panel * Sizes::BN + row) * wb::ptx::kSwizzleBytes,
                              &map,
                              full,
                              panel * Sizes::kPanel,
                              place,
                              work.kv_head,
                              sequence);
        }
    }

    /// The page of a key. Where there is none, a page past the last one: of that, the
    /// TMA unit reads zeros.
    __device__ __forceinline__ int page_of(const TileWork& work, int key) const {
        int64_t page = -1;
        if (key < work.keys) {
            page = wb::checked_page(problem.cache,
                                    work.sequence,
                                    key / static_cast<int>(problem.cache.page_size),
                                    problem.status);
        }
        return static_cast<int>(page < 0 ? problem.cache.num_pages : page);
    }
};

// #region produce
/// Everything that one tile needs, in the order in which it is needed; blocks of keys
/// from the last to the first, because the last ones may need a mask. By one warp.
///
/// @param stage    of the first block; goes on to that of the next tile's first block
/// @param q_stage  the same of q
template <class Sizes, Source kSource>
__device__ __forceinline__ void produce_tile(
    const Copies<Sizes, kSource>& copy,
    const TileWork& work,
    PipelineState<Sizes::kStages>& stage,
    PipelineState<Sizes::kQueryStages>& q_stage) {
    copy.queries(work, q_stage);
    q_stage.advance();
    for (int block = work.blocks - 1; block >= 0; --block) {
        copy.keys(work, block, stage);
        copy.values(work, block, stage);
        stage.advance();
    }
}
// #endregion produce

// #region products
/// Starts S = Q K^T: 64 rows of q against a block of keys. By a warpgroup.
///
/// @param s  [BN / 2] overwritten when the wgmmas are done
/// @param q  the first of the 64 rows in the first panel of a tile of q
/// @param k  a block of keys
template <class Sizes>
__device__ __forceinline__ void start_scores(float (&s)[Sizes::BN / 2],
                                             const unsigned char* q,
                                             const unsigned char* k) {
    using namespace wb::ptx;
    const uint64_t q_tile = wgmma_descriptor(shared_address(q));
    const uint64_t k_tile = wgmma_descriptor(shared_address(k));
#pragma unroll
    for (int i = 0; i < 4 * Sizes::kPanels; ++i) {
        // 16 columns are 32 bytes, 4 times within a panel. Descriptors count in 16.
        const int panel = i / 4;
        const int column = i % 4 * 32;
        const uint64_t q_step = (panel * Sizes::BM * kSwizzleBytes + column) / 16;
        const uint64_t k_step = (panel * Sizes::BN * kSwizzleBytes + column) / 16;
        wgmma<typename Sizes::T>(s, q_tile + q_step, k_tile + k_step, i > 0);
    }
}

/// Starts O = P V, or O += P V: 64 rows of weights times a block of values.
///
/// @param o  [D / 2]
/// @param p  weights as pack_operand leaves them; must not change until the wgmmas are
///           done
/// @param v  the first of the values, in the first panel of a block of them
/// @tparam kSteps  16 keys each: the whole block, or a part of it
template <class Sizes, int kSteps>
__device__ __forceinline__ void start_output(float (&o)[Sizes::D / 2],
                                             const uint32_t (&p)[kSteps][4],
                                             const unsigned char* v,
                                             bool accumulate) {
    using namespace wb::ptx;
    const uint64_t v_tile =
        wgmma_descriptor(shared_address(v), Sizes::BN * kSwizzleBytes);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
        const uint64_t v_step = i * 16 * kSwizzleBytes / 16;  // 16 keys further down
        wgmma<typename Sizes::T, true>(o, p[i], v_tile + v_step, i > 0 || accumulate);
    }
}
// #endregion products

/// Barriers for parts of a block; 0 is __syncthreads().
enum NamedBarrier : int {
    kTurnBarrier = 1,       ///< and one more for each further warpgroup (v3, v4)
    kConsumersBarrier = 3,  ///< all consumers
    kGroupBarrier = 4,      ///< and one more for each further warpgroup
};

/// Which 64 rows of the tile are this warpgroup's: 0, 1, ... Block-uniform arithmetic
/// on threadIdx.x is not uniform to the compiler; a shuffle makes it so.
__device__ __forceinline__ int consumer_group() {
    const int warpgroup = static_cast<int>(threadIdx.x) / wb::ptx::kWarpgroup;
    return __shfl_sync(wb::kAllLanes, warpgroup, 0) - 1;
}

/// Says that this warpgroup is done with a tile. One thread speaks for all: wgmma keeps
/// the four warps of a warpgroup in step, so that all of them have seen what it read.
__device__ __forceinline__ void release(wb::ptx::Mbarrier* empty) {
    if (threadIdx.x % wb::ptx::kWarpgroup == 0) wb::ptx::mbarrier_arrive(empty);
}

/// The same where no wgmma has kept the warps in step. Without the barrier, a warp that
/// is late may still wait for the tile when it has been overwritten: a barrier's parity
/// does not tell the round after next from this one, and the warp waits for ever.
__device__ __forceinline__ void release_together(wb::ptx::Mbarrier* empty, int group) {
    wb::ptx::named_barrier_sync(kGroupBarrier + group, wb::ptx::kWarpgroup);
    release(empty);
}

/// What a thread's two rows see.
struct Limits {
    int row[2];     ///< keys below are seen, for each of the two rows
    int warpgroup;  ///< the smallest in the warpgroup: blocks below need no mask
};
__device__ __forceinline__ Limits limits_of(const Problem& problem,
                                            const TileWork& work,
                                            int group) {
    const int first = work.row + group * kGroupRows;
    const int row = first + static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                    static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
    return {{key_limit(problem, work, row), key_limit(problem, work, row + 8)},
            key_limit(problem, work, first)};
}

/// Masks a block of scores where it is needed: at the diagonal and at the last key.
template <int kCount>
__device__ __forceinline__ void mask_block(float (&s)[kCount],
                                           int block,
                                           const Limits& limits) {
    constexpr int BN = 2 * kCount;
    if ((block + 1) * BN > limits.warpgroup)
        wb::ptx::mask_columns(s, block * BN, limits.row);
}

/// Overwrites with zeros what lies behind the last value of a tile. By all consumers,
/// before they go through its blocks.
///
/// Behind the last key of a packed sequence comes the next sequence, and behind that of
/// a paged one whatever its page held before. Its weights are 0; but 0 times NaN is
/// NaN. In a dense tensor the TMA unit itself fills up with zeros.
///
/// @param ring  of the tile's first block: the last keys, and the only ones that may
///              have something behind them
template <class Sizes, Source kSource>
__device__ __forceinline__ void clear_values_behind(
    SharedTiles<Sizes>& shared,
    const TileWork& work,
    PipelineState<Sizes::kStages> ring) {
    if constexpr (kSource != Source::dense) {
        const int rows = work.keys - (work.blocks - 1) * Sizes::BN;
        if (rows >= Sizes::BN) return;
        wb::ptx::mbarrier_wait(&shared.v_full[ring.stage], ring.parity);
        constexpr int kConsumers = Sizes::kWarpgroups * wb::ptx::kWarpgroup;
        constexpr int kRowVectors = wb::ptx::kSwizzleBytes / sizeof(uint4);
        const int first = rows * kRowVectors;
        const int end = Sizes::BN * kRowVectors;
        for (int panel = 0; panel < Sizes::kPanels; ++panel) {
            uint4* const tile =
                reinterpret_cast<uint4*>(shared.v[ring.stage]) + panel * end;
            for (int i = first + static_cast<int>(threadIdx.x) - wb::ptx::kWarpgroup;
                 i < end;
                 i += kConsumers) {
                tile[i] = make_uint4(0, 0, 0, 0);
            }
        }
        wb::ptx::async_proxy_fence();
        __syncwarp();  // the loop above has parted the lanes
        wb::ptx::named_barrier_sync(kConsumersBarrier, kConsumers);
    }
}

/// A block that this warpgroup does not need: waits for it, and releases it, so that
/// all warpgroups stay in step with the producer.
template <class Sizes>
__device__ __forceinline__ void pass_block(SharedTiles<Sizes>& shared,
                                           int group,
                                           PipelineState<Sizes::kStages>& stage) {
    wb::ptx::mbarrier_wait(&shared.k_full[stage.stage], stage.parity);
    wb::ptx::mbarrier_wait(&shared.v_full[stage.stage], stage.parity);
    release_together(&shared.k_empty[stage.stage], group);
    release(&shared.v_empty[stage.stage]);
    stage.advance();
}

/// Blocks of keys that a warpgroup has to go through: fewer than the tile has, if all
/// of its rows are past the end, or before the diagonal. It lets the others pass.
template <class Sizes>
__device__ __forceinline__ int skip_unseen_blocks(SharedTiles<Sizes>& shared,
                                                  const Problem& problem,
                                                  const TileWork& work,
                                                  int group,
                                                  PipelineState<Sizes::kStages>& stage,
                                                  int fewest = 0) {
    const int row = work.row + group * kGroupRows;
    const int seen = max(fewest, blocks_seen<Sizes>(problem, work, row, kGroupRows));
    for (int block = work.blocks - 1; block >= seen; --block)
        pass_block(shared, group, stage);
    return seen;
}

/// Stores the log-sum-exp of a thread's two rows, if it is wanted.
///
/// @param inverse  of the sums of their weights; 0 for rows without any
__device__ __forceinline__ void store_sums(const Problem& problem,
                                           const TileWork& work,
                                           int group,
                                           const RowSums& rows,
                                           float (&inverse)[2]) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float sum = rows.sum[r];
        sum += __shfl_xor_sync(wb::kAllLanes, sum, 1);
        sum += __shfl_xor_sync(wb::kAllLanes, sum, 2);
        inverse[r] = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int row = work.row + group * kGroupRows + warp * 16 + lane / 4 + 8 * r;
        if (problem.lse != nullptr && row < work.queries && lane % 4 == 0) {
            problem.lse[work.sequence * problem.lse_sequence +
                        work.head * problem.lse_head + work.query_start + row] =
                (rows.reference[r] + log2f(sum)) * static_cast<float>(wb::kLn2);
        }
    }
}

/// Multiplies a warpgroup's 64 rows of O by a factor, rounds, and stores them.
///
/// @param group   which 64 rows of the tile
/// @param factor  of the thread's two rows
template <class Sizes>
__device__ __forceinline__ void store_scaled_rows(const Problem& problem,
                                                  const TileWork& work,
                                                  int group,
                                                  const float (&o)[Sizes::D / 2],
                                                  const float (&factor)[2]) {
    using T = typename Sizes::T;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
    const int64_t g_head = work.sequence * problem.o_sequence +
                           work.head * problem.o_head +
                           work.query_start * problem.o_row;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = work.row + group * kGroupRows + warp * 16 + lane / 4 + 8 * r;
        const bool has_row = row < work.queries;
        T* const o_row =
            static_cast<T*>(problem.o) + g_head + int64_t{row} * problem.o_row;
#pragma unroll
        for (int i = 0; i < Sizes::D / 2; i += 16) {  // 32 columns of the quad
            uint32_t x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int e = i + 4 * c + 2 * r;
                x[c] = wb::ptx::pack<T>(o[e] * factor[r], o[e + 1] * factor[r]);
            }
            wb::ptx::transpose_quad(x);
            if (has_row) {
                *reinterpret_cast<uint4*>(o_row + 2 * i + 8 * (lane % 4)) =
                    make_uint4(x[0], x[1], x[2], x[3]);
            }
        }
    }
}

/// Divides a warpgroup's 64 rows of O by the sums of their weights, rounds, and stores
/// them, with the log-sum-exp if it is wanted.
///
/// @param group  which 64 rows of the tile
template <class Sizes>
__device__ __forceinline__ void store_rows(const Problem& problem,
                                           const TileWork& work,
                                           int group,
                                           const float (&o)[Sizes::D / 2],
                                           const RowSums& rows) {
    float inverse[2];
    store_sums(problem, work, group, rows, inverse);
    store_scaled_rows<Sizes>(problem, work, group, o, inverse);
}

// #region kernel
/// One tile of rows a block. Warpgroup 0 produces: one of its warps has tiles copied.
/// All others consume, 64 rows each.
///
/// @tparam Consumer  its function tile<Sizes, kSource>(shared, problem, work, group,
///                   stage, q_stage) does the work of one warpgroup for one tile
///
/// Launch   grid problem.tiles, block Sizes::kThreads, dynamic shared memory
///          kSharedBytes<Sizes>
template <class Consumer, class Sizes, Source kSource>
__global__ void __launch_bounds__(Sizes::kThreads, 1)
    hopper_attention_kernel(const __grid_constant__ TensorMaps maps,
                            const __grid_constant__ Problem problem) {
    extern __shared__ unsigned char s_dynamic[];
    const TileWork work =
        work_of<Sizes, kSource>(problem, static_cast<int>(blockIdx.x));
    if (work.blocks == 0) return;
    SharedTiles<Sizes>& shared = shared_tiles<Sizes>(s_dynamic);
    make_barriers(shared);
    const int group = consumer_group();
    PipelineState<Sizes::kStages> stage;
    PipelineState<Sizes::kQueryStages> q_stage;
    if (group < 0) {
        wb::ptx::registers_give_back<Sizes::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize)
            produce_tile<Sizes, kSource>({shared, maps, problem}, work, stage, q_stage);
    } else {
        wb::ptx::registers_take<Sizes::kConsumerRegisters>();
        Consumer::template tile<Sizes, kSource>(
            shared, problem, work, group, stage, q_stage);
    }
}
// #endregion kernel
