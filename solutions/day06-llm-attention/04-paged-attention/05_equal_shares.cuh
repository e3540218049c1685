// 05_equal_shares.cuh: paged_attention_v5, its kernel and launch. 05_work.cuh shares
// the work out, 05_tile_of_keys.cuh is what a warp does with 16 keys, 05_merge.cuh
// makes one of several parts. Included by paged_attention.cu, below v4.
#pragma once

#include "paged_attention.h"

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/online_softmax.h>
#include <wb/scratch.h>

#include <algorithm>
#include <bit>

#include "05_merge.cuh"

namespace stream_k {

/// Asks for the lines of the tables that all blocks are going to need, long before
/// anybody knows which of them a block needs.
template <int kWarps>
__device__ __forceinline__ void prefetch_tables(const Problem& p) {
    constexpr int kLine = 128 / sizeof(int32_t);
    const int64_t entries = static_cast<int64_t>(p.batch) * p.pages_per_sequence;
    const int64_t i = int64_t{blockIdx.x} * kWarps * kWarpSize + threadIdx.x;
    if (i * kLine < entries) wb::ptx::prefetch_l2(p.block_table + i * kLine);
}

/// A sequence without tokens has no unit, so nobody works on it: zeros and -inf. Among
/// them are those whose length is impossible: here it is reported.
template <int D, int kWarps>
__device__ __forceinline__ void write_empty_sequences(const Problem& p) {
    constexpr int kThreads = kWarps * kWarpSize;
#pragma unroll 1
    for (int b = blockIdx.x; b < p.batch; b += gridDim.x) {
        if (length_of(p, b) > 0) continue;
        if (p.lengths[b] != 0 && threadIdx.x == 0)
            wb::report_fault(p.status, wb::PagedFault::length, b, 0, p.lengths[b]);
        const int64_t first = static_cast<int64_t>(b) * p.query_heads;
#pragma unroll 1
        for (int i = threadIdx.x; i < p.query_heads * (D / 4); i += kThreads) {
            reinterpret_cast<uint2*>(p.o + first * D)[i] = make_uint2(0, 0);
        }
        if (p.lse == nullptr) continue;
#pragma unroll 1
        for (int h = threadIdx.x; h < p.query_heads; h += kThreads) {
            p.lse[first + h] = -INFINITY;
        }
    }
}

/// Which slice of all heads a warp works on: the block's warps take its bundle's slices
/// in turn, and those of the same slice take its tiles in turn.
__device__ __forceinline__ int slice_of_warp(const Problem& p,
                                             const Segment& segment,
                                             int warp) {
    return (segment.bundle << p.bundle_log2) + (warp & ((1 << p.bundle_log2) - 1));
}

/// What a warp has under way: its next tile, and its place in the segment.
template <int D>
struct Stream {
    Queries<D> queries;  ///< of the segment
    Tile<D> tile;        ///< being loaded
    int index;           ///< of that tile in the pair
    int next_page;       ///< of the tile after it
    int kv_head;
};

/// Starts the loads of a warp's query heads: row g of the fragment is head g of the
/// slice, rows past the slice are zero.
template <int D>
__device__ __forceinline__ void load_queries(
    Queries<D>& queries, const Problem& p, int sequence, int slice, int lane) {
    const int in_group = slice % p.slices * p.heads + lane / 4;
    const bool used = lane / 4 < p.heads && in_group < p.group;
    const int head = slice / p.slices * p.group + in_group;
    const __nv_bfloat16* const mine =
        p.q + (static_cast<int64_t>(sequence) * p.query_heads + head) * D +
        lane % 4 * 8;
#pragma unroll
    for (int j = 0; j < D / 32; ++j) {
        queries.q[j] = make_uint4(0, 0, 0, 0);
        if (used) queries.q[j] = *reinterpret_cast<const uint4*>(mine + 32 * j);
    }
}

/// Starts the loads of a warp's queries and first tile of a segment. What a load needs
/// comes first, what can wait comes last.
template <int D, int kWarps>
__device__ __forceinline__ void start(
    Stream<D>& stream, const Problem& p, const Segment& segment, int warp, int lane) {
    const int step = kWarps >> p.bundle_log2;
    const int slice = slice_of_warp(p, segment, warp);
    const int tile = segment.first + (warp >> p.bundle_log2);
    stream.index = tile;
    if (tile >= segment.last) return;
    const int page = page_of(p, segment.sequence, tile);
    if (tile + step < segment.last)
        stream.next_page = page_of(p, segment.sequence, tile + step);
    load_queries(stream.queries, p, segment.sequence, slice, lane);
    stream.kv_head = slice / p.slices;
    const int64_t offset =
        tile_offset<D>(p, segment.sequence, stream.kv_head, tile, page);
    load_keys<D>(stream.tile, p.k + offset, lane);
    load_values<D>(stream.tile, p.v + offset, lane);
}

// #region v5-run
/// All tiles of a segment that are this warp's: while one is computed, the next one is
/// under way, and so is the table's entry for the one after that.
template <int D, int kWarps>
__device__ __forceinline__ void run(Rows<D>& rows,
                                    Stream<D>& stream,
                                    const Problem& p,
                                    const Segment& segment,
                                    int lane) {
    const int step = kWarps >> p.bundle_log2;
    while (stream.index < segment.last) {
        const int left = segment.length - stream.index * BN;
        const int next = stream.index + step;
        const bool more = next < segment.last;
        float x[4];
        scores(x, stream.queries, stream.tile, p.scale_log2, left, lane);
        int64_t offset = 0;
        if (more) {
            offset = tile_offset<D>(
                p, segment.sequence, stream.kv_head, next, stream.next_page);
            load_keys<D>(stream.tile, p.k + offset, lane);
        }
        if (next + step < segment.last)
            stream.next_page = page_of(p, segment.sequence, next + step);
        weigh(x, rows, lane);
        accumulate(rows, stream.tile, x, left, lane);
        if (more) load_values<D>(stream.tile, p.v + offset, lane);
        stream.index = next;
    }
}
// #endregion v5-run

/// Warps of a block, and blocks that a multiprocessor holds at once.
///
/// A tile of 64 dimensions has half the bytes of one of 128, so that twice the warps
/// are wanted, and 128 registers a thread leave room for them. Four small blocks do
/// better than two large ones: when a segment ends, the warps of a block wait for each
/// other.
/// But where many blocks share a pair of a sequence and a bundle, the last one of them
/// has many parts to merge: that takes longer than is gained.
struct Crew {
    int warps;
    int together;
    int fewest;  ///< tiles of a pair for which a second block is worth its merge
};
constexpr Crew kFewPairs{8, 1, 1};
constexpr Crew kManyPairs{4, 4, 32};

// #region v5-kernel
/// paged_attention_v5: tensor cores, equal shares of all keys, merged by who is last.
///
/// @tparam D          head dimension
/// @tparam kWarps     of a block
/// @tparam kTogether  blocks that a multiprocessor holds at once
///
/// Launch   grid of any size, as many blocks as run at once; block kWarps warps, static
///          shared memory of sizeof(MergeBuffer<D, kWarps>)
/// Traffic  reads K, V and q once, writes o; besides, 4 (D + 2) bytes for each query
///          head of each segment
template <int D, int kWarps, int kTogether>
__global__ void __launch_bounds__(kWarps* kWarpSize, kTogether)
    paged_attention_v5_kernel(const Problem p) {
    __shared__ MergeBuffer<D, kWarps> s_merge;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    prefetch_tables<kWarps>(p);
    const int ends = ends_of(p, 0, lane);
    const Shares shares = share_out(p, ends, 2 * kWarps >> p.bundle_log2, lane);
    const int block = min(static_cast<int>(blockIdx.x), shares.blocks);
    const int end = shares.first_unit(min(block + 1, shares.blocks));
    int unit = shares.first_unit(block);
    Cursor cursor = find_sequence(p, unit, ends, lane);
    Segment segment{};  // none yet
    Stream<D> stream;
    Rows<D> rows;
    for (;;) {
        // The next segment's first tile is on its way while this one is merged.
        const Segment next = segment_at(p, cursor, unit, end);
        if (!next.empty()) start<D, kWarps>(stream, p, next, warp, lane);
        if (!segment.empty()) publish(s_merge, rows, p, shares, segment);
        if (next.empty()) break;
        segment = next;
        rows = no_rows<D>();
        run<D, kWarps>(rows, stream, p, segment, lane);
        unit = segment.base + segment.last;
    }
    write_empty_sequences<D, kWarps>(p);
}
// #endregion v5-kernel

/// What the launcher has to know about a GPU.
struct Gpu {
    int multiprocessors;
    bool has_mma;  ///< mma.sync.m16n8k16 of bfloat16: sm_80
};

inline Gpu current_gpu() {
    int device = 0;
    int major = 0;
    Gpu gpu{};
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &gpu.multiprocessors, cudaDevAttrMultiProcessorCount, device));
    gpu.has_mma = major >= 8;
    return gpu;
}

