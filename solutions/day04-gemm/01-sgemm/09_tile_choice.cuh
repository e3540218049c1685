// 09_tile_choice.cuh: v9: large tiles for large products, small ones where there would
// be too few.
#pragma once

#include <wb/device.h>
#include <wb/shared_memory.h>

#include <algorithm>

// #region v9-choice
/// The three sizes of a block's tile. A thread of the large one has 8 x 16 sums: 128
/// for 24 floats of shared memory, where 8 x 8 are 64 for 16.
using LargeTiles = WarpTiles<128, 256, 16, 32, 128, 8, 16>;
using MiddleTiles = WarpTiles<128, 128, 16, 32, 64, 8, 8>;
using SmallTiles = WarpTiles<64, 64, 16, 32, 64, 8, 8>;

/// How long a product takes, in sums of one multiprocessor: it computes its tiles one
/// behind the other, and the one with most of them ends last.
///
/// @tparam kPercent  how long a sum takes in this size of tile
template <class Tiles, int kPercent>
static int64_t cost_of(const wb::GemmShape& s) {
    const int64_t tiles =
        wb::ceil_div(s.M, int64_t{Tiles::BM}) * wb::ceil_div(s.N, int64_t{Tiles::BN});
    const int64_t rounds = wb::ceil_div(tiles, int64_t{wb::multiprocessors()});
    return rounds * Tiles::BM * Tiles::BN * kPercent;
}

/// Launches v8, unless the GPU has too little shared memory for a block: false then.
template <class Tiles, int kStages, int kBlocks>
static bool launch_if_room(const Product& p,
                           const wb::GemmShape& s,
                           cudaStream_t stream) {
    constexpr size_t kBytes = kStages * sizeof(Stage<Tiles>);
    if (!wb::allow_shared(sgemm_v8_kernel<Tiles, kStages, kBlocks>, kBytes))
        return false;
    launch_v8<Tiles, kStages, kBlocks>(p, s, stream);
    return true;
}

/// sgemm_v9: the size of tile that takes least, of two that take the same the larger.
static void sgemm_v9(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    const Product p = Product::of(s, alpha, A, B, beta, C);
    const int64_t large = cost_of<LargeTiles, 100>(s);
    const int64_t middle = cost_of<MiddleTiles, 105>(s);
    const int64_t small = cost_of<SmallTiles, 115>(s);
    if (large <= std::min(middle, small) &&
        launch_if_room<LargeTiles, 4, 1>(p, s, stream))
        return;
    if (middle <= small && launch_if_room<MiddleTiles, 3, 2>(p, s, stream)) return;
    launch_v8<SmallTiles, 3, 6>(p, s, stream);
}
// #endregion v9-choice
WB_RUNG(sgemm, sgemm_v9, "tiles of three sizes");
