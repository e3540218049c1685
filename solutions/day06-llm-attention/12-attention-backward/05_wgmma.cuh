// 05_wgmma.cuh: v5: v4's five products by wgmma. One warp has the TMA unit copy tiles;
// two warpgroups own 64 keys each, and multiply.
#pragma once

#include <wb/attention_rows.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/online_softmax.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pack.h>
#include <wb/ptx/pipeline.h>
#include <wb/ptx/stmatrix.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>
#include <wb/ptx/wgmma.h>
#include <wb/ptx/wgmma_fragment.h>
#include <wb/scratch.h>

#include <climits>
#include <cmath>
#include <cstdint>

#include "fragments.cuh"
#include "problem.h"
#include "queries_kernel.cuh"

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

// #region v5-products
/// Starts c = a b^T: 64 rows of a with each row of b, all of D numbers.
///
/// @param a  the first of the 64 rows, in the first panel of a tile of kRows rows
/// @param b  a tile of kColumns rows
template <int D, int kRows, int kColumns>
__device__ __forceinline__ void start_rows_product(float (&c)[kColumns / 2],
                                                   const unsigned char* a,
                                                   const unsigned char* b) {
    const uint64_t a_tile = wb::ptx::wgmma_descriptor(shared_address(a));
    const uint64_t b_tile = wb::ptx::wgmma_descriptor(shared_address(b));
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
        // 16 columns are 32 bytes, 4 times within a panel. Descriptors count in 16.
        const int panel = i / 4;
        const int column = i % 4 * 32;
        const uint64_t a_step = (panel * kRows * kSwizzleBytes + column) / 16;
        const uint64_t b_step = (panel * kColumns * kSwizzleBytes + column) / 16;
        wb::ptx::wgmma<Bf16>(c, a_tile + a_step, b_tile + b_step, i > 0);
    }
}

/// Starts c += a b: weights of 64 keys for kRows queries, in registers, times the rows
/// of these queries.
///
/// @param a  as pack_operand leaves them; must not change until the wgmmas are done
/// @param b  a tile of kRows rows of D numbers
template <int D, int kRows>
__device__ __forceinline__ void start_sums(float (&c)[D / 2],
                                           const uint32_t (&a)[kRows / 16][4],
                                           const unsigned char* b) {
    const uint64_t b_tile =
        wb::ptx::wgmma_descriptor(shared_address(b), kRows * kSwizzleBytes);
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) {
        const uint64_t b_step = i * 16 * kSwizzleBytes / 16;  // 16 rows further down
        wb::ptx::wgmma<Bf16, true>(c, a[i], b_tile + b_step, true);
    }
}

/// Starts what the block's 128 keys add to 64 columns of dq for 64 queries: a
/// warpgroup's half of the tile.
///
/// @param d_scores  the first of the 64 queries, in the panel of the first 64 keys
/// @param k         the 64 columns: a panel of 128 rows
template <int D>
__device__ __forceinline__ void start_queries(float (&dq)[32],
                                              const unsigned char* d_scores,
                                              const unsigned char* k) {
    constexpr int kScoresPanel = kTileQueries<D> * kSwizzleBytes;
    const uint64_t a_tile = wb::ptx::wgmma_descriptor(shared_address(d_scores));
    const uint64_t b_tile = wb::ptx::wgmma_descriptor(shared_address(k));
#pragma unroll
    for (int i = 0; i < kBlockKeys / 16; ++i) {
        const uint64_t a_step = (i / 4 * kScoresPanel + i % 4 * 32) / 16;
        const uint64_t b_step = i * 16 * kSwizzleBytes / 16;
        wb::ptx::wgmma<Bf16, true>(dq, a_tile + a_step, b_tile + b_step, i > 0);
    }
}
// #endregion v5-products

