// tiles.h: given with this exercise: what a kernel is asked to compute, how that is cut
// into tiles, where a tile lies in shared memory, and the launch.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/attention_rows.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/paged_cache.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
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
    int tiles;      ///< sequences * query_heads * row_tiles; more if v5 cuts some
    int section;    ///< heads whose tiles are worked on together, see work_of
    int copy_rows;  ///< keys that one copy by the TMA unit brings; 0: a whole block
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

/// One tile: BM rows of q of one head, against all the keys that they see.
struct TileWork {
    int sequence;
    int head;
    int kv_head;
    int row;          ///< the first one, counted in its sequence
    int queries;      ///< of this sequence
    int keys;         ///< of this sequence
    int query_start;  ///< where the sequence begins in q; 0 if dense
    int key_start;    ///< where it begins in k and v
    int blocks;       ///< of keys to go through; 0: the sequence has no such rows
    int cut;          ///< its number among the tiles that v5 cuts; -1: it is whole
};
// #endregion problem

/// The three tensors, as the TMA unit knows them: dimensions D, rows, heads, sequences
/// (pages, if paged). A kernel's parameters, and only for that declared like this:
/// `const __grid_constant__ TensorMaps maps`.
struct TensorMaps {
    wb::ptx::TensorMap q, k, v;
};

/// Keys that a row sees: those before the returned one. Rows past the end see what the
/// last one does.
__device__ __forceinline__ int key_limit(const Problem& problem,
                                         const TileWork& work,
                                         int row) {
    return min(work.keys,
               wb::visible_keys(work.queries, work.keys, problem.causal, row));
}

/// Blocks of keys that `rows` rows from `row` on have to go through; 0 if the sequence
/// has no such rows. Rows that see nothing go through one block, all of it masked: no
/// special case.
template <class Sizes>
__device__ __forceinline__ int blocks_seen(const Problem& problem,
                                           const TileWork& work,
                                           int row,
                                           int rows) {
    if (row >= work.queries) return 0;
    const int seen = key_limit(problem, work, min(row + rows, work.queries) - 1);
    return max(1, (seen + Sizes::BN - 1) / Sizes::BN);
}

/// Which head and which tile of its rows have a number.
struct TileNumber {
    int head;  ///< of all sequences: sequence * query_heads + head
    int tile;
};

/// With a causal mask the last tiles of a head have the most keys. Whoever starts such
/// a tile last keeps everybody waiting; so they come first. But not those of all heads:
/// then the keys of all heads would have to stay in the cache. Heads are taken in
/// sections whose keys fit, and of each section all longest tiles first.
__device__ __forceinline__ TileNumber longest_first(const Problem& problem, int tile) {
    const int first = tile / (problem.section * problem.row_tiles) * problem.section;
    const int heads =
        min(problem.section, problem.sequences * problem.query_heads - first);
    const int rest = tile - first * problem.row_tiles;
    const int from_last = rest / heads;
    return {first + rest - from_last * heads, problem.row_tiles - 1 - from_last};
}

/// Without a mask, one head after the other: the blocks that run at the same time read
/// the same keys from the L2 cache.
__device__ __forceinline__ TileNumber tile_number(const Problem& problem, int tile) {
    if (!problem.causal) {
        const int head = tile / problem.row_tiles;
        return {head, tile - head * problem.row_tiles};
    }
    return longest_first(problem, tile);
}

/// What to do for tile number `tile`, 0 <= tile < problem.tiles.
template <class Sizes, Source kSource>
__device__ __forceinline__ TileWork work_of(const Problem& problem, int tile) {
    const TileNumber number = tile_number(problem, tile);
    TileWork work;
    work.sequence = number.head / problem.query_heads;
    work.head = number.head - work.sequence * problem.query_heads;
    work.kv_head = work.head / problem.group;
    work.row = number.tile * Sizes::BM;
    work.queries = problem.queries;
    work.keys = problem.keys;
    work.query_start = 0;
    work.key_start = 0;
    work.cut = -1;
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
    work.blocks = blocks_seen<Sizes>(problem, work, work.row, Sizes::BM);
    return work;
}

/// Rows that one warpgroup multiplies: the M of wgmma.
inline constexpr int kGroupRows = 64;