/// Slices of heads that a block works on at once: 1, 2 or 4. Heads lie side by side in
/// a page, so that several of them make longer stretches of memory. But the fewer pairs
/// of a sequence and a bundle, the more blocks share one, and have to merge.
inline int bundle_log2(const wb::PagedCache& cache, int64_t slices, int blocks) {
    const int64_t heads = cache.kv_heads * slices;
    int log2 = 0;
    while (log2 < 2 && heads % (2 << log2) == 0 &&
           cache.batch * heads / (2 << log2) >= blocks * 3 / 4) {
        ++log2;
    }
    return log2;
}

/// The blocks for a cache. With D = 64, many small ones, unless more than about 32 of
/// them would share one pair of a sequence and a K/V head.
inline Crew crew_of(const wb::PagedCache& cache, int64_t slices, int multiprocessors) {
    constexpr int kMostParts = 32;
    const int64_t pairs = cache.batch * cache.kv_heads * slices;
    const bool many = pairs * kMostParts >= multiprocessors * kManyPairs.together;
    return cache.head_dim == 64 && many ? kManyPairs : kFewPairs;
}

/// As many blocks as run at once, or as are worth it. Sequences are often of nearly the
/// same length: with a few blocks less, pairs of a sequence and a bundle may come out
/// even, and no block has to begin a second pair shortly before its end.
///
/// @param tiles  of the longest pair
inline int num_blocks(const Crew& crew, int together, int64_t pairs, int64_t tiles) {
    const int64_t useful = std::max(pairs, pairs * tiles / crew.fewest);
    const int most = static_cast<int>(std::clamp<int64_t>(useful, 1, together));
    const int fewest = most - most / 16;
    for (int blocks = most; blocks >= fewest; --blocks) {
        if (pairs % blocks == 0 || blocks % pairs == 0) return blocks;
    }
    return most;
}

}  // namespace stream_k

