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

// #region v7-kernel
/// transpose_v7: v5 for rows of the output that do not begin with a sector. In each of
/// them the block writes a window of 64 elements that does. It begins up to seven
/// elements before the tile, for which the block reads seven rows more.
///
/// Launch   grid of all tiles of rows + kMostBefore rows, block (kFastTile, kFastStep),
///          static shared memory of kWindowRows rows
/// Traffic  reads 71 / 64 of the matrix, writes it once
__global__ void transpose_v7_kernel(const float* in,  // [batch, rows, cols]
                                    float* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    __shared__ float s_window[kWindowRows * kFastTile];  // see place()
    const auto [start, first_row, first_col] = tile_of_block(tiling, kFastTile);
    const int64_t rows = tiling.rows;
    const int64_t cols = tiling.cols;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    float r_value[kWindowLoads] = {};
#pragma unroll
    for (int i = 0; i < kWindowLoads; ++i) {
        const int window_row = y + i * kFastStep;
        const int64_t row = first_row + window_row - kMostBefore;
        if (window_row < kWindowRows && row >= 0 && row < rows && first_col + x < cols)
            r_value[i] = in[start + row * cols + first_col + x];
    }
#pragma unroll
    for (int i = 0; i < kWindowLoads; ++i) {
        const int window_row = y + i * kFastStep;
        if (window_row < kWindowRows) s_window[place(window_row, x)] = r_value[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kFastRows; ++i) {
        const int col = y + i * kFastStep;  // of the tile: a row of the output
        if (first_col + col >= cols) continue;
        float* row_of_out = out + start + (first_col + col) * rows;
        const auto before = static_cast<int>(reinterpret_cast<uintptr_t>(row_of_out) /
                                             sizeof(float) % kSectorFloats);
        const int64_t row = first_row + x - before;
        if (row >= 0 && row < rows)
            row_of_out[row] = s_window[place(x + kMostBefore - before, col)];
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
