// 06_bulk_tiles.cuh: paged_attention_v6. Included by paged_attention.cu, below v5, of
// which it has the shares, the arithmetic and the merge.
//
// In v5 a warp has one tile of 16 keys under way, into its registers, and each load
// asks for 64 or 128 bytes of a row. Here the tiles of a warp come into a ring in
// shared memory, by bulk copies: 16 rows of one head are 4 KB without a gap, in
// whatever page, and one instruction asks for them. The ring goes on from one segment
// to the next, so that memory is busy while a segment is merged.
#pragma once

#include "paged_attention.h"

#include <wb/check.h>
#include <wb/device.h>
#include <wb/ladder.h>
#include <wb/ptx/bulk.h>
#include <wb/ptx/pipeline.h>
#include <wb/shared_memory.h>

#include "05_equal_shares.cuh"

namespace stream_k {

/// Tiles that a warp has under way: 24 KB, and 192 KB in a block.
template <int D>
constexpr int kRing = 384 / D;

/// A tile in shared memory, as it is in the cache.
template <int D>
struct Slot {
    uint4 k[BN * D / 8];  // [BN, D]
    uint4 v[BN * D / 8];  // [BN, D]
};

/// Bytes of the rings of a block's warps.
template <int D>
constexpr size_t kRingBytes = sizeof(Slot<D>) * (kRing<D> * kWarps);

// #region v6-ahead
/// The tiles that a warp is going to ask for, in the order in which it will use them:
/// those of its share's segments. Lane i has looked up where the i-th of the next 32
/// is, so that the table is waited for once in 32 tiles.
struct Ahead {
    Cursor cursor;
    int unit;            ///< with which the segment after this one begins
    Segment segment{};   ///< none yet
    int tile = 0;        ///< of the segment: the first that nobody has looked up
    int count = 0;       ///< lanes that have a tile ...
    int next = 0;        ///< ... and the one whose turn is next
    int64_t offset = 0;  ///< of this lane's tile, in k and v
};

/// Looks up the next 32 tiles, or what the segment has left. Returns false at the end
/// of the share.
template <int D>
__device__ __forceinline__ bool look_up(
    Ahead& ahead, const Problem& p, int end, int warp, int lane) {
    const int step = kWarps >> p.bundle_log2;
    if (ahead.tile >= ahead.segment.last) {
        ahead.segment = segment_at(p, ahead.cursor, ahead.unit, end);
        if (ahead.segment.empty()) return false;
        ahead.unit = ahead.segment.base + ahead.segment.last;
        ahead.tile = ahead.segment.first + (warp >> p.bundle_log2);
    }
    const Segment& segment = ahead.segment;
    const int tile = ahead.tile + lane * step;
    const bool has_tile = tile < segment.last;
    if (has_tile) {
        const int kv_head = slice_of_warp(p, segment, warp) / p.slices;
        const int page = page_of(p, segment.sequence, tile);
        ahead.offset = tile_offset<D>(p, segment.sequence, kv_head, tile, page);
    }
    ahead.count = __popc(__ballot_sync(kAll, has_tile));
    ahead.next = 0;
    ahead.tile += kWarpSize * step;
    return true;
}

/// Starts the copy of the next tile, if there is one, into a slot that nobody reads.
template <int D>
__device__ __forceinline__ void ask(Ahead& ahead,
                                    const Problem& p,
                                    int end,
                                    Slot<D>& slot,
                                    wb::ptx::Mbarrier& full,
                                    int warp,
                                    int lane) {
    while (ahead.next == ahead.count) {
        if (!look_up<D>(ahead, p, end, warp, lane)) return;
    }
    if (lane == ahead.next) {
        wb::ptx::mbarrier_expect(&full, sizeof(Slot<D>));
        wb::ptx::bulk_load(slot.k, p.k + ahead.offset, sizeof(slot.k), &full);
        wb::ptx::bulk_load(slot.v, p.v + ahead.offset, sizeof(slot.v), &full);
    }
    ++ahead.next;
}
// #endregion v6-ahead

/// This lane's part of a tile, from shared memory.
template <int D>
__device__ __forceinline__ void read_slot(Tile<D>& tile,
                                          const Slot<D>& slot,
                                          int lane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < D / 32; ++j)
            tile.k[half][j] =
                slot.k[(lane / 4 + 8 * half) * (D / 8) + lane % 4 + 4 * j];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int c = 0; c < D / 64; ++c)
            tile.v[i][c] = slot.v[value_row(lane % 4, i) * (D / 8) + lane / 4 + 8 * c];
    }
}