// #region v5-scores
/// Weights of keys that a query does not see, or that do not exist, become 0.
///
/// @param key    the thread's first; the other one is 8 further on
/// @param query  the tile's first
template <int kCount>
__device__ __forceinline__ void mask(float (&r_s)[kCount],
                                     const Problem<Bf16>& p,
                                     int key,
                                     int query) {
    const int column = query + 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const bool exists = key + 8 * r < p.keys;
        const int first = exists ? p.first_query(key + 8 * r) - column : INT_MAX;
#pragma unroll
        for (int i = 2 * r; i < kCount; i += i % 2 == 0 ? 1 : 3)
            if (i / 4 * 8 + i % 2 < first) r_s[i] = 0.0f;
    }
}

/// Products become weights: P, transposed.
///
/// @param scale2  of a product, times log2(e)
template <int kCount>
__device__ __forceinline__ void weigh(float (&r_weights)[kCount],
                                      const float (&r_scores)[kCount],
                                      const RowStats* s_stats,  // [2 kCount]
                                      float scale2) {
    // Two rows of queries are 16 bytes.
    const auto* const pairs =
        reinterpret_cast<const float4*>(s_stats) + threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
        const float4 pair = pairs[4 * j];  // lse2, delta of two queries
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const float lse2 = e % 2 == 0 ? pair.x : pair.z;
            r_weights[4 * j + e] =
                wb::ptx::exp2_approx(fmaf(r_scores[4 * j + e], scale2, -lse2));
        }
    }
}

/// Gradients of weights become gradients of scores: S, transposed.
template <int kCount>
__device__ __forceinline__ void weigh_gradients(float (&r_d)[kCount],
                                                const float (&r_weights)[kCount],
                                                const RowStats* s_stats) {
    const auto* const pairs =
        reinterpret_cast<const float4*>(s_stats) + threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
        const float4 pair = pairs[4 * j];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const float delta = e % 2 == 0 ? pair.y : pair.w;
            float& d = r_d[4 * j + e];
            d = r_weights[4 * j + e] * (d - delta);
        }
    }
}

/// Puts a warp's gradients of scores, 16 keys and all queries of the tile, where dq's
/// product looks for them: a row for each query. stmatrix transposes on the way.
///
/// @param panel  of the warpgroup
template <int kQueries>
__device__ __forceinline__ void store_d_scores(
    unsigned char* panel, const uint32_t (&r_d)[kQueries / 16][4]) {
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    const uint32_t warp = threadIdx.x / wb::kWarpSize % 4;
    // Registers 0 and 1 are of queries 0 to 7 and of keys 0 to 7 and 8 to 15, 2 and 3
    // of the next eight queries.
    const uint32_t row = lane / 16 * 8 + lane % 8;
    const uint32_t byte = warp * 32 + lane / 8 % 2 * 16;
#pragma unroll
    for (int i = 0; i < kQueries / 16; ++i)
        wb::ptx::stmatrix<true>(
            panel + wb::ptx::swizzle_128b(static_cast<uint32_t>(16 * i) + row, byte),
            r_d[i]);
}
// #endregion v5-scores

// #region v5-add
/// Adds four numbers at once, to global memory, and asks for no result.
__device__ __forceinline__ void add(float4* sums, float4 x) {
#if defined(SIMT_CPU)
    atomicAdd(sums, x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums),
        "f"(x.x),
        "f"(x.y),
        "f"(x.z),
        "f"(x.w)
        : "memory");
#else
    __trap();
#endif
}

/// The same of two.
__device__ __forceinline__ void add(float2* sums, float2 x) {
#if defined(SIMT_CPU)
    atomicAdd(sums, x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(sums),
                 "f"(x.x),
                 "f"(x.y)
                 : "memory");
#else
    __trap();
#endif
}

/// How a number gets to the sums: it is added to what is there.
struct Add {
    template <class Vector>
    static __device__ __forceinline__ void put(Vector* sums, Vector x) {
        add(sums, x);
    }
};