// #region tiling
/// The sizes of one kernel.
struct Tiling {
    int head_dim;            ///< D
    int block_rows;          ///< of q: 64 for each warpgroup that consumes
    int block_keys;          ///< a multiple of 16
    int stages;              ///< blocks of keys, and of values, in shared memory
    int query_stages = 1;    ///< tiles of q there: 2 let the next one come early
    bool tma_store = false;  ///< whether the TMA unit stores o, if dense (v5)
};

/// What follows from them, for numbers of type T: `Sizes` in the kernels.
template <class T_, Tiling kTiling>
struct TileSizes {
    using T = T_;
    static constexpr int D = kTiling.head_dim;
    static constexpr int BM = kTiling.block_rows;
    static constexpr int BN = kTiling.block_keys;
    static constexpr int kStages = kTiling.stages;
    static constexpr int kQueryStages = kTiling.query_stages;
    static constexpr bool kTmaStore = kTiling.tma_store;
    static_assert(BM % kGroupRows == 0 && BN % 16 == 0, "whole wgmmas");
    static constexpr int kWarpgroups = BM / kGroupRows;  ///< that consume
    /// One more warpgroup produces.
    static constexpr int kThreads = wb::ptx::kWarpgroup * (kWarpgroups + 1);
    /// Columns of a panel: 128 bytes, the width of the swizzle. A tile is kPanels of
    /// them, one after the other.
    static constexpr int kPanel = wb::ptx::kSwizzleBytes / static_cast<int>(sizeof(T));
    static constexpr int kPanels = D / kPanel;
    static constexpr int kQueryBytes = BM * D * static_cast<int>(sizeof(T));
    static constexpr int kKeyBytes = BN * D * static_cast<int>(sizeof(T));
    /// Registers of a thread that produces, and of one that consumes: what the block is
    /// launched with, 65536 / kThreads rounded down to 8, shared out anew.
    /// Two consumers with up to 128 keys can spare some for a producer that looks up
    /// pages; with D = 256, where o alone takes 128, none.
    static constexpr int kProducerRegisters = kWarpgroups == 4   ? 24
                                              : kWarpgroups == 3 ? 32
                                              : D > 128          ? 24
                                              : BN > 128         ? 40
                                                                 : 72;
    static constexpr int kConsumerRegisters = kWarpgroups == 4   ? 112
                                              : kWarpgroups == 3 ? 160
                                              : D > 128          ? 240
                                              : BN > 128         ? 232
                                                                 : 216;
};
// #endregion tiling

// #region shared
/// Everything in shared memory. A `full` barrier completes a phase when a tile has
/// arrived, an `empty` one when all consumers are done with it.
template <class Sizes>
struct alignas(1024) SharedTiles {
    using Barrier = wb::ptx::Mbarrier;
    static constexpr int kStages = Sizes::kStages;
    static constexpr int kQueryStages = Sizes::kQueryStages;

    unsigned char q[kQueryStages][Sizes::kQueryBytes];
    unsigned char k[kStages][Sizes::kKeyBytes];
    unsigned char v[kStages][Sizes::kKeyBytes];
    Barrier q_full[kQueryStages], q_empty[kQueryStages];
    Barrier k_full[kStages], k_empty[kStages];
    Barrier v_full[kStages], v_empty[kStages];
    Barrier work_full[2], work_empty[2];  ///< v5
    TileWork work[2];                     ///< v5: the next tiles, for the consumers
};

/// Bytes to ask for: dynamic shared memory need not begin at a multiple of 1024.
template <class Sizes>
inline constexpr size_t kSharedBytes = sizeof(SharedTiles<Sizes>) + 1024;

/// The block's shared memory. Swizzled tiles begin at multiples of 1024, or the data
/// that wgmma reads is not what the TMA unit wrote.
template <class Sizes>
__device__ __forceinline__ SharedTiles<Sizes>& shared_tiles(unsigned char* dynamic) {
    const uint32_t past = wb::ptx::shared_address(dynamic) % 1024;
    return *reinterpret_cast<SharedTiles<Sizes>*>(dynamic + (1024 - past) % 1024);
}