// #region v6-kernel
/// paged_attention_v6: v5, whose tiles come through shared memory, in bulk copies.
///
/// @tparam D  head dimension
///
/// Launch   as v5, dynamic shared memory of kRingBytes<D>; sm_90
/// Traffic  as v5
template <int D>
__global__ void __launch_bounds__(kThreads, 1)
    paged_attention_v6_kernel(const Problem p) {
    extern __shared__ uint4 s_slots[];
    __shared__ MergeBuffer<D> s_merge;
    __shared__ wb::ptx::Mbarrier s_full[kWarps * kRing<D>];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    Slot<D>* const slots = reinterpret_cast<Slot<D>*>(s_slots) + warp * kRing<D>;
    wb::ptx::Mbarrier* const full = s_full + warp * kRing<D>;
    prefetch_tables(p);
    wb::ptx::make_full_barriers(s_full);
    const int ends = ends_of(p, 0, lane);
    const Shares shares = share_out(p, ends, 2 * kWarps >> p.bundle_log2, lane);
    const int block = min(static_cast<int>(blockIdx.x), shares.blocks);
    const int end = shares.first_unit(min(block + 1, shares.blocks));
    int unit = shares.first_unit(block);
    Cursor cursor = find_sequence(p, unit, ends, lane);
    Ahead ahead{cursor, unit};
    for (int slot = 0; slot < kRing<D>; ++slot)
        ask(ahead, p, end, slots[slot], full[slot], warp, lane);
    wb::ptx::PipelineState<kRing<D>> ring;
    const int step = kWarps >> p.bundle_log2;
    for (;;) {
        const Segment segment = segment_at(p, cursor, unit, end);
        if (segment.empty()) break;
        Queries<D> queries;
        Rows<D> rows = no_rows<D>();
        int index = segment.first + (warp >> p.bundle_log2);
        if (index < segment.last) {
            const int slice = slice_of_warp(p, segment, warp);
            load_queries(queries, p, segment.sequence, slice, lane);
        }
        for (; index < segment.last; index += step) {
            Tile<D> tile;
            wb::ptx::mbarrier_wait(&full[ring.stage], ring.parity);
            read_slot(tile, slots[ring.stage], lane);
            __syncwarp();  // all lanes have read it: the copy after the next may come
            ask(ahead, p, end, slots[ring.stage], full[ring.stage], warp, lane);
            ring.advance();
            const int left = segment.length - index * BN;
            float x[4];
            scores(x, queries, tile, p.scale_log2, left, lane);
            weigh(x, rows, lane);
            accumulate(rows, tile, x, left, lane);
        }
        publish(s_merge, rows, p, shares, segment);
        unit = segment.base + segment.last;
    }
    write_empty_sequences<D>(p);
}
// #endregion v6-kernel

}  // namespace stream_k

// #region v6-launch
static void paged_attention_v6(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    using namespace stream_k;
    const auto kernel = cache.head_dim == 64 ? paged_attention_v6_kernel<64>
                                             : paged_attention_v6_kernel<128>;
    constexpr size_t kBytes = kRingBytes<128>;
    static_assert(kRingBytes<64> == kBytes);
    const auto launch = [&](const Problem& p, int blocks) {
        kernel<<<blocks, kThreads, kBytes, stream>>>(p);
    };
    const bool has_bulk_copies = wb::compute_capability() >= 90;
    if (!has_bulk_copies || !wb::allow_shared(kernel, kBytes) ||
        !with_problem(
            cache, q, o, lse, query_heads, scale, workspace, stream, launch)) {
        paged_attention_v5(cache, q, o, lse, query_heads, scale, workspace, stream);
    }
}
// #endregion v6-launch
WB_RUNG(paged_attention, paged_attention_v6, "tiles by bulk copies");
