// 05_wgmma_tiles.cuh: v5: the tiles in shared memory, which keys and queries they are
// of, and the warp that has the TMA unit copy them.
#pragma once

#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pipeline.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>
#include <wb/ptx/wgmma.h>

#include <cstdint>

#include "fragments.cuh"
#include "problem.h"

/// What v5 and chapter 08 have names for, too.
namespace hopper_backward {

using wb::ptx::kSwizzleBytes;
using wb::ptx::kWarpgroup;
using wb::ptx::Mbarrier;
using wb::ptx::PipelineState;
using wb::ptx::shared_address;

/// Warpgroups that multiply, the keys that each owns (the M of wgmma), and all of them.
inline constexpr int kGroups = 2;
inline constexpr int kGroupKeys = 64;
inline constexpr int kBlockKeys = kGroups * kGroupKeys;
/// Threads that multiply, and those of a block: one more warpgroup has tiles copied.
inline constexpr int kConsumers = kGroups * kWarpgroup;
inline constexpr int kBlockThreads = kConsumers + kWarpgroup;
/// Numbers in a row of a panel: 128 bytes, the width of the swizzle.
inline constexpr int kPanel = 64;
/// The barrier of all threads that multiply.
inline constexpr int kScoresBarrier = 1;

// #region v5-shared
/// Queries that a block works on at a time. Two products of 64 keys with them, and the
/// sums of D columns for 64 keys, twice, have to fit into registers.
template <int D>
inline constexpr int kTileQueries = D == 64 ? 128 : 64;

/// Whether dv's product starts before gradients of scores are computed: with 128
/// queries there are no registers for weights twice, as floats and packed.
template <int D>
inline constexpr bool kSumsEarly = D == 128;

/// Everything in shared memory. A tile is panels of 64 columns, one after the other. A
/// `full` barrier completes a phase when a tile has arrived, an `empty` one when all
/// eight warps are done with it: one lane of each arrives, or, as stats are read by
/// ordinary loads, each thread. compute-sanitizer's racecheck relates an arrival to
/// accesses of the thread that arrives, and to those of no other.
template <int D>
struct alignas(1024) Shared {
    static constexpr int kQueries = kTileQueries<D>;
    static constexpr int kPanels = D / kPanel;
    static constexpr int kKeyBytes = kBlockKeys * D * int{sizeof(Bf16)};
    static constexpr int kQueryBytes = kQueries * D * int{sizeof(Bf16)};

    unsigned char k[kKeyBytes];
    unsigned char v[kKeyBytes];
    unsigned char q[2][kQueryBytes];
    unsigned char d_o[2][kQueryBytes];
    /// Gradients of scores, [kQueries, 64 keys] of each warpgroup: a panel.
    unsigned char d_scores[2][kGroups][kQueries * kSwizzleBytes];
    alignas(16) RowStats stats[2][kQueries];  ///< of the rows of q
    Mbarrier k_full, v_full;
    Mbarrier q_full[2], q_empty[2];  ///< of q and stats
    Mbarrier d_o_full[2], d_o_empty[2];
};

/// Bytes to ask for: dynamic shared memory need not begin at a multiple of 1024.
template <int D>
inline constexpr size_t kSharedBytes = sizeof(Shared<D>) + 1024;

/// The block's shared memory. Swizzled tiles begin at multiples of 1024.
template <int D>
__device__ __forceinline__ Shared<D>& shared_of(unsigned char* dynamic) {
    const uint32_t past = shared_address(dynamic) % 1024;
    return *reinterpret_cast<Shared<D>*>(dynamic + (1024 - past) % 1024);
}

/// Makes all barriers. By the whole block.
template <int D>
__device__ __forceinline__ void make_barriers(Shared<D>& s) {
    using wb::ptx::mbarrier_init;
    constexpr int kWarpsThatMultiply = kConsumers / wb::kWarpSize;
    if (threadIdx.x == 0) {
        mbarrier_init(&s.k_full, 1);
        mbarrier_init(&s.v_full, 1);
        for (int i = 0; i < 2; ++i) {
            // One arrival says how many bytes will come; every lane brings stats.
            mbarrier_init(&s.q_full[i], 1 + wb::kWarpSize);
            mbarrier_init(&s.q_empty[i], kConsumers);
            mbarrier_init(&s.d_o_full[i], 1);
            mbarrier_init(&s.d_o_empty[i], kWarpsThatMultiply);
        }
        wb::ptx::mbarrier_init_fence();
    }
    __syncthreads();
}

/// Says that this warp is done with a tile. An arrival speaks for one thread alone;
/// what the others have read comes before it by __syncwarp.
__device__ __forceinline__ void release(Mbarrier* empty) {
    __syncwarp();
    if (threadIdx.x % wb::kWarpSize == 0) wb::ptx::mbarrier_arrive(empty);
}
// #endregion v5-shared

// #region v5-work
/// The inputs as the TMA unit knows them: dimensions D, rows, heads, 1. What is past a
/// head's last row comes as zeros.
struct Maps {
    wb::ptx::TensorMap q, k, v, d_o;
};

/// Which keys a block owns.
struct Place {
    int kv_head;
    int key_tile;
};

/// What a block does: its keys against the tiles of queries that see them, in all heads
/// of the group.
template <int D>
struct Work {
    int kv_head;
    int first_key;    ///< of its head
    int first_query;  ///< of the first tile
    int tiles;        ///< of queries, in all heads of the group

