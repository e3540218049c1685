/// 06_words.cuh: elements of two bytes, two of which fill a word of a bank.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>

#include <cstdint>

#include "tiles.h"

/// Rows and columns of the tile of v6, and words of two elements in one of its rows.
constexpr int kWordTile = 64;
constexpr int kWords = kWordTile / 2;

/// A block of kWords x kWordStep threads.
constexpr int kWordStep = 8;
static_assert(kWords == wb::kWarpSize, "a warp moves a row of the tile");

// #region v6-kernel
/// transpose_u16_v6: each thread loads two words, one below the other, and makes two
/// words of them that lie side by side in the output: 2 x 2 elements are transposed in
/// registers, 32 x 32 of these squares in shared memory.
///
/// Launch   grid of all tiles, block (kWords, kWordStep), static shared memory of one
///          tile
__global__ void transpose_u16_v6_kernel(const ushort2* in,  // [batch, rows, cols / 2]
                                        ushort2* out,       // [batch, cols, rows / 2]
                                        Tiling tiling) {
    __shared__ ushort2 s_tile[kWordTile * kWords];  // [col, pair of rows], swizzled
    const Tile tile = tile_of_block(tiling, kWordTile);
    const int x = threadIdx.x;
    const int64_t row_words = tiling.cols / 2;  // of the input
    const int64_t col_words = tiling.rows / 2;  // of the output
    const int64_t in_word = tile.col / 2 + x;
    const int64_t out_word = tile.row / 2 + x;
    in += tile.start / 2;
    out += tile.start / 2;
#pragma unroll
    for (int pair = threadIdx.y; pair < kWordTile / 2; pair += kWordStep) {
        const int64_t row = tile.row + 2 * pair;
        if (row < tiling.rows && in_word < row_words) {  // then row + 1 is inside, too
            const ushort2 upper = in[row * row_words + in_word];
            const ushort2 lower = in[(row + 1) * row_words + in_word];
            // Columns 2 x and 2 x + 1: the banks of both are chosen by x.
            s_tile[(2 * x) * kWords + (pair ^ x)] = make_ushort2(upper.x, lower.x);
            s_tile[(2 * x + 1) * kWords + (pair ^ x)] = make_ushort2(upper.y, lower.y);
        }
    }
    __syncthreads();
#pragma unroll
    for (int col = threadIdx.y; col < kWordTile; col += kWordStep) {
        if (tile.col + col < tiling.cols && out_word < col_words)
            out[(tile.col + col) * col_words + out_word] =
                s_tile[col * kWords + (x ^ (col / 2))];
    }
}
// #endregion v6-kernel

/// Whether a pointer may be read as ushort2.
static bool is_aligned_for_ushort2(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % alignof(ushort2) == 0;
}

// #region v6-launch
static void transpose_u16_v6(const uint16_t* in,
                             uint16_t* out,
                             int64_t batch,
                             int64_t rows,
                             int64_t cols,
                             cudaStream_t stream) {
    // A row of an odd number of elements ends in the middle of a word.
    if (rows % 2 != 0 || cols % 2 != 0 || !is_aligned_for_ushort2(in) ||
        !is_aligned_for_ushort2(out)) {
        return transpose_u16_v5(in, out, batch, rows, cols, stream);
    }
    const Tiling tiling = cut_into_tiles(rows, cols, kWordTile);
    const dim3 block(kWords, kWordStep);
    transpose_u16_v6_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        reinterpret_cast<const ushort2*>(in), reinterpret_cast<ushort2*>(out), tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v6-launch
WB_RUNG(transpose_u16, transpose_u16_v6, "words of two elements");
