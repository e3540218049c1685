/// 07_whole_sectors.cuh: stores of whole sectors, wherever rows of the output begin.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>

#include <cstdint>

#include "tiles.h"

/// Floats of a sector, and the most that lie in it before a row begins.
constexpr int kSectorFloats = 32 / sizeof(float);
constexpr int kMostBefore = kSectorFloats - 1;

/// Rows that a block of v7 brings in: a tile, and some above it.
constexpr int kWindowRows = kFastTile + kMostBefore;
constexpr int kWindowLoads = (kWindowRows + kFastStep - 1) / kFastStep;
static_assert(kFastTile % kSectorFloats == 0, "all tiles of a row begin alike");

/// The smaller one of a number and a small number.
__device__ inline int at_most(int64_t number, int most) {
    return number < most ? static_cast<int>(number) : most;
}

// #region v7-order
/// The tile of this block. Blocks go down a column of tiles, then to the next column:
/// those that run at the same time write windows that follow each other in the output,
/// and the sectors at their ends, to which two blocks write, become whole in L2.
__device__ inline Tile tile_by_columns(const Tiling& tiling) {
    const unsigned column = blockIdx.x / tiling.down;
    return {int64_t{column / tiling.across} * tiling.rows * tiling.cols,
            int64_t{blockIdx.x % tiling.down} * kFastTile,
            int64_t{column % tiling.across} * kFastTile};
}
// #endregion v7-order

// #region v7-kernel
/// transpose_v7: v5 for rows of the output that do not begin with a sector. In each of
/// them the block writes a window of 64 elements that does. It begins up to seven
/// elements before the tile, for which the block reads seven rows more.
///
/// Launch   grid of all tiles of rows + kMostBefore rows, block (kFastTile, kFastStep),
///          static shared memory of kWindowRows rows. Four blocks fit if a thread has
///          at most 32 registers
/// Traffic  reads 71 / 64 of the matrix, writes it once
__global__ void __launch_bounds__(kFastTile* kFastStep)
    transpose_v7_kernel(const float* in,  // [batch, rows, cols]
                        float* out,       // [batch, cols, rows]
                        Tiling tiling) {
    __shared__ float s_window[kWindowRows * kFastTile];  // see place()
    const auto [start, first_row, first_col] = tile_by_columns(tiling);
    const int64_t rows = tiling.rows;
    const int64_t cols = tiling.cols;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    // What of the window exists: rows [top, end), and so many columns.
    const int top = first_row == 0 ? kMostBefore : 0;
    const int end = at_most(rows - first_row + kMostBefore, kWindowRows);
    const int width = at_most(cols - first_col, kFastTile);
    const float* from =
        in + start + (first_row - kMostBefore + y) * cols + first_col + x;
    float r_value[kWindowLoads] = {};
#pragma unroll
    for (int i = 0; i < kWindowLoads; ++i) {
        const int window_row = y + i * kFastStep;
        if (window_row >= top && window_row < end && x < width) r_value[i] = *from;
        from += kFastStep * cols;
    }
#pragma unroll
    for (int i = 0; i < kWindowLoads; ++i) {
        const int window_row = y + i * kFastStep;
        if (window_row < kWindowRows) s_window[place(window_row, x)] = r_value[i];
    }
    __syncthreads();
    // Eight rows of the output are whole sectors: this thread's rows all begin alike.
    static_assert(kFastStep % kSectorFloats == 0, "one `before` for all rows");
    float* to = out + start + (first_col + y) * rows + first_row;
    const auto before = static_cast<int>(reinterpret_cast<uintptr_t>(to) /
                                         sizeof(float) % kSectorFloats);
    const int window_row = x + kMostBefore - before;
    if (window_row < top || window_row >= end) return;
    to += x - before;
#pragma unroll
    for (int col = y; col < kFastTile; col += kFastStep) {
        if (col < width) *to = s_window[place(window_row, col)];
        to += kFastStep * rows;
    }
}
// #endregion v7-kernel

// #region v7-launch
static void transpose_v7(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    // All rows of the output begin alike, with a sector if the output does so.
    if (rows % kSectorFloats == 0) {
        return transpose_v5(in, out, batch, rows, cols, stream);
    }
    // Windows begin, hence end, up to seven elements early: one more may be needed.
    Tiling tiling = cut_into_tiles(rows + kMostBefore, cols, kFastTile);
    tiling.rows = rows;
    const dim3 block(kFastTile, kFastStep);
    transpose_v7_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v7-launch
WB_RUNG(transpose, transpose_v7, "v5, stores of whole sectors");