/// Adds a warpgroup's 64 x 64 part of a tile of dq to the sums.
///
/// The sums of a whole tile lie as the accumulators do: four registers of all threads,
/// then the next four. So a warp adds 512 neighbouring bytes at a time, and no lane
/// needs another's numbers. Of a tile that is cut off, rows lie one after the other.
///
/// @tparam How  Add
/// @param tile  the tile's sums
/// @param rows  of the head, from the tile's first on
template <int D, class How>
__device__ __forceinline__ void put_queries(float* tile,
                                            const float (&dq)[32],
                                            int group,
                                            int rows) {
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    if (rows >= kTileQueries<D>) {
        float4* const to = reinterpret_cast<float4*>(tile) + group * 1024 + thread;
#pragma unroll
        for (int j = 0; j < 8; ++j)
            How::put(
                to + j * kWarpgroup,
                make_float4(dq[4 * j], dq[4 * j + 1], dq[4 * j + 2], dq[4 * j + 3]));
        return;
    }
    const int lane = thread % wb::kWarpSize;
    const int row = (D == 64 ? group * 64 : 0) + thread / wb::kWarpSize * 16 + lane / 4;
    float* const to = tile + row * D + (D == 64 ? 0 : group * 64) + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        if (row + 8 * r >= rows) return;
#pragma unroll
        for (int j = 0; j < 8; ++j)
            How::put(reinterpret_cast<float2*>(to + 8 * r * D + 8 * j),
                     make_float2(dq[4 * j + 2 * r], dq[4 * j + 2 * r + 1]));
    }
}

/// dq = scale * sums, as bf16; zeros for a tile of queries that see no key, whose sums
/// are not read. A thread has two rows of eight columns: 64 bytes of sums, in the order
/// in which put_queries() left them.
///
/// Launch   grid ceil_div(heads * tiles of a head * kTileQueries<D> * D / 16, kBlock),
///          block kBlock
/// Traffic  reads 4 D B a row, writes 2 D B
template <int D>
__global__ void __launch_bounds__(kBlock)
    finish_kernel(const Problem<Bf16> p, const float* sums, unsigned head_tiles) {
    constexpr int kTileThreads = kTileQueries<D> * D / 16;
    const int64_t thread = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    const int64_t tile = thread / kTileThreads;
    const int64_t head = tile / head_tiles;
    if (head >= p.query_heads) return;
    const int i = static_cast<int>(thread % kTileThreads);
    const int j = i % 8;             // which eight of 64 columns
    const int quad = i / 8 % 32;     // which two rows of 64
    const int group = i / (8 * 32);  // which 64 rows, or columns
    const int query = static_cast<int>(tile % head_tiles) * kTileQueries<D>;
    const int row = (D == 64 ? group * 64 : 0) + quad / 8 * 16 + quad % 8;
    const int column = (D == 64 ? 0 : group * 64) + j * 8;
    const int64_t first = (head * p.queries + query) * D;
    const int rows = p.queries - query;
    float r_sums[2][8] = {};
    if (p.visible(min(query + kTileQueries<D>, p.queries) - 1) == 0) {
        // Nobody has added anything.
    } else if (rows >= kTileQueries<D>) {
        const float4* const from = reinterpret_cast<const float4*>(sums + first) +
                                   group * 1024 + j * kWarpgroup + quad * 4;
#pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            const float4 four = from[lane];
            r_sums[0][2 * lane] = four.x;
            r_sums[0][2 * lane + 1] = four.y;
            r_sums[1][2 * lane] = four.z;
            r_sums[1][2 * lane + 1] = four.w;
        }
    } else {
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < 8; ++c)
                if (row + 8 * r < rows)
                    r_sums[r][c] = sums[first + (row + 8 * r) * D + column + c];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        if (row + 8 * r >= rows) continue;
        const auto pair = [&](int c) {
            return wb::ptx::pack<Bf16>(r_sums[r][c] * p.scale,
                                       r_sums[r][c + 1] * p.scale);
        };
        *reinterpret_cast<uint4*>(p.dq + first + (row + 8 * r) * D + column) =
            make_uint4(pair(0), pair(2), pair(4), pair(6));
    }
}
// #endregion v5-add

// #region v5-order
/// How blocks share the keys and put together what they add to dq: v5's way, in any
/// order. It is a parameter of the kernel; v6 has another one.
struct AnyOrder {
    float* sums;         ///< [query_heads, queries, D], zeros at the launch
    unsigned key_tiles;  ///< of a head: a block has one

