/// wb/hopper_gemm/plan.h: arithmetic without a GPU: sizes of tiles, the order of tiles,
/// parts of K, and how long a product should take. common/testing/tests has its tests.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace wb::hopper_gemm {

/// The sizes of one kernel.
struct Tiling {
    int block_rows = 128;        ///< BM: of C, computed by a block
    int block_columns = 256;     ///< BN: a multiple of 64
    int stages = 4;              ///< tiles of A and of B in shared memory
    int consumers = 2;           ///< warpgroups that multiply, each BM / consumers rows
    int cluster_rows = 1;        ///< blocks of a cluster below each other: share B
    int cluster_columns = 1;     ///< blocks of a cluster side by side: share A
    int store_buffers = 2;       ///< panels of C a warp; 0: stored from registers
    int producer_registers = 0;  ///< of a thread; 0: as the launch has it
    int consumer_registers = 0;
};

// #region order
/// A cluster's tile of C: its row and its column among all of them.
struct ClusterTile {
    int down;
    int across;
};

/// Tile number `tile` of 0 <= tile < down * across.
///
/// Blocks that run at the same time read rows of A and columns of B from the L2 cache
/// together. In rows of C, 132 of them would need a few rows of A and all of B; in
/// bands of `band` rows of tiles, column by column, they make up a square, and need the
/// least of both. Every other band goes backwards: it begins with the columns of B that
/// the band before has just used.
__host__ __device__ __forceinline__ ClusterTile cluster_tile(int tile,
                                                             int down,
                                                             int across,
                                                             int band) {
    const int of_band = band * across;
    const int number = tile / of_band;
    const int rest = tile - number * of_band;
    const int first = number * band;
    const int rows = band < down - first ? band : down - first;
    const int along = rest / rows;
    return {first + rest - along * rows, number % 2 == 0 ? along : across - 1 - along};
}
// #endregion order

/// Stages along K: from begin to end, without end.
struct Steps {
    int begin;
    int end;
};

// #region parts
/// How K is cut: all parts have as many stages, but for the last.
struct Parts {
    int count;
    int steps;  ///< of each: count * steps >= all > (count - 1) * steps
    int all;    ///< stages of a tile

    /// About so many parts, none of them empty.
    ///
    /// @param all     stages of a tile, > 0
    /// @param wanted  > 0
    static Parts of(int all, int wanted) {
        const int steps = wb::ceil_div(all, wanted);
        return {wb::ceil_div(all, steps), steps, all};
    }

    /// The stages of 0 <= part < count.
    __host__ __device__ __forceinline__ Steps operator[](int part) const {
        const int begin = part * steps;
        return {begin, all - begin < steps ? all : begin + steps};
    }

    /// Bytes of the sums of all parts, for a C of M x N.
    double bytes(int64_t M, int64_t N) const {
        return 4.0 * static_cast<double>(M) * static_cast<double>(N) * count;
    }
};
// #endregion parts

// #region candidate
/// Tiles that may be taken, and how long they take on an H100, in nanoseconds.
struct Candidate {
    Tiling tiling;
    int band;            ///< rows of clusters that are worked on together
    int step_ns;         ///< of a stage, with all multiprocessors at work
    int tile_ns;         ///< of a tile, beside its stages
    int most_parts = 1;  ///< that K may be cut into
};

/// Of any launch: until the first stage is there, and since the last one is.
inline constexpr double kLaunchNs = 5000.0;
/// Of the second kernel of a product in parts: a guess, as the next one. A sweep made
/// since then says that parts cost more (chapter 04-wgmma-tma, "Other shapes").
inline constexpr double kTotalNs = 3000.0;
/// Bytes a nanosecond at which sums of parts are written, and read again: L2's.
inline constexpr double kPartsBytesPerNs = 4000.0;
/// What parts may need, that most of it stays in L2, and a call's memory is bounded.
inline constexpr double kMostPartsBytes = 0x1p25;
/// Stages that are worth a cluster.
inline constexpr int kLeastSteps = 4;

/// How a product is done with a candidate.
struct Plan {
    double ns = std::numeric_limits<double>::infinity();
    int parts = 1;  ///< as many are wanted; see Parts::of()
};

/// How long so many parts should take.
///
/// @param M, N             of C, > 0
/// @param multiprocessors  > 0
inline double time_of(
    const Candidate& c, int64_t M, int64_t N, const Parts& parts, int multiprocessors) {
    const Tiling& t = c.tiling;
    const int of_cluster = t.cluster_rows * t.cluster_columns;
    const int64_t tiles = wb::ceil_div(M, int64_t{t.block_rows} * t.cluster_rows) *
                          wb::ceil_div(N, int64_t{t.block_columns} * t.cluster_columns);
    const int64_t room = std::max(multiprocessors / of_cluster, 1);
    const auto rounds = static_cast<double>(wb::ceil_div(tiles * parts.count, room));
    const double of_part = static_cast<double>(parts.steps) * c.step_ns + c.tile_ns;
    double ns = kLaunchNs + rounds * of_part;
    if (parts.count > 1) ns += kTotalNs + 2.0 * parts.bytes(M, N) / kPartsBytesPerNs;
    return ns;
}

/// The best plan for these tiles; of equals, the one with the fewest parts.
///
/// @param M, N             of C, > 0
/// @param steps            stages of a tile, > 0
/// @param multiprocessors  > 0
inline Plan plan_of(
    const Candidate& c, int64_t M, int64_t N, int steps, int multiprocessors) {
    Plan best;
    for (int wanted = 1; wanted <= c.most_parts; ++wanted) {
        const Parts parts = Parts::of(steps, wanted);
        const bool is_worth_it =
            parts.steps >= kLeastSteps && parts.bytes(M, N) <= kMostPartsBytes;
        if (parts.count > 1 && !is_worth_it) break;
        const double ns = time_of(c, M, N, parts, multiprocessors);
        if (ns < best.ns) best = {ns, wanted};
    }
    return best;
}
// #endregion candidate

}  // namespace wb::hopper_gemm
