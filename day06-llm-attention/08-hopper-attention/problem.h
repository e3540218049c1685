// problem.h: given with this exercise: what a kernel is asked to compute, and how it is
// cut into tiles of rows, one after the other in an order that suits the machine.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/launch.h>
#include <wb/paged_cache.h>
#include <wb/ptx/tma.h>

#include <cstdint>

/// Where the rows of the sequences lie.
enum class Source {
    dense,   ///< [batch, heads, rows, D]: all sequences are of one length
    packed,  ///< [rows, heads, D]: one sequence after the other
    paged,   ///< queries packed, keys and values in the pages of a cache
};

// #region problem
/// The same for every block of a launch.
struct Problem {
    int sequences;
    int query_heads;
    int group;      ///< query heads that share a K/V head
    int queries;    ///< rows of a sequence; of the longest one, if packed
    int keys;       ///< of a sequence, if dense
    int row_tiles;  ///< tiles of a head, of the longest sequence
    int tiles;      ///< sequences * query_heads * row_tiles
    int section;    ///< heads whose tiles are worked on together, see work_of
    int copy_rows;  ///< keys that one copy by the TMA unit brings
    bool causal;
    float scale_log2;             ///< scale * log2(e), > 0
    const int32_t* query_starts;  ///< packed and paged
    const int32_t* key_starts;    ///< packed
    wb::PagedCache cache;         ///< paged
    wb::PagedStatus* status;      ///< paged
    void* o;
    int64_t o_sequence, o_head, o_row;  ///< elements between neighbours
    float* lse;                         ///< or null
    int64_t lse_sequence, lse_head;
    wb::ptx::TensorMap o_map;  ///< of o, where the TMA unit stores it
    unsigned* counter;  ///< of tiles that were taken, 0 at the start, or null (v5)
};

/// One tile: kRows rows of q of one head, against all the keys that they see.
struct Work {
    int sequence;
    int head;
    int kv_head;
    int row;          ///< the first one, counted in its sequence
    int queries;      ///< of this sequence
    int keys;         ///< of this sequence
    int query_start;  ///< where the sequence begins in q; 0 if dense
    int key_start;    ///< where it begins in k and v
    int blocks;       ///< of keys to go through; 0: the sequence has no such rows
};
// #endregion problem

/// Keys that a row sees: those before the returned one. Rows past the end see what the
/// last one does.
__device__ __forceinline__ int key_limit(const Problem& problem,
                                         const Work& work,
                                         int row) {
    return min(work.keys,
               wb::visible_keys(work.queries, work.keys, problem.causal, row));
}

/// Blocks of keys that `rows` rows from `row` on have to go through; 0 if the sequence
/// has no such rows. Rows that see nothing go through one block, all of it masked: no
/// special case.
template <class Tiling>
__device__ __forceinline__ int blocks_seen(const Problem& problem,
                                           const Work& work,
                                           int row,
                                           int rows) {
    if (row >= work.queries) return 0;
    const int seen = key_limit(problem, work, min(row + rows, work.queries) - 1);
    return max(1, (seen + Tiling::kKeys - 1) / Tiling::kKeys);
}

/// Which head and which tile of its rows have number `tile`.
///
/// Without a mask, one head after the other: the blocks that run at the same time read
/// the same keys from the L2 cache.
///
/// With a causal mask the last tiles of a head have the most keys. Whoever starts such
/// a tile last keeps everybody waiting; so they come first. But not those of all heads:
/// then the keys of all heads would have to stay in the cache. Heads are taken in
/// sections whose keys fit, and of each section all longest tiles first.
struct TileNumber {
    int head;  ///< of all sequences: sequence * query_heads + head
    int tile;
};
__device__ __forceinline__ TileNumber tile_number(const Problem& problem, int tile) {
    if (!problem.causal) {
        const int head = tile / problem.row_tiles;
        return {head, tile - head * problem.row_tiles};
    }
    const int first = tile / (problem.section * problem.row_tiles) * problem.section;
    const int heads =
        min(problem.section, problem.sequences * problem.query_heads - first);
    const int rest = tile - first * problem.row_tiles;
    const int from_last = rest / heads;
    return {first + rest - from_last * heads, problem.row_tiles - 1 - from_last};
}

/// What to do for tile number `tile`, 0 <= tile < problem.tiles.
template <class Tiling, Source kSource>
__device__ __forceinline__ Work work_of(const Problem& problem, int tile) {
    const TileNumber number = tile_number(problem, tile);
    Work work;
    work.sequence = number.head / problem.query_heads;
    work.head = number.head - work.sequence * problem.query_heads;
    work.kv_head = work.head / problem.group;
    work.row = number.tile * Tiling::kRows;
    work.queries = problem.queries;
    work.keys = problem.keys;
    work.query_start = 0;
    work.key_start = 0;
    if constexpr (kSource != Source::dense) {
        work.query_start = problem.query_starts[work.sequence];
        work.queries = problem.query_starts[work.sequence + 1] - work.query_start;
    }
    if constexpr (kSource == Source::packed) {
        work.key_start = problem.key_starts[work.sequence];
        work.keys = problem.key_starts[work.sequence + 1] - work.key_start;
    }
    if constexpr (kSource == Source::paged) {
        work.keys = static_cast<int>(
            wb::checked_length(problem.cache, work.sequence, problem.status));
    }
    work.blocks = blocks_seen<Tiling>(problem, work, work.row, Tiling::kRows);
    return work;
}