    /// Registers of a thread that copies, and of one that multiplies: together the 168
    /// times 384 that a block begins with. With one more, threads would wait forever.
    template <int D>
    static constexpr int kProducerRegisters = 24;
    template <int D>
    static constexpr int kConsumerRegisters = 240;
    /// What it needs in shared memory.
    struct Shared {};
    /// Prepares that. By the whole block, which __syncthreads() afterwards.
    __device__ __forceinline__ void begin(Shared&) const {}
    /// The block's keys.
    __device__ __forceinline__ Place place(const Shared&, const Problem<Bf16>&) const {
        return {static_cast<int>(blockIdx.x / key_tiles),
                static_cast<int>(blockIdx.x % key_tiles)};
    }
    /// What is left to do for the warps that neither copy nor multiply.
    template <int D>
    __device__ __forceinline__ void serve(Shared&,
                                          const Problem<Bf16>&,
                                          const Work<D>&) const {}
    /// Takes a warpgroup's part of dq of the block's tile number i.
    template <int D>
    __device__ __forceinline__ void add(Shared&,
                                        const Problem<Bf16>& p,
                                        const Work<D>&,
                                        const QueryTile& tile,
                                        int /*i*/,
                                        const float (&dq)[32],
                                        int group) const {
        put_queries<D, Add>(sums + tile.row(p) * D, dq, group, p.queries - tile.query);
    }
};
// #endregion v5-order

// #region v5-consume
/// Stores a warpgroup's 64 rows of sums, times a factor, 16 bytes a lane.
///
/// @param g     the first row
/// @param rows  that exist, from the first one on
template <int D>
__device__ __forceinline__ void store_rows(Bf16* g,
                                           const float (&r_sums)[D / 2],
                                           float factor,
                                           int rows) {
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = warp * 16 + lane / 4 + 8 * r;
#pragma unroll
        for (int i = 0; i < D / 2; i += 16) {  // 32 columns of the quad
            uint32_t x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int e = i + 4 * c + 2 * r;
                x[c] = wb::ptx::pack<Bf16>(r_sums[e] * factor, r_sums[e + 1] * factor);
            }
            wb::ptx::transpose_quad(x);
            if (row < rows)
                *reinterpret_cast<uint4*>(g + row * D + 2 * i + 8 * (lane % 4)) =
                    make_uint4(x[0], x[1], x[2], x[3]);
        }
    }
}