static void paged_attention_v5(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    using namespace stream_k;
    const Gpu gpu = current_gpu();
    const int64_t group = query_heads / cache.kv_heads;
    const int64_t slices = wb::ceil_div(group, int64_t{kMaxHeads});
    const Crew crew = crew_of(cache, slices, gpu.multiprocessors);
    const int together = gpu.multiprocessors * crew.together;
    const int log2 = bundle_log2(cache, slices, together);
    const int64_t pairs = cache.batch * (cache.kv_heads * slices >> log2);
    const int64_t tiles = wb::ceil_div(cache.capacity(), int64_t{BN});
    const int64_t units = pairs * tiles;
    if (!gpu.has_mma || units > INT32_MAX / 2) {
        return paged_attention_v4(
            cache, q, o, lse, query_heads, scale, workspace, stream);
    }
    Problem p{};
    p.q = q;
    p.k = cache.k;
    p.v = cache.v;
    p.block_table = cache.block_table;
    p.lengths = cache.lengths;
    p.o = o;
    p.lse = lse;
    p.counters = workspace.counters();
    p.status = workspace.status();
    p.batch = static_cast<int>(cache.batch);
    p.query_heads = static_cast<int>(query_heads);
    p.kv_heads = static_cast<int>(cache.kv_heads);
    p.group = static_cast<int>(group);
    p.slices = static_cast<int>(slices);
    p.heads = static_cast<int>(wb::ceil_div(group, slices));
    p.bundle_log2 = log2;
    p.bundles = static_cast<int>(cache.kv_heads * slices >> log2);
    p.page_size = static_cast<int>(cache.page_size);
    p.tiles_per_page_log2 = std::countr_zero(static_cast<unsigned>(p.page_size / BN));
    p.pages_per_sequence = static_cast<int>(cache.pages_per_sequence);
    p.num_pages = static_cast<int>(cache.num_pages);
    p.scale_log2 = scale * static_cast<float>(wb::kLog2e);

    const int blocks = num_blocks(crew, together, pairs, tiles);
    const int64_t part_rows = int64_t{blocks} * 2 * (p.heads << log2);
    const int64_t part_numbers = part_rows * cache.head_dim;
    const wb::Scratch<float> parts(part_numbers + 2 * part_rows, stream);
    p.part_o = parts.data();
    p.part_max_sum = reinterpret_cast<float2*>(parts.data() + part_numbers);
    const auto kernel = cache.head_dim == 128 ? paged_attention_v5_kernel<128, 8, 1>
                        : crew.together == 1  ? paged_attention_v5_kernel<64, 8, 1>
                                              : paged_attention_v5_kernel<64, 4, 4>;
    kernel<<<blocks, crew.warps * kWarpSize, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(paged_attention, paged_attention_v5, "tensor cores, equal shares");
