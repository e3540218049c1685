// 05_work.cuh: how the blocks of paged_attention_v5 share the work out.
//
// A unit is 16 keys of one sequence, for one group of heads. All units of all
// sequences stand in one row, and every block takes an equal, contiguous piece of it:
//
//     sequence 0               sequence 1 (long)                     sequence 2
//     heads A   heads B        heads A            heads B            A     B
//     |---------|---------|------------------|------------------|-----|-----|
//     |  block 0   |  block 1   |  block 2   |  block 3   |  block 4   |
//
// However different the lengths, no block has more to do than another. What a block has
// of one sequence and one group of heads is a segment; blocks that share a pair of
// these have to merge what they found.
#pragma once

#include "05_tile_of_keys.cuh"

#include <wb/paged_cache.h>

namespace stream_k {

/// The kernel's argument. Counts fit into an int: the launcher sees to it.
struct Problem {
    const __nv_bfloat16* q;      // [batch, query_heads, D]
    const __nv_bfloat16* k;      // [num_pages, kv_heads, page_size, D]
    const __nv_bfloat16* v;      // [num_pages, kv_heads, page_size, D]
    const int32_t* block_table;  // [batch, pages_per_sequence]
    const int32_t* lengths;      // [batch]
    __nv_bfloat16* o;            // [batch, query_heads, D]
    float* lse;                  // [batch, query_heads] or null
    float* part_o;               // [blocks, 2, bundle, heads, D]
    float2* part_max_sum;        // [blocks, 2, bundle, heads]
    uint32_t* counters;          // [batch, bundles]
    wb::PagedStatus* status;
    int batch;
    int query_heads;
    int kv_heads;
    int group;        // query heads of one K/V head
    int slices;       // in how many parts a warp's heads take a group: 1 up to 8 heads
    int heads;        // query heads of a slice
    int bundle_log2;  // of the slices that a block works on at once, one a warp: 0 to 3
    int bundles;      // kv_heads * slices >> bundle_log2
    int page_size;
    int tiles_per_page_log2;
    int pages_per_sequence;
    int num_pages;
    float scale_log2;
};

/// The tokens of a sequence; none if the table has no room for them.
__device__ __forceinline__ int length_of(const Problem& p, int sequence) {
    const int length = p.lengths[sequence];
    const auto capacity = static_cast<unsigned>(p.pages_per_sequence * p.page_size);
    return static_cast<unsigned>(length) <= capacity ? length : 0;
}

/// Units of a sequence: tiles of keys times bundles of heads; 0 past the last one.
__device__ __forceinline__ int units_of(const Problem& p, int sequence) {
    if (sequence >= p.batch) return 0;
    return (length_of(p, sequence) + BN - 1) / BN * p.bundles;
}

// #region v5-shares
/// The row of all units, cut into pieces that differ by one at most.
struct Shares {
    int total;      ///< units
    int blocks;     ///< that have any
    int quotient;   ///< units of a block ...
    int remainder;  ///< ... and how many blocks have one more: the first ones

