/// ring.h: given with the second stage: rows of x and of w on their way to shared
/// memory, and where the sums of a lane belong. There is nothing to write here.
#pragma once

#include <wb/launch.h>
#include <wb/ptx/cp_async.h>

#include <cstdint>

#include "int8.h"

// #region sizes
/// A chunk is what a lane copies at once, and what ldmatrix takes for a row: 16 bytes.
constexpr int kChunk = 16;
constexpr int kRowsOfBlock = 128;  ///< rows of x, and of w, that a block multiplies
constexpr int kChunksOfRow = 4;    ///< of a row in a stage: 64 bytes
constexpr int kStages = 4;
constexpr int kWarpRows = 64;     ///< rows of x of a warp
constexpr int kWarpColumns = 32;  ///< rows of w
constexpr int kThreadsOfRing = 256;
constexpr int kTilesM = kWarpRows / 16;  ///< a product of mma.sync is 16 x 8
constexpr int kTilesN = kWarpColumns / 8;
constexpr int kSteps = kChunksOfRow / 2;  ///< of 32 bytes, in a stage
// #endregion sizes

// #region stage
/// 64 bytes of each of a block's rows. Two rows go through all banks; a row's chunks
/// are in another order in each pair of rows, so that any eight chunks of rows below
/// each other are in different banks.
struct Stage {
    uint4 x[kRowsOfBlock][kChunksOfRow];
    uint4 w[kRowsOfBlock][kChunksOfRow];

    /// Where a chunk of a row is.
    static __device__ __forceinline__ int place(int row, int chunk) {
        return chunk ^ row / 2 % 4;
    }
};

/// A warp's sums: 4 of each tile of 16 x 8 in each lane.
struct WarpSums {
    int at[kTilesM][kTilesN][4];
};

/// Where this block and this warp work.
struct Place {
    int64_t row;   ///< the block's first row of y
    int64_t col;   ///< and column
    int warp_row;  ///< the warp's first, in the block
    int warp_col;

    __device__ __forceinline__ explicit Place(int64_t blocks_across)
        : row(blockIdx.x / blocks_across * kRowsOfBlock),
          col(blockIdx.x % blocks_across * kRowsOfBlock) {
        const int warp = threadIdx.x / wb::kWarpSize;
        warp_row = warp / (kRowsOfBlock / kWarpColumns) * kWarpRows;
        warp_col = warp % (kRowsOfBlock / kWarpColumns) * kWarpColumns;
    }
};
// #endregion stage

// #region copies
/// The way of rows to shared memory.
struct Copies {
    /// Starts copying 64 bytes of a block's rows; zeros where there are none.
    ///
    /// @param count that the matrix [rows, K] has
    /// @param k      the first byte of each row
    static __device__ __forceinline__ void rows(uint4 (*s_rows)[kChunksOfRow],
                                                const int8_t* g_rows,
                                                int64_t first,
                                                int64_t count,
                                                int64_t K,
                                                int64_t k) {
#pragma unroll
        for (int i = 0; i < kRowsOfBlock * kChunksOfRow; i += kThreadsOfRing) {
            const int row = (i + static_cast<int>(threadIdx.x)) / kChunksOfRow;
            const int chunk = static_cast<int>(threadIdx.x) % kChunksOfRow;
            const bool exists = first + row < count && k + chunk * kChunk < K;
            const int8_t* const g_chunk =
                g_rows + (first + row) * K + k + chunk * kChunk;
            wb::ptx::cp_async_zfill<kChunk>(&s_rows[row][Stage::place(row, chunk)],
                                            exists ? g_chunk : g_rows,
                                            exists ? kChunk : 0);
        }
    }
};

/// Both tiles of a stage, from byte k of each row on.
__device__ __forceinline__ void copy_stage(Stage& stage,
                                           const Int8Shape& shape,
                                           const Int8Inputs& in,
                                           const Place& at,
                                           int64_t k) {
    Copies::rows(stage.x, in.x, at.row, shape.M, shape.K, k);
    Copies::rows(stage.w, in.w, at.col, shape.N, shape.K, k);
}
// #endregion copies
