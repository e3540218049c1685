// 05_last_round.cuh: what v5 does with tiles for which there are too many
// multiprocessors.
//
// 688 tiles are five for each of 132 multiprocessors, and 28 more. While 28
// multiprocessors go through all keys once more, the others would have nothing to do:
//
//     round   0 ... 4    5
//     without ####...    ####    28 tiles; all wait for them
//     with    ####...    #       112 pieces, a quarter of the keys each
//
// A piece is a tile that sees some of the keys. What comes of it is a part: sums of
// weights, and of weights times values, beside the largest score. Two parts of a row
// become one by bringing both to the larger of their references.
#pragma once

#include <wb/device.h>
#include <wb/launch.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/fragment_softmax.h>

#include <cuda/atomic>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>

#include "tiles.h"
#include "warpgroups.h"

/// Whether v5 cuts tiles: those that the TMA unit stores.
template <class Sizes, Source kSource>
inline constexpr bool kCuts = Sizes::kTmaStore&& kSource == Source::dense;

// #region last-round
/// Which tiles are cut into pieces, and where these leave their parts.
struct LastRound {
    int first = INT_MAX;          ///< tiles from this one on are cut
    int tiles = 0;                ///< so many
    int pieces = 1;               ///< of each of them
    int blocks = 0;               ///< of keys of a piece; the last piece may have fewer
    float4* parts = nullptr;      ///< [tile, piece, D / 8 + 1, consumer]
    unsigned* arrived = nullptr;  ///< [tile, warp], 0 at the start
};

/// What is to be done for a number: a tile, or a piece of one. All tiles that are whole
/// come first.
template <class Sizes, Source kSource>
__device__ __forceinline__ TileWork work_of_number(const Problem& problem,
                                                   const LastRound& round,
                                                   int number) {
    if (number < round.first) return work_of<Sizes, kSource>(problem, number);
    const int tile = (number - round.first) / round.pieces;
    const int block = (number - round.first - tile * round.pieces) * round.blocks;
    TileWork work = work_of<Sizes, kSource>(problem, round.first + tile);
    work.cut = tile;
    work.key_start = block * Sizes::BN;
    work.keys -= work.key_start;
    work.blocks = min(work.blocks - block, round.blocks);
    return work;
}
// #endregion last-round

template <class Sizes>
inline constexpr int kConsumerWarps = 4 * Sizes::kWarpgroups;
/// What a piece leaves, in float4: of each consumer D / 8 for o, and one for references
/// and sums.
template <class Sizes>
inline constexpr int kPartVectors =
    (Sizes::D / 8 + 1) * Sizes::kWarpgroups* wb::ptx::kWarpgroup;

/// A thread's place among the parts of its tile.
template <class Sizes>
struct PartPlace {
    static constexpr int kVectors = Sizes::D / 8;
    float4* first;      ///< vector 0 of piece 0
    unsigned* arrived;  ///< the counter of the warp
    int piece;          ///< this one

    __device__ __forceinline__ PartPlace(const LastRound& round, const TileWork& work) {
        const int tile = work.cut;
        const int thread = static_cast<int>(threadIdx.x) - wb::ptx::kWarpgroup;
        first =
            round.parts + int64_t{tile} * round.pieces * kPartVectors<Sizes> + thread;
        arrived = round.arrived + tile * kConsumerWarps<Sizes> + thread / wb::kWarpSize;
        piece = work.key_start / (round.blocks * Sizes::BN);
    }
    /// Vector i of a piece; after the vectors of o come references and sums.
    __device__ __forceinline__ float4* at(int its_piece, int i) const {
        return first + its_piece * kPartVectors<Sizes> +
               i * Sizes::kWarpgroups * wb::ptx::kWarpgroup;
    }
};