    __device__ __forceinline__ int first_unit(int block) const {
        return quotient * block + min(block, remainder);
    }
    __device__ __forceinline__ int block_of(int unit) const {
        const int larger = remainder * (quotient + 1);
        return unit < larger ? unit / (quotient + 1)
                             : remainder + (unit - larger) / quotient;
    }
};
// #endregion v5-shares

/// This lane's number, and those of the lanes before it.
__device__ __forceinline__ int sum_up_to(int number, int lane) {
    for (int step = 1; step < kWarpSize; step *= 2) {
        const int before = __shfl_up_sync(kAll, number, step);
        if (lane >= step) number += before;
    }
    return number;
}

/// Where each of 32 sequences, one a lane, ends in the row of units, counted from the
/// first of them.
__device__ __forceinline__ int ends_of(const Problem& p, int first, int lane) {
    return sum_up_to(units_of(p, first + lane), lane);
}

// All this happens once in a launch, before the first load of a key. Unrolled loops
// would be no faster: their instructions have to be fetched from memory, too.

/// Each warp computes this by itself.
/// @param ends    of the first 32 sequences
/// @param fewest  units for which it is worth starting a block
__device__ __forceinline__ Shares share_out(const Problem& p,
                                            int ends,
                                            int fewest,
                                            int lane) {
    Shares shares;
    shares.total = __shfl_sync(kAll, ends, kWarpSize - 1);
#pragma unroll 1
    for (int first = kWarpSize; first < p.batch; first += kWarpSize) {
        shares.total += __shfl_sync(kAll, ends_of(p, first, lane), kWarpSize - 1);
    }
    const int useful = (shares.total + fewest - 1) / fewest;
    shares.blocks = min(static_cast<int>(gridDim.x), max(useful, 1));
    shares.quotient = shares.total / shares.blocks;
    shares.remainder = shares.total - shares.quotient * shares.blocks;
    return shares;
}

/// A place in the row of units: a sequence, and the unit with which it begins.
struct Cursor {
    int sequence;
    int base;
};

/// The sequence that a unit belongs to.
/// @param ends  of the first 32 sequences
__device__ __forceinline__ Cursor find_sequence(const Problem& p,
                                                int unit,
                                                int ends,
                                                int lane) {
    int first = 0;
    int base = 0;
    for (;;) {
        const unsigned beyond = __ballot_sync(kAll, unit < base + ends);
        const int found = beyond != 0 ? __ffs(static_cast<int>(beyond)) - 1 : kWarpSize;
        const int before = __shfl_sync(kAll, ends, max(found - 1, 0));
        if (found > 0) base += before;
        first += found;
        if (beyond != 0 || first >= p.batch) return {first, base};
        ends = ends_of(p, first, lane);
    }
}

/// A block's piece of one pair of a sequence and a bundle of heads.
struct Segment {
    int sequence;
    int bundle;
    int length;  ///< tokens of the sequence
    int tiles;   ///< of the pair
    int base;    ///< the unit that is the pair's tile 0
    int first;   ///< this block's tiles ...
    int last;    ///< ... one past the last of them
    bool whole;  ///< whether these are all tiles of the pair

    __device__ __forceinline__ bool empty() const { return first >= last; }
};

/// The segment that begins with a unit, or an empty one at the end of the share.
/// @param cursor  at the unit's sequence or before it; moved there
/// @param end     one past the last unit of the share
__device__ __forceinline__ Segment segment_at(const Problem& p,
                                              Cursor& cursor,
                                              int unit,
                                              int end) {
    Segment segment{};
    if (unit >= end) return segment;
#pragma unroll 1
    for (;;) {
        segment.length = length_of(p, cursor.sequence);
        segment.tiles = (segment.length + BN - 1) / BN;
        if (unit < cursor.base + segment.tiles * p.bundles) break;
        cursor.base += segment.tiles * p.bundles;
        ++cursor.sequence;
    }
    segment.sequence = cursor.sequence;
    segment.bundle = (unit - cursor.base) / segment.tiles;
    segment.base = cursor.base + segment.bundle * segment.tiles;
    segment.first = unit - segment.base;
    segment.last = min(segment.tiles, end - segment.base);
    segment.whole = segment.first == 0 && segment.last == segment.tiles;
    return segment;
}

/// The table's entry for a tile, whatever it is: the load is started, nobody waits.
__device__ __forceinline__ int page_of(const Problem& p, int sequence, int tile) {
    return p.block_table[static_cast<int64_t>(sequence) * p.pages_per_sequence +
                         (tile >> p.tiles_per_page_log2)];
}

/// Where in k and v the 16 rows of a tile begin. A page that the pool does not have is
/// reported and never read; page 0 stands in for it, and the result is worth nothing.
/// @param page  from page_of()
template <int D>
__device__ __forceinline__ int64_t
tile_offset(const Problem& p, int sequence, int kv_head, int tile, int page) {
    const int index = tile >> p.tiles_per_page_log2;
    if (static_cast<unsigned>(page) >= static_cast<unsigned>(p.num_pages)) {
        wb::report_fault(p.status, wb::PagedFault::page, sequence, index, page);
        page = 0;
    }
    const int slot = tile * BN - index * p.page_size;
    return ((static_cast<int64_t>(page) * p.kv_heads + kv_head) * p.page_size + slot) *
           D;
}

}  // namespace stream_k
