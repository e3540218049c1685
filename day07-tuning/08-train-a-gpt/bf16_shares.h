/// bf16_shares.h: given with this exercise: how the gradients of several matrices are
/// shared out to clusters. Arithmetic without a GPU. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

// #region weight-shares
/// The rows and columns of a matrix that a cluster sums up at a time, and the tokens of
/// a step.
inline constexpr int kWeightRows = 384;
inline constexpr int kWeightColumns = 192;
inline constexpr int kWeightDepth = 64;
inline constexpr int kPieceElements = kWeightRows * kWeightColumns;
/// Clusters that an H100 or H200 with 132 multiprocessors has room for. Not asked of
/// the GPU: the order of sums must not depend on it.
inline constexpr int kWeightClusters = 66;
/// Steps that are worth a cluster.
inline constexpr int kLeastShare = 7;
/// Matrices of a launch.
inline constexpr int kMostTogether = 6;

/// The steps of all tiles of several matrices, laid end to end: each cluster has as
/// many of them, but for the last one. What it sums up of a tile is a piece.
struct WeightShares {
    int tiles;
    int steps;        ///< of a tile
    int share;        ///< steps of a cluster
    int most_pieces;  ///< of a tile

    static WeightShares of(int tiles, int64_t tokens) {
        WeightShares s = {};
        s.tiles = tiles;
        s.steps = static_cast<int>(wb::ceil_div(tokens, int64_t{kWeightDepth}));
        s.share = std::max(wb::ceil_div(tiles * s.steps, kWeightClusters), kLeastShare);
        s.most_pieces = (s.steps - 1) / s.share + 2;
        return s;
    }
    int clusters() const { return wb::ceil_div(tiles * steps, share); }
    /// Elements of all pieces.
    int64_t elements() const { return int64_t{tiles} * most_pieces * kPieceElements; }

    /// The tiles of a matrix.
    static int tiles_of(int64_t outputs, int64_t inputs) {
        return static_cast<int>(wb::ceil_div(outputs, int64_t{kWeightRows}) *
                                wb::ceil_div(inputs, int64_t{kWeightColumns}));
    }
    /// The first cluster that has steps of a tile.
    __host__ __device__ int first_of(int tile) const { return tile * steps / share; }
    /// Pieces of a tile.
    __host__ __device__ int pieces_of(int tile) const {
        return ((tile + 1) * steps - 1) / share - first_of(tile) + 1;
    }
};
// #endregion weight-shares
