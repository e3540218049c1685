// 06_turns.cuh: v6: v5 with the same bits always: blocks add to a tile of dq one after
// the other, from the last keys that it sees to the first. Included below v5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cuda/atomic>

namespace hopper_backward {

/// Bytes of q, d_o and sums that blocks which run at the same time may read and add to:
/// they stay in the L2 cache.
inline constexpr int64_t kTogetherBytes = int64_t{16} << 20;

// #region v6-turns
/// How a number gets to the sums: there is nothing yet.
struct Store {
    template <class Vector>
    static __device__ __forceinline__ void put(Vector* sums, Vector x) {
        *sums = x;
    }
};

/// How blocks put together what they add to dq: one after the other, the last keys
/// first. A causal block begins at the tile of its own diagonal, where it is the first.
///
/// Progress  a block waits for blocks of later keys of its head alone. These have
///           smaller tickets: they have begun, and the one with the smallest ticket of
///           all that run waits for nobody. In what order blocks begin, and however few
///           there is room for, all end
struct InTurn {
    float* sums;           ///< [query_heads, queries, D]
    unsigned* next;        ///< how many blocks have begun, 0 at the launch
    unsigned* added;       ///< [query_heads, query_tiles] by how many blocks; zeros
    unsigned key_tiles;    ///< of a head: a block has one
    unsigned query_tiles;  ///< of a head
    unsigned together;     ///< heads of keys whose blocks alternate

    /// Threads that copy, wait and pass on have to know more than in v5: with D = 64
    /// some of it would be spilled; with D = 128 the products need all that v5 has.
    template <int D>
    static constexpr int kProducerRegisters = D == 64 ? 40 : 24;
    template <int D>
    static constexpr int kConsumerRegisters = D == 64 ? 232 : 240;

    /// For two tiles, as they alternate: the one may be passed on to the next block
    /// while warps wait for the other.
    struct Shared {
        unsigned ticket;
        Mbarrier turn[2];    ///< it is the block's turn
        Mbarrier added[2];   ///< all eight warps have added
        Mbarrier passed[2];  ///< the next block knows
    };

    /// Makes the barriers, and takes a ticket. By the whole block.
    __device__ __forceinline__ void begin(Shared& s) const {
        if (threadIdx.x != 0) return;
        for (int i = 0; i < 2; ++i) {
            wb::ptx::mbarrier_init(&s.turn[i], 1);
            wb::ptx::mbarrier_init(&s.added[i], kConsumers / wb::kWarpSize);
            wb::ptx::mbarrier_init(&s.passed[i], 1);
        }
        s.ticket = atomicAdd(next, 1u);
    }

    /// The keys of a ticket. `together` heads take turns, so that by the time a block
    /// begins, the one that it follows is some tiles ahead.
    __device__ __forceinline__ Place place(const Shared& s,
                                           const Problem<Bf16>& p) const {
        const unsigned first = s.ticket / (together * key_tiles) * together;
        const unsigned left = static_cast<unsigned>(p.kv_heads) - first;
        const unsigned heads = left < together ? left : together;
        const unsigned i = s.ticket % (together * key_tiles);
        return {static_cast<int>(first + i % heads),
                static_cast<int>(key_tiles - 1 - i / heads)};
    }

    /// How many blocks add to a tile before this one.
    template <int D>
    __device__ __forceinline__ unsigned before(const Problem<Bf16>& p,
                                               const Work<D>& work,
                                               const QueryTile& tile) const {
        const int last = min(tile.query + kTileQueries<D>, p.queries) - 1;
        const int blocks = tiles_of(p.visible(last), kBlockKeys);
        return static_cast<unsigned>(blocks - 1 - work.first_key / kBlockKeys);
    }

    /// The counter of a tile.
    template <int D>
    __device__ __forceinline__ auto counter(const QueryTile& tile) const {
        return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(
            added[int64_t{tile.head} * query_tiles + tile.query / kTileQueries<D>]);
    }

    /// One thread waits for turns, and another one passes them on: the warps that
    /// multiply never wait for memory.
    template <int D>
    __device__ __forceinline__ void serve(Shared& s,
                                          const Problem<Bf16>& p,
                                          const Work<D>& work) const {
        using namespace wb::ptx;
        if (threadIdx.x != wb::kWarpSize && threadIdx.x != 2 * wb::kWarpSize) return;
        QueryTile tile(p, work);
        for (int i = 0; i < work.tiles; ++i) {
            const int stage = i % 2;
            const unsigned parity = i / 2 % 2;
            const unsigned first = before(p, work, tile);
            auto count = counter<D>(tile);
            if (threadIdx.x == wb::kWarpSize) {
                while (count.load(cuda::memory_order_acquire) != first) {
                }
                mbarrier_wait(&s.passed[stage], parity ^ 1);
                mbarrier_arrive(&s.turn[stage]);
            } else {
                mbarrier_wait(&s.added[stage], parity);
                // What all eight warps have added comes before this.
                count.store(first + 1, cuda::memory_order_release);
                mbarrier_arrive(&s.passed[stage]);
            }
            tile.advance(p, work);
        }
    }

    /// Takes a warpgroup's part of dq of the block's tile number i.
    template <int D>
    __device__ __forceinline__ void add(Shared& s,
                                        const Problem<Bf16>& p,
                                        const Work<D>& work,
                                        const QueryTile& tile,
                                        int i,
                                        const float (&dq)[32],
                                        int group) const {
        float* const to = sums + tile.row(p) * D;
        const int rows = p.queries - tile.query;
        wb::ptx::mbarrier_wait(&s.turn[i % 2], i / 2 % 2);
        if (before(p, work, tile) == 0)
            put_queries<D, Store>(to, dq, group, rows);
        else
            put_queries<D, Add>(to, dq, group, rows);
        release(&s.added[i % 2]);
    }
};
// #endregion v6-turns

}  // namespace hopper_backward

// #region v6-launch
/// v6: the same bits always. Where v5 cannot run, v3 does.
///
/// @tparam kHeadDims  those that a call may have
template <int... kHeadDims>
static void attention_backward_v6(const AttentionBackward<Bf16>& call,
                                  cudaStream_t stream) {
    using namespace hopper_backward;
    const auto p = problem_of(call);
    if (wb::compute_capability() != 90 || p.rows() == 0 || p.kv_rows() == 0)
        return attention_backward_v3(call, stream);
    const wb::Scratch<RowStats> stats(p.rows(), stream);
    const wb::Scratch<float> sums(call.shape.query_elements(), stream);
    wb::with_head_dim<kHeadDims...>(call.shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        const unsigned query_tiles = wb::grid_size(p.queries, kTileQueries<D>);
        const int64_t counters = 1 + p.query_heads * query_tiles;
        const wb::Scratch<unsigned> counts(counters, stream);
        CUDA_CHECK(cudaMemsetAsync(counts.data(),
                                   0,
                                   static_cast<size_t>(counters) * sizeof(unsigned),
                                   stream));
        // Of a row: q and d_o, and sums.
        const int64_t head_bytes = int64_t{p.group} * p.queries * (8 * D);
        const int64_t fit = std::max<int64_t>(kTogetherBytes / head_bytes, 1);
        const InTurn order = {
            sums.data(),
            counts.data(),
            counts.data() + 1,
            wb::grid_size(p.keys, kBlockKeys),
            query_tiles,
            static_cast<unsigned>(std::min<int64_t>(fit, p.kv_heads))};
        hopper_backward::launch<D>(p, stats.data(), order, stream);
    });
}
// #endregion v6-launch