// #region merge
/// Leaves a warp's part of a piece. Returns whether all pieces have left theirs: then o
/// and rows are those of the tile. Parts are added in the order of the pieces, whoever
/// does it: so the result is the same, to the bit, in every call.
///
/// Each warp counts for itself. The atomic releases what its lanes wrote before, and
/// acquires what the warps wrote who counted earlier.
template <class Sizes>
__device__ __forceinline__ bool merge_pieces(const LastRound& round,
                                             const TileWork& work,
                                             float (&o)[Sizes::D / 2],
                                             RowSums& rows) {
    using Place = PartPlace<Sizes>;
    const Place place(round, work);
#pragma unroll
    for (int i = 0; i < Place::kVectors; ++i) {
        __stcg(place.at(place.piece, i),
               make_float4(o[4 * i], o[4 * i + 1], o[4 * i + 2], o[4 * i + 3]));
    }
    __stcg(place.at(place.piece, Place::kVectors),
           make_float4(rows.reference[0], rows.reference[1], rows.sum[0], rows.sum[1]));
    __syncwarp();
    unsigned before = 0;
    if (threadIdx.x % wb::kWarpSize == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(*place.arrived);
        before = arrived.fetch_add(1, cuda::memory_order_acq_rel);
    }
    before = __shfl_sync(wb::kAllLanes, before, 0);
    __syncwarp();  // what lane 0 has acquired, the others may read
    if (before + 1 < static_cast<unsigned>(round.pieces)) return false;

    rows = RowSums{};
#pragma unroll
    for (float& x : o)
        x = 0.0f;
#pragma unroll 1
    for (int piece = 0; piece < round.pieces; ++piece) {
        const float4 its = __ldcg(place.at(piece, Place::kVectors));
        const float its_reference[2] = {its.x, its.y};
        const float its_sum[2] = {its.z, its.w};
        float old_factor[2];
        float its_factor[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float larger = fmaxf(rows.reference[r], its_reference[r]);
            const float reference = larger == -INFINITY ? 0.0f : larger;
            old_factor[r] = wb::ptx::exp2_approx(rows.reference[r] - reference);
            its_factor[r] = wb::ptx::exp2_approx(its_reference[r] - reference);
            rows.reference[r] = larger;
            rows.sum[r] = rows.sum[r] * old_factor[r] + its_sum[r] * its_factor[r];
        }
#pragma unroll
        for (int i = 0; i < Place::kVectors; ++i) {
            const float4 x = __ldcg(place.at(piece, i));
            o[4 * i] = o[4 * i] * old_factor[0] + x.x * its_factor[0];
            o[4 * i + 1] = o[4 * i + 1] * old_factor[0] + x.y * its_factor[0];
            o[4 * i + 2] = o[4 * i + 2] * old_factor[1] + x.z * its_factor[1];
            o[4 * i + 3] = o[4 * i + 3] * old_factor[1] + x.w * its_factor[1];
        }
    }
    return true;
}
// #endregion merge

// #region pieces
/// Into how many pieces to cut each tile that is left over. In blocks of keys: a round
/// of pieces takes as long as the longest one. Besides, an H200 took about as long as
/// for 3 blocks more, and for one more with each piece.
///
/// @param tiles            that are left over
/// @param blocks           of keys of a tile
/// @param multiprocessors  for which pieces there are
inline int best_pieces(int tiles, int blocks, int multiprocessors) {
    constexpr int kMostPieces = 8;
    constexpr int kFewestBlocks = 4;  // of a piece
    int best = 1;
    int best_time = blocks;
    for (int pieces = 2; pieces <= std::min(kMostPieces, blocks / kFewestBlocks);
         ++pieces) {
        const int rounds = wb::ceil_div(tiles * pieces, multiprocessors);
        const int time = rounds * wb::ceil_div(blocks, pieces) + pieces + 3;
        if (time < best_time) {
            best = pieces;
            best_time = time;
        }
    }
    return best;
}

/// The last round of a call, without memory for its parts. With a causal mask there is
/// none: the last tiles are the shortest ones.
template <class Sizes>
LastRound plan_last_round(const Call& call) {
    const Problem& problem = call.problem;
    const int multiprocessors = wb::multiprocessors();
    const int64_t tiles = count_tiles<Sizes>(problem);
    const int left = static_cast<int>(tiles % multiprocessors);
    LastRound round;
    if (problem.causal || left == 0 || tiles > INT_MAX / 2) return round;
    const int blocks = wb::ceil_div(problem.keys, Sizes::BN);
    const int pieces = best_pieces(left, blocks, multiprocessors);
    if (pieces == 1) return round;
    round.first = static_cast<int>(tiles) - left;
    round.tiles = left;
    round.blocks = wb::ceil_div(blocks, pieces);
    round.pieces = wb::ceil_div(blocks, round.blocks);
    return round;
}
// #endregion pieces
