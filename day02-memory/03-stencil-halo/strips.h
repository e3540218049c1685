/// strips.h: what your second stage finds ready: how a warp divides the columns of its
/// strip among its lanes, and how they load and store them. There is nothing to write
/// here.
#pragma once

#include <wb/launch.h>

#include <cstdint>

#include "borders.h"

/// Columns of a lane, a float4, and of a warp.
inline constexpr int kLaneCols = 4;
inline constexpr int kStripCols = kLaneCols * wb::kWarpSize;

/// Rows that a warp loads before it uses the first of them.
inline constexpr int kRowsAtOnce = 4;

/// Warps of a block. They have nothing in common but the L1 cache.
inline constexpr int kWarps = 4;
inline constexpr int kWalkThreads = kWarps * wb::kWarpSize;

/// Lanes that may load the halo on one side.
inline constexpr int kHalfWarp = wb::kWarpSize / 2;
static_assert(kMaxRadius <= kLaneCols, "the halo of a lane is in the next lane");
static_assert(kMaxRadius <= kHalfWarp, "half a warp loads the halo on one side");

// #region piece
/// What a lane has loaded of its warp's kStripCols columns of a row: four of them, and
/// perhaps one of the halo. Lane k has the halo's element k to the left of the strip,
/// lane 16 + k the element k to the right:
///
///     edge of lane 0 1   own of lane 0   lane 1         lane 31   edge of lane 16 17
///               |. .|      |. . . .|   |. . . .| ...  |. . . .|      |. .|
struct Piece {
    float own[kLaneCols];
    float edge;
};

/// Which of the columns a lane loads.
struct Columns {
    int64_t own;   ///< the first of kLaneCols
    int64_t edge;  ///< -1: none, or one that is 0
};

template <int R>
__device__ Columns columns_of_lane(int64_t first, int64_t cols, Border border) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int k = lane % kHalfWarp;
    const int64_t edge = lane < kHalfWarp ? first - R + k : first + kStripCols + k;
    return {first + kLaneCols * lane, k < R ? index_inside(edge, cols, border) : -1};
}

/// Loads a lane's piece of a row, all of whose kStripCols columns there are.
///
/// @tparam kVector  the row and the strip begin at a multiple of 16 bytes
template <bool kVector>
__device__ Piece load_piece(const float* row, const Columns& columns) {
    Piece piece;
    const float* own = row + columns.own;
    if constexpr (kVector) {
        const float4 values = *reinterpret_cast<const float4*>(own);
        piece.own[0] = values.x;
        piece.own[1] = values.y;
        piece.own[2] = values.z;
        piece.own[3] = values.w;
    } else {
#pragma unroll
        for (int j = 0; j < kLaneCols; ++j)
            piece.own[j] = own[j];
    }
    piece.edge = columns.edge < 0 ? 0.0f : row[columns.edge];
    return piece;
}

/// The same for any row, also one outside of the image.
__device__ inline Piece load_piece_at_border(const Line& row, const Columns& columns) {
    Piece piece;
#pragma unroll
    for (int j = 0; j < kLaneCols; ++j)
        piece.own[j] = row.at(columns.own + j);
    piece.edge = columns.edge < 0 ? 0.0f : row.at(columns.edge);
    return piece;
}

/// Writes a lane's columns of a row, as far as there are such columns.
template <bool kVector>
__device__ void store_columns(float* row,
                              int64_t col,
                              int64_t cols,
                              const float (&value)[kLaneCols]) {
    if (kVector && col + kLaneCols <= cols) {
        // nvcc 13.0 would make four stores of 4 bytes of a plain float4 here.
        __stwb(reinterpret_cast<float4*>(row + col),
               make_float4(value[0], value[1], value[2], value[3]));
    } else {
#pragma unroll
        for (int j = 0; j < kLaneCols; ++j)
            if (col + j < cols) row[col + j] = value[j];
    }
}
// #endregion piece

/// Whether arrays begin at a multiple of 16 bytes.
inline bool are_aligned(const float* in, const float* out) {
    return (reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) %
               alignof(float4) ==
           0;
}

// #region strips
/// The images of a batch, cut into strips of kStripCols columns.
struct Strips {
    Image first;     ///< of the batch
    int64_t count;   ///< of all images
    int64_t across;  ///< strips side by side
    int64_t down;    ///< strips one below the other
    int rows;        ///< of a strip; the last one of a column may have fewer
};

/// Rows of a strip: the more, the fewer are loaded twice; but all multiprocessors must
/// have strips. With those above and below, they are a multiple of kRowsAtOnce.
inline Strips cut_into_strips(
    const float* in, int64_t batch, int64_t rows, int64_t cols, Border border, int R) {
    constexpr int kMostLoaded = 64;
    constexpr int kLeastLoaded = 16;
    constexpr int64_t kEnoughStrips = 4096;  // 31 for each multiprocessor of an H100
    static_assert(kLeastLoaded % kRowsAtOnce == 0, "all steps are whole");
    static_assert(kLeastLoaded > 2 * kMaxRadius, "a strip has a row");
    Strips strips = {{in, rows, cols, border}, 0, 0, 0, 0};
    strips.across = wb::ceil_div(cols, int64_t{kStripCols});
    for (int loaded = kMostLoaded; loaded >= kLeastLoaded; loaded /= 2) {
        strips.rows = loaded - 2 * R;
        strips.down = wb::ceil_div(rows, int64_t{strips.rows});
        strips.count = batch * strips.down * strips.across;
        if (strips.count >= kEnoughStrips) break;
    }
    return strips;
}
// #endregion strips
