/// image_03_radius.cuh: the radius of a filter is known to the compiler.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>

#include "borders.h"

// #region image-v3
/// convolve_2d_v3: v2 with the radius as a constant. Both loops over the filter are
/// unrolled, the divisions are by constants, and each weight is an operand of its
/// instruction.
///
/// @tparam R  radius
///
/// Launch   grid of all tiles, block (kTileCols, kTileRows)
template <int R>
__global__ void convolve_2d_v3_kernel(Tiles tiles, float* out, Filter filter) {
    constexpr int kWidth = kTileCols + 2 * R;
    constexpr int kHeight = kTileRows + 2 * R;
    constexpr int kSide = 2 * R + 1;
    __shared__ float s_tile[kHeight * kWidth];
    const Tile tile = tile_of_block(tiles);
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    for (int i = y * kTileCols + x; i < kWidth * kHeight; i += kTileRows * kTileCols)
        s_tile[i] = tile.image.at(tile.row - R + i / kWidth, tile.col - R + i % kWidth);
    __syncthreads();
    const int64_t row = tile.row + y;
    const int64_t col = tile.col + x;
    if (row >= tile.image.rows || col >= tile.image.cols) return;
    float sum = 0.0f;
#pragma unroll
    for (int dy = 0; dy < kSide; ++dy)
#pragma unroll
        for (int dx = 0; dx < kSide; ++dx)
            sum += filter.weight[dy * kSide + dx] * s_tile[(y + dy) * kWidth + x + dx];
    out[tile.start + row * tile.image.cols + col] = sum;
}

static void convolve_2d_v3(const float* in,
                           float* out,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols,
                           const Filter& filter,
                           Border border,
                           cudaStream_t stream) {
    const Tiles tiles = cut_into_tiles(in, rows, cols, border);
    const dim3 block(kTileCols, kTileRows);
    with_radius(filter.radius, [&](auto radius) {
        convolve_2d_v3_kernel<decltype(radius)::value>
            <<<blocks_for(tiles, batch), block, 0, stream>>>(tiles, out, filter);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion image-v3
WB_RUNG(convolve_2d, convolve_2d_v3, "the radius is a constant");