/// Makes all barriers. By the whole block.
template <class Sizes>
__device__ __forceinline__ void make_barriers(SharedTiles<Sizes>& shared) {
    using wb::ptx::mbarrier_init;
    if (threadIdx.x == 0) {
        for (int i = 0; i < Sizes::kQueryStages; ++i) {
            mbarrier_init(&shared.q_full[i], 1);
            mbarrier_init(&shared.q_empty[i], Sizes::kWarpgroups);
        }
        for (int i = 0; i < Sizes::kStages; ++i) {
            mbarrier_init(&shared.k_full[i], 1);
            mbarrier_init(&shared.k_empty[i], Sizes::kWarpgroups);
            mbarrier_init(&shared.v_full[i], 1);
            mbarrier_init(&shared.v_empty[i], Sizes::kWarpgroups);
        }
        for (int i = 0; i < 2; ++i) {
            mbarrier_init(&shared.work_full[i], 1);
            mbarrier_init(&shared.work_empty[i],
                          wb::ptx::kWarpgroup * Sizes::kWarpgroups);
        }
        wb::ptx::mbarrier_init_fence();
    }
    __syncthreads();
}
// #endregion shared

/// One call of the contract, before it is cut into tiles. calls.h makes it.
struct Call {
    wb::AttentionRows q, k, v;
    wb::AttentionRows o;  ///< of a dense call only
    Problem problem;      ///< all but what launch_tiles fills in or adds to (tiles)
    cudaStream_t stream;
};

/// Calls launch(std::integral_constant<int, D>()). No paged cache has D = 256.
template <Source kSource, class Launch>
void with_head_dim(const Call& call, Launch launch) {
    if constexpr (kSource == Source::paged) {
        wb::with_head_dim<64, 128>(call.q.head_dim, launch);
    } else {
        wb::with_head_dim<64, 128, 256>(call.q.head_dim, launch);
    }
}

/// Heads whose keys and values fit into a third of the L2 cache of an H100 together.
inline int heads_of_section(const Call& call) {
    constexpr double kBytes = 16 * 1024 * 1024;
    int64_t keys = call.k.rows;
    if (call.problem.key_starts != nullptr) keys /= call.problem.sequences;
    if (call.problem.cache.page_size > 0) keys = call.problem.cache.capacity();
    const double of_one = 4.0 * static_cast<double>(std::max<int64_t>(keys, 1)) *
                          static_cast<double>(call.q.head_dim);
    const double kv_heads = std::max(1.0, std::floor(kBytes / of_one));
    return static_cast<int>(std::min(kv_heads * call.problem.group, 1e6));
}

/// Tiles of a call: of each head as many as it has BM rows, the last one begun.
template <class Sizes>
int64_t count_tiles(const Problem& problem) {
    const int64_t heads = int64_t{problem.sequences} * problem.query_heads;
    return heads * wb::ceil_div(problem.queries, Sizes::BM);
}

// #region launch
/// Launches a kernel of the sizes `Sizes` for a call.
///
/// @param attention_kernel  takes (TensorMaps, Problem, more...)
/// @param threads  of a block
/// @param blocks   at most; 0: one for each tile
/// @param counter  of tiles that were taken, or null (v5)
template <class Sizes, class Kernel, class... More>
void launch_tiles(Kernel attention_kernel,
                  int threads,
                  unsigned blocks,
                  const Call& call,
                  unsigned* counter = nullptr,
                  const More&... more) {
    using T = typename Sizes::T;
    Problem problem = call.problem;
    const int64_t heads = int64_t{problem.sequences} * problem.query_heads;
    problem.row_tiles = wb::ceil_div(problem.queries, Sizes::BM);
    const unsigned tiles = wb::grid_size(count_tiles<Sizes>(problem), 1);
    problem.tiles += static_cast<int>(tiles);
    problem.section =
        static_cast<int>(std::min<int64_t>(heads, heads_of_section(call)));
    if (problem.copy_rows == 0) problem.copy_rows = Sizes::BN;
    if (problem.cache.page_size > 0)
        problem.copy_rows =
            static_cast<int>(std::min<int64_t>(problem.cache.page_size, Sizes::BN));
    problem.counter = counter;
    const TensorMaps maps = {wb::tensor_map<T>("q", call.q, Sizes::BM),
                             wb::tensor_map<T>("k", call.k, problem.copy_rows),
                             wb::tensor_map<T>("v", call.v, problem.copy_rows)};
    if (Sizes::kTmaStore && call.o.base != nullptr)
        problem.o_map = wb::tensor_map<T>("o", call.o, kGroupRows);
    wb::launch_kernel(attention_kernel,
                      blocks == 0 ? tiles : std::min<unsigned>(blocks, problem.tiles),
                      threads,
                      kSharedBytes<Sizes>,
                      call.stream,
                      maps,
                      problem,
                      more...);
}
// #endregion launch
