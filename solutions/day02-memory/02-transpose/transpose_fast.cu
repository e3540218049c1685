// transpose_fast.cu: a transpose without bank conflicts, with eight rows for a thread.
#include "transpose.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "tiles.h"

/// Rows and columns of the tile in shared memory: 16 KB of floats.
constexpr int kFastTile = 64;

/// Rows of the tile that each thread moves.
constexpr int kFastRows = 8;

/// A block of kFastTile x kFastStep threads moves so many rows at once.
constexpr int kFastStep = kFastTile / kFastRows;
static_assert(kFastTile % wb::kWarpSize == 0, "a warp stays in one row of the tile");
static_assert(kFastTile % kFastRows == 0, "each thread moves as many rows");

// #region v5-place
/// Where the tile's element (row, col) lies in shared memory: in its row, but each row
/// has its columns in another order, so that a column's elements are in 32 banks.
__device__ inline int place(int row, int col) {
    // TODO(learner): the bank of a float is its place modulo 32. Let the row choose the
    // order of the columns (1 line)
    // #solution
    return row * kFastTile + (col ^ (row % wb::kWarpSize));
    // #end
    // #starter return row * kFastTile + col;  // right, but with bank conflicts
}
// #endregion v5-place

// #region v5-load
/// Brings the tile at (first_row, first_col) of a matrix into shared memory, by rows.
/// Where it reaches over the edge of the matrix, nothing is read.
template <class T>
__device__ void load_tile(T* s_tile,        // [kFastTile, kFastTile] see place()
                          const T* matrix,  // [rows, cols]
                          int64_t rows,
                          int64_t cols,
                          int64_t first_row,
                          int64_t first_col) {
    // TODO(learner): this thread's column of the tile is threadIdx.x, and its rows are
    // threadIdx.y, threadIdx.y + kFastStep, ...: kFastRows of them. Load all of them
    // into registers before you put the first into shared memory (about 12 lines)
    // #solution
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    T r_value[kFastRows] = {};
#pragma unroll
    for (int i = 0; i < kFastRows; ++i) {
        const int64_t row = first_row + y + i * kFastStep;
        if (row < rows && first_col + x < cols)
            r_value[i] = matrix[row * cols + first_col + x];
    }
#pragma unroll
    for (int i = 0; i < kFastRows; ++i) {
        s_tile[place(y + i * kFastStep, x)] = r_value[i];
    }
    // #end
}
// #endregion v5-load

// #region v5-store
/// Writes the transpose of the tile in shared memory to (first_row, first_col) of a
/// matrix, by rows of that matrix. Nothing is written past the edge of the matrix.
template <class T>
__device__ void store_transposed(const T* s_tile,  // [kFastTile, kFastTile]
                                 T* matrix,        // [rows, cols]
                                 int64_t rows,
                                 int64_t cols,
                                 int64_t first_row,
                                 int64_t first_col) {
    // TODO(learner): as in load_tile(), kFastRows rows for this thread, and a column;
    // but a row of the matrix is a column of the tile (about 8 lines)
    // #solution
    const int x = threadIdx.x;
    const int y = threadIdx.y;
#pragma unroll
    for (int i = 0; i < kFastRows; ++i) {
        const int64_t row = first_row + y + i * kFastStep;
        if (row < rows && first_col + x < cols)
            matrix[row * cols + first_col + x] = s_tile[place(x, y + i * kFastStep)];
    }
    // #end
}
// #endregion v5-store

// #region v5-kernel
/// transpose_v5: a swizzled tile of 64 x 64, of which each thread moves eight rows.
///
/// @tparam T  element: float, or uint16_t, which has 2-way bank conflicts
///
/// Launch   grid of all tiles, block (kFastTile, kFastStep), static shared memory of
///          one tile
template <class T>
__global__ void transpose_v5_kernel(const T* in,  // [batch, rows, cols]
                                    T* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    __shared__ T s_tile[kFastTile * kFastTile];
    const auto [start, row, col] = tile_of_block(tiling, kFastTile);
    load_tile(s_tile, in + start, tiling.rows, tiling.cols, row, col);
    __syncthreads();
    store_transposed(s_tile, out + start, tiling.cols, tiling.rows, col, row);
}
// #endregion v5-kernel

// #region v5-launch
template <class T>
static void launch_transpose_v5(const T* in,
                                T* out,
                                int64_t batch,
                                int64_t rows,
                                int64_t cols,
                                cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(rows, cols, kFastTile);
    const dim3 block(kFastTile, kFastStep);
    transpose_v5_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch

static void transpose_v5(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    launch_transpose_v5(in, out, batch, rows, cols, stream);
}

static void transpose_u16_v5(const uint16_t* in,
                             uint16_t* out,
                             int64_t batch,
                             int64_t rows,
                             int64_t cols,
                             cudaStream_t stream) {
    launch_transpose_v5(in, out, batch, rows, cols, stream);
}

// #region v5-in-place
/// transpose_in_place_v5: a tile above the diagonal and its mirror image below change
/// places. Both are in shared memory before either is written.
///
/// Launch   grid of all tiles, block (kFastTile, kFastStep), static shared memory of
///          two tiles; the blocks below the diagonal have nothing to do. A thread has
///          16 loads under way: more than 64 registers would leave room for one block
__global__ void __launch_bounds__(kFastTile* kFastStep, 2)
    transpose_in_place_v5_kernel(float* matrix,  // [batch, n, n]
                                 Tiling tiling) {
    __shared__ float s_upper[kFastTile * kFastTile];
    __shared__ float s_lower[kFastTile * kFastTile];
    const auto [start, row, col] = tile_of_block(tiling, kFastTile);
    if (row > col) return;  // the whole block: no thread of it waits for another
    const int64_t n = tiling.rows;
    load_tile(s_upper, matrix + start, n, n, row, col);
    if (row < col) load_tile(s_lower, matrix + start, n, n, col, row);
    __syncthreads();
    store_transposed(s_upper, matrix + start, n, n, col, row);
    if (row < col) store_transposed(s_lower, matrix + start, n, n, row, col);
}

static void transpose_in_place_v5(float* matrix,
                                  int64_t batch,
                                  int64_t n,
                                  cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(n, n, kFastTile);
    const dim3 block(kFastTile, kFastStep);
    transpose_in_place_v5_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        matrix, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-in-place

// #solution
#ifndef WB_VERSION_ONLY  // transpose.cu has all versions, and the contract
// #end
// #region contract
void transpose(const float* in,
               float* out,
               int64_t batch,
               int64_t rows,
               int64_t cols,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the three TODOs are written
    if (check_transpose("transpose", in, out, batch, rows, cols) == 0) return;
    transpose_v5(in, out, batch, rows, cols, stream);
}

void transpose_u16(const uint16_t* in,
                   uint16_t* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (check_transpose("transpose_u16", in, out, batch, rows, cols) == 0) return;
    transpose_u16_v5(in, out, batch, rows, cols, stream);
}

void transpose_in_place(float* matrix, int64_t batch, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (check_in_place("transpose_in_place", matrix, batch, n) == 0) return;
    transpose_in_place_v5(matrix, batch, n, stream);
}
// #endregion contract
// #solution
#endif
// #end