/// All products of a warpgroup: dk and dv of its 64 keys stay in registers; its half of
/// dq of each tile goes to the sums.
template <int D, class Order>
__device__ __forceinline__ void consume(Shared<D>& s,
                                        typename Order::Shared& s_order,
                                        const Problem<Bf16>& p,
                                        const Work<D>& work,
                                        int group,
                                        const Order& order) {
    using namespace wb::ptx;
    constexpr int kQueries = kTileQueries<D>;
    const float scale2 = p.scale * static_cast<float>(wb::kLog2e);
    const int first_key = work.first_key + group * kGroupKeys;
    const int key = first_key + static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                    static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
    const unsigned char* const k = s.k + group * kGroupKeys * kSwizzleBytes;
    const unsigned char* const v = s.v + group * kGroupKeys * kSwizzleBytes;
    // Of dq, a warpgroup has 64 of 128 columns, or 64 of 128 queries.
    const unsigned char* const dq_k =
        s.k + (D == 64 ? 0 : group * kBlockKeys * kSwizzleBytes);
    const int dq_rows = (D == 64 ? group * 64 : 0) * kSwizzleBytes;
    const int last_key = first_key + kGroupKeys - 1;
    // No tile from this query on needs a mask.
    const int unmasked = last_key < p.keys ? p.first_query(last_key) : INT_MAX;
    float r_dk[D / 2] = {};
    float r_dv[D / 2] = {};
    float r_scores[kQueries / 2];
    // Starts the scores of tile number i.
    const auto start_scores = [&](int i) {
        mbarrier_wait(&s.q_full[i % 2], i / 2 % 2);
        wgmma_fence();
        start_rows_product<D, kBlockKeys, kQueries>(r_scores, k, s.q[i % 2]);
        wgmma_commit();
    };
    if (work.tiles > 0) {
        mbarrier_wait(&s.k_full, 0);
        start_scores(0);
        wgmma_wait<0>();
        wgmma_keep(r_scores);
        mbarrier_wait(&s.v_full, 0);
    }
    QueryTile tile(p, work);
    for (int i = 0; i < work.tiles; ++i) {
        const int stage = i % 2;
        const unsigned char* const q = s.q[stage];
        const unsigned char* const d_o = s.d_o[stage];
        const RowStats* const s_stats = s.stats[stage];
        float r_weights[kQueries / 2];
        float r_d[kQueries / 2];
        float r_dq[32];
        uint32_t packed_weights[kQueries / 16][4];
        uint32_t packed_d[kQueries / 16][4];

        mbarrier_wait(&s.d_o_full[stage], i / 2 % 2);
        wgmma_fence();
        start_rows_product<D, kBlockKeys, kQueries>(r_d, v, d_o);
        wgmma_commit();

        weigh(r_weights, r_scores, s_stats, scale2);
        if (tile.query < unmasked) mask(r_weights, p, key, tile.query);
        if constexpr (kSumsEarly<D>) {
            pack_operand<Bf16>(packed_weights, r_weights);
            wgmma_fence();
            start_sums<D, kQueries>(r_dv, packed_weights, d_o);
            wgmma_commit();
            wgmma_wait<1>();  // dv may still be on its way
        } else {
            wgmma_wait<0>();
        }
        wgmma_keep(r_d);
        weigh_gradients(r_d, r_weights, s_stats);
        pack_operand<Bf16>(packed_d, r_d);
        store_d_scores<kQueries>(s.d_scores[stage][group], packed_d);
        async_proxy_fence();  // what threads wrote, wgmma reads
        if constexpr (!kSumsEarly<D>) {
            pack_operand<Bf16>(packed_weights, r_weights);
            wgmma_fence();
            start_sums<D, kQueries>(r_dv, packed_weights, d_o);
            wgmma_commit();
        }
        named_barrier_sync(kScoresBarrier, kConsumers);
        wgmma_fence();
        start_queries<D>(r_dq, s.d_scores[stage][0] + dq_rows, dq_k);
        wgmma_commit();
        start_sums<D, kQueries>(r_dk, packed_d, q);
        wgmma_commit();

        wgmma_wait<1>();  // dk may still be on its way
        wgmma_keep(r_dv);
        wgmma_keep(r_dq);
        release(&s.d_o_empty[stage]);
        start_scores(i + 1 < work.tiles ? i + 1 : i);  // nobody uses the last
        order.add(s_order, p, work, tile, i, r_dq, group);
        wgmma_wait<0>();
        wgmma_keep(r_dk);
        wgmma_keep(r_scores);
        wb::ptx::mbarrier_arrive(&s.q_empty[stage]);
        tile.advance(p, work);
    }
    const int64_t to = (int64_t{work.kv_head} * p.keys + first_key) * D;
    store_rows<D>(p.dk + to, r_dk, p.scale, p.keys - first_key);
    store_rows<D>(p.dv + to, r_dv, 1.0f, p.keys - first_key);
}
// #endregion v5-consume