    __device__ __forceinline__ Work(const Problem<Bf16>& p, Place place)
        : kv_head(place.kv_head),
          first_key(place.key_tile * kBlockKeys),
          first_query(p.first_query(first_key) / kTileQueries<D> * kTileQueries<D>),
          tiles(tiles_of(p.queries - first_query, kTileQueries<D>) * p.group) {}
};

/// Where a block is on its way through the tiles of queries: a tile of each head of the
/// group, then their next tiles.
struct QueryTile {
    int head;   ///< of the query heads of all sequences
    int query;  ///< the first, in its head

    template <int D>
    __device__ __forceinline__ QueryTile(const Problem<Bf16>& p, const Work<D>& work)
        : head(work.kv_head * p.group), query(work.first_query) {}

    template <int D>
    __device__ __forceinline__ void advance(const Problem<Bf16>& p,
                                            const Work<D>& work) {
        if (++head < (work.kv_head + 1) * p.group) return;
        head = work.kv_head * p.group;
        query += kTileQueries<D>;
    }
    /// The tile's first row, among those of all heads.
    __device__ __forceinline__ int64_t row(const Problem<Bf16>& p) const {
        return int64_t{head} * p.queries + query;
    }
};
// #endregion v5-work

// #region v5-produce
/// Has kRows rows of one tensor copied, a lane for each panel. By a warp.
template <int D, int kRows>
__device__ __forceinline__ void copy_rows(unsigned char* tile,
                                          const wb::ptx::TensorMap& map,
                                          Mbarrier* full,
                                          int row,
                                          int head,
                                          int lane) {
    if (lane == 0) wb::ptx::mbarrier_expect(full, kRows * D * int{sizeof(Bf16)});
    __syncwarp();
    if (lane < D / kPanel)
        wb::ptx::tma_load(tile + lane * kRows * kSwizzleBytes,
                          &map,
                          full,
                          lane * kPanel,
                          row,
                          head,
                          0);
}

/// All tiles of a block, in the order in which they are needed. By one warp.
///
/// @param stats  [query_heads, queries]
template <int D>
__device__ __forceinline__ void produce(Shared<D>& s,
                                        const Maps& maps,
                                        const Problem<Bf16>& p,
                                        const Work<D>& work,
                                        const RowStats* stats) {
    constexpr int kQueries = kTileQueries<D>;
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    PipelineState<2> ring;
    QueryTile tile(p, work);
    for (int i = 0; i < work.tiles; ++i) {
        // Stats are on their way while the warp waits. What does not exist has a weight
        // of 2^-infinity.
        RowStats r_stats[kQueries / wb::kWarpSize];
        const RowStats* const g_stats = stats + tile.row(p);
#pragma unroll
        for (int n = 0; n < kQueries / wb::kWarpSize; ++n) {
            const int row = n * wb::kWarpSize + lane;
            r_stats[n] =
                tile.query + row < p.queries ? g_stats[row] : RowStats{INFINITY, 0.0f};
        }
        Mbarrier* const q_full = &s.q_full[ring.stage];
        wb::ptx::mbarrier_wait(&s.q_empty[ring.stage], ring.parity ^ 1);
        copy_rows<D, kQueries>(
            s.q[ring.stage], maps.q, q_full, tile.query, tile.head, lane);
        if (i == 0)
            copy_rows<D, kBlockKeys>(
                s.k, maps.k, &s.k_full, work.first_key, work.kv_head, lane);
#pragma unroll
        for (int n = 0; n < kQueries / wb::kWarpSize; ++n)
            s.stats[ring.stage][n * wb::kWarpSize + lane] = r_stats[n];
        wb::ptx::mbarrier_arrive(q_full);

        wb::ptx::mbarrier_wait(&s.d_o_empty[ring.stage], ring.parity ^ 1);
        copy_rows<D, kQueries>(s.d_o[ring.stage],
                               maps.d_o,
                               &s.d_o_full[ring.stage],
                               tile.query,
                               tile.head,
                               lane);
        if (i == 0)
            copy_rows<D, kBlockKeys>(
                s.v, maps.v, &s.v_full, work.first_key, work.kv_head, lane);
        tile.advance(p, work);
        ring.advance();
    }
}
// #endregion v5-produce

}  // namespace hopper_backward