// #region v5-kernel
/// attention_backward_v5 and v6: dk and dv of 128 keys, and what these add to dq. Five
/// products of 2 * 128 * kTileQueries * D operations each a tile of queries.
///
/// Launch   grid kv_heads * ceil_div(keys, kBlockKeys), block kBlockThreads,
///          kSharedBytes<D> bytes of dynamic shared memory; sm_90a
/// Traffic  reads q and d_o once for each 128 keys, and adds 4 D B a row to dq's sums
/// @param stats  [query_heads, queries]
/// @param order  AnyOrder or InTurn: where dq is added up before its scale;
///               put_queries() says where an element lies
template <int D, class Order>
__global__ void __launch_bounds__(kBlockThreads, 1)
    keys_kernel(const __grid_constant__ Maps maps,
                const __grid_constant__ Problem<Bf16> p,
                const RowStats* stats,
                const __grid_constant__ Order order) {
    extern __shared__ unsigned char s_dynamic[];
    __shared__ typename Order::Shared s_order;
    Shared<D>& s = shared_of<D>(s_dynamic);
    order.begin(s_order);
    make_barriers(s);
    const Work<D> work(p, order.place(s_order, p));
    // Arithmetic on threadIdx.x is not uniform to the compiler; a shuffle makes it so.
    const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
    const int group = __shfl_sync(wb::kAllLanes, warpgroup, 0) - 1;
    if (group < 0) {
        wb::ptx::registers_give_back<Order::template kProducerRegisters<D>>();
        if (threadIdx.x < wb::kWarpSize)
            produce(s, maps, p, work, stats);
        else
            order.serve(s_order, p, work);
    } else {
        wb::ptx::registers_take<Order::template kConsumerRegisters<D>>();
        consume(s, s_order, p, work, group, order);
    }
}
// #endregion v5-kernel

// #region v5-launch
/// All three gradients of one head dimension; there are queries, and keys.
template <int D, class Order>
void launch(const Problem<Bf16>& p,
            RowStats* stats,
            const Order& order,
            cudaStream_t stream) {
    backward_stats_kernel<D>
        <<<wb::grid_size(p.rows() * (D / 8), kBlock), kBlock, 0, stream>>>(p, stats);
    CUDA_CHECK_LAUNCH();
    const auto map =
        [](const char* name, const Bf16* base, int64_t heads, int rows, int box) {
            return wb::tensor_map<Bf16>(
                name, wb::dense_rows(base, 1, heads, rows, D), box);
        };
    const Maps maps = {map("q", p.q, p.query_heads, p.queries, kTileQueries<D>),
                       map("k", p.k, p.kv_heads, p.keys, kBlockKeys),
                       map("v", p.v, p.kv_heads, p.keys, kBlockKeys),
                       map("d_o", p.d_o, p.query_heads, p.queries, kTileQueries<D>)};
    const unsigned key_tiles = wb::grid_size(p.keys, kBlockKeys);
    wb::launch_kernel(keys_kernel<D, Order>,
                      wb::grid_size(p.kv_heads * key_tiles, 1),
                      kBlockThreads,
                      kSharedBytes<D>,
                      stream,
                      maps,
                      p,
                      static_cast<const RowStats*>(stats),
                      order);
    const unsigned head_tiles = wb::grid_size(p.queries, kTileQueries<D>);
    const int64_t threads = p.query_heads * head_tiles * (kTileQueries<D> * D / 16);
    finish_kernel<D><<<wb::grid_size(threads, kBlock), kBlock, 0, stream>>>(
        p, order.sums, head_tiles);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch

}  // namespace hopper_backward

/// v5: wgmma and TMA where the GPU has them and the bits may differ; without a query or
/// a key there are only zeros to write, which v3 does.
///
/// @tparam kHeadDims  those that a call may have
template <int... kHeadDims>
static void attention_backward_v5(const AttentionBackward<Bf16>& call,
                                  cudaStream_t stream) {
    const auto p = problem_of(call);
    if (call.deterministic || wb::compute_capability() != 90 || p.rows() == 0 ||
        p.kv_rows() == 0)
        return attention_backward_v3(call, stream);
    const wb::Scratch<RowStats> stats(p.rows(), stream);
    const wb::Scratch<float> sums(call.shape.query_elements(), stream);
    const size_t bytes =
        static_cast<size_t>(call.shape.query_elements()) * sizeof(float);
    CUDA_CHECK(cudaMemsetAsync(sums.data(), 0, bytes, stream));
    const unsigned key_tiles = wb::grid_size(p.keys, hopper_backward::kBlockKeys);
    wb::with_head_dim<kHeadDims...>(call.shape.head_dim, [&](auto head_dim) {
        hopper_backward::launch<head_dim()>(
            p, stats.data(), hopper_backward::AnyOrder{sums.data(), key_tiles}, stream);
    });
}
