// transpose.cu: rows become columns, through a tile in shared memory.
// #solution
//
// v5 is in transpose_fast.cu, transpose_u16_v6 in 06_words.cuh, v7 in
// 07_whole_sectors.cuh; all others are here.
//
// <Ladder of="transpose" at="16384 x 16384">
//        GB/s  idea                         what limits it
//   v1    462  straight from row to column  a store of 32 floats moves 32 sectors
//   v2    956  a tile in shared memory      bank conflicts: a column is in one bank
//   v3  1,240  rows of 33 words             each thread has one load under way
//   v4  1,240  a swizzled tile              as v3
//   v5  2,890  eight rows a thread          rows that begin inside of a sector
//   v7  2,890  stores of whole sectors      reads seven rows of 64 twice
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="transpose_u16" at="16384 x 16384">
//        GB/s  idea                     what limits it
//   v2    572  a tile in shared memory  16-way bank conflicts, rows of 64 bytes
//   v5  2,030  eight rows a thread      2-way bank conflicts, loads of two bytes
//   v6  2,380  words of two elements    the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="transpose_in_place" at="16384 x 16384">
//        GB/s  idea                   what limits it
//   v1    770  a thread swaps two     a column of sectors for each load and each store
//   v2  1,070  a tile and its mirror  bank conflicts
//   v5  2,660  eight rows a thread    the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "transpose.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "tiles.h"

// #solution
// #region v1-kernel
/// transpose_v1: each thread moves one element, straight from its row to its column.
///
/// Launch   grid of all tiles, block (kTile, kTile), no shared memory
template <class T>
__global__ void transpose_v1_kernel(const T* in,  // [batch, rows, cols]
                                    T* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    const Tile tile = tile_of_block(tiling, kTile);
    const int64_t row = tile.row + threadIdx.y;
    const int64_t col = tile.col + threadIdx.x;
    if (row < tiling.rows && col < tiling.cols)
        out[tile.start + col * tiling.rows + row] =
            in[tile.start + row * tiling.cols + col];
}
// #endregion v1-kernel

// #region v1-launch
static void transpose_v1(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(rows, cols, kTile);
    const dim3 block(kTile, kTile);
    transpose_v1_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch
WB_RUNG(transpose, transpose_v1, "straight from row to column");
// #end

// #region v2-kernel
/// transpose_v2: a block brings a tile into shared memory by rows, and writes it by
/// rows, too: those of the output, which are the tile's columns.
///
/// @tparam T  element: float or uint16_t
///
/// Launch   grid of all tiles, block (kTile, kTile), static shared memory of one tile
template <class T>
__global__ void transpose_v2_kernel(const T* in,  // [batch, rows, cols]
                                    T* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    // TODO(learner): find the block's tile with tile_of_block(tiling, kTile). Put the
    // element in its row threadIdx.y, column threadIdx.x into shared memory, if the
    // matrix has it. When all threads have done so, write: column threadIdx.y of the
    // tile is a piece of a row of the output, and threadIdx.x counts along that piece.
    // Write only what the output has (about 10 lines)
    // #solution
    __shared__ T s_tile[kTile][kTile];
    const Tile tile = tile_of_block(tiling, kTile);
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    if (tile.row + y < tiling.rows && tile.col + x < tiling.cols)
        s_tile[y][x] = in[tile.start + (tile.row + y) * tiling.cols + tile.col + x];
    __syncthreads();  // no thread has left: all threads come here
    if (tile.col + y < tiling.cols && tile.row + x < tiling.rows)
        out[tile.start + (tile.col + y) * tiling.rows + tile.row + x] = s_tile[x][y];
    // #end
}
// #endregion v2-kernel

// #region v2-launch
template <class T>
static void launch_transpose_v2(const T* in,
                                T* out,
                                int64_t batch,
                                int64_t rows,
                                int64_t cols,
                                cudaStream_t stream) {
    // TODO(learner): cut_into_tiles() of kTile, and a launch of blocks_for() them, with
    // kTile x kTile threads each (about 4 lines)
    // #solution
    const Tiling tiling = cut_into_tiles(rows, cols, kTile);
    const dim3 block(kTile, kTile);
    transpose_v2_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch

static void transpose_v2(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    launch_transpose_v2(in, out, batch, rows, cols, stream);
}

static void transpose_u16_v2(const uint16_t* in,
                             uint16_t* out,
                             int64_t batch,
                             int64_t rows,
                             int64_t cols,
                             cudaStream_t stream) {
    launch_transpose_v2(in, out, batch, rows, cols, stream);
}
// #solution
WB_RUNG(transpose, transpose_v2, "a tile in shared memory");
WB_RUNG(transpose_u16, transpose_u16_v2, "a tile in shared memory");

// #region v3-kernel
/// transpose_v3: v2 with one more word in each row of the tile. An element's bank is
/// then (33 row + col) % 32 = (row + col) % 32: another one in each row.
///
/// Launch   grid of all tiles, block (kTile, kTile), static shared memory of a tile and
///          a column
__global__ void transpose_v3_kernel(const float* in,  // [batch, rows, cols]
                                    float* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    __shared__ float s_tile[kTile][kTile + 1];
    const Tile tile = tile_of_block(tiling, kTile);
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    if (tile.row + y < tiling.rows && tile.col + x < tiling.cols)
        s_tile[y][x] = in[tile.start + (tile.row + y) * tiling.cols + tile.col + x];
    __syncthreads();
    if (tile.col + y < tiling.cols && tile.row + x < tiling.rows)
        out[tile.start + (tile.col + y) * tiling.rows + tile.row + x] = s_tile[x][y];
}
// #endregion v3-kernel

// #region v3-launch
static void transpose_v3(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(rows, cols, kTile);
    const dim3 block(kTile, kTile);
    transpose_v3_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch
WB_RUNG(transpose, transpose_v3, "rows of 33 words");

// #region v4-kernel
/// transpose_v4: v2 with the columns of each row in another order: bank col ^ row. No
/// word is spent on padding.
///
/// Launch   grid of all tiles, block (kTile, kTile), static shared memory of one tile
__global__ void transpose_v4_kernel(const float* in,  // [batch, rows, cols]
                                    float* out,       // [batch, cols, rows]
                                    Tiling tiling) {
    __shared__ float s_tile[kTile][kTile];  // (row, col) is at [row][col ^ row]
    const Tile tile = tile_of_block(tiling, kTile);
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    if (tile.row + y < tiling.rows && tile.col + x < tiling.cols)
        s_tile[y][x ^ y] = in[tile.start + (tile.row + y) * tiling.cols + tile.col + x];
    __syncthreads();
    if (tile.col + y < tiling.cols && tile.row + x < tiling.rows)
        out[tile.start + (tile.col + y) * tiling.rows + tile.row + x] =
            s_tile[x][y ^ x];
}
// #endregion v4-kernel

// #region v4-launch
static void transpose_v4(const float* in,
                         float* out,
                         int64_t batch,
                         int64_t rows,
                         int64_t cols,
                         cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(rows, cols, kTile);
    const dim3 block(kTile, kTile);
    transpose_v4_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        in, out, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v4-launch
WB_RUNG(transpose, transpose_v4, "a swizzled tile");

#define WB_VERSION_ONLY
#include "transpose_fast.cu"
WB_RUNG(transpose, transpose_v5, "tiles of 64, eight rows a thread");
WB_RUNG(transpose_u16, transpose_u16_v5, "tiles of 64, eight rows a thread");

#include "06_words.cuh"
#include "07_whole_sectors.cuh"

// #region v1-in-place
/// transpose_in_place_v1: each thread below the diagonal swaps its element with the one
/// above.
///
/// Launch   grid of all tiles, block (kTile, kTile), no shared memory
__global__ void transpose_in_place_v1_kernel(float* matrix,  // [batch, n, n]
                                             Tiling tiling) {
    const Tile tile = tile_of_block(tiling, kTile);
    const int64_t n = tiling.rows;
    const int64_t row = tile.row + threadIdx.y;
    const int64_t col = tile.col + threadIdx.x;
    if (row >= n || col >= row) return;
    float& lower = matrix[tile.start + row * n + col];
    float& upper = matrix[tile.start + col * n + row];
    const float value = lower;
    lower = upper;
    upper = value;
}

static void transpose_in_place_v1(float* matrix,
                                  int64_t batch,
                                  int64_t n,
                                  cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(n, n, kTile);
    const dim3 block(kTile, kTile);
    transpose_in_place_v1_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        matrix, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-in-place
WB_RUNG(transpose_in_place, transpose_in_place_v1, "a thread swaps two elements");
// #end

// #region v2-in-place
/// transpose_in_place_v2: a tile above the diagonal and its mirror image below change
/// places. Both must be in shared memory before either is written.
///
/// Launch   grid of all tiles, block (kTile, kTile), static shared memory of two tiles;
///          the blocks below the diagonal have nothing to do
__global__ void transpose_in_place_v2_kernel(float* matrix,  // [batch, n, n]
                                             Tiling tiling) {
    const Tile tile = tile_of_block(tiling, kTile);
    if (tile.row > tile.col) return;  // the whole block: another one does its work
    // TODO(learner): the upper tile begins at (tile.row, tile.col), the lower one at
    // (tile.col, tile.row). Bring both into shared memory, then write each of them,
    // transposed, to the other's place (about 14 lines)
    // #solution
    __shared__ float s_upper[kTile][kTile];
    __shared__ float s_lower[kTile][kTile];
    const int64_t n = tiling.rows;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    float* upper = matrix + tile.start + (tile.row + y) * n + tile.col + x;
    float* lower = matrix + tile.start + (tile.col + y) * n + tile.row + x;
    const bool in_upper = tile.row + y < n && tile.col + x < n;
    const bool in_lower = tile.col + y < n && tile.row + x < n;
    if (in_upper) s_upper[y][x] = *upper;
    if (in_lower) s_lower[y][x] = *lower;
    __syncthreads();
    // On the diagonal the two are one tile, which is written twice: the same numbers.
    if (in_lower) *lower = s_upper[x][y];
    if (in_upper) *upper = s_lower[x][y];
    // #end
}

static void transpose_in_place_v2(float* matrix,
                                  int64_t batch,
                                  int64_t n,
                                  cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(n, n, kTile);
    const dim3 block(kTile, kTile);
    transpose_in_place_v2_kernel<<<blocks_for(tiling, batch), block, 0, stream>>>(
        matrix, tiling);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-in-place
// #solution
WB_RUNG(transpose_in_place, transpose_in_place_v2, "a tile and its mirror image");
WB_RUNG(transpose_in_place, transpose_in_place_v5, "tiles of 64, eight rows a thread");
// #end

// #region contract
void transpose(const float* in,
               float* out,
               int64_t batch,
               int64_t rows,
               int64_t cols,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs of v2 are written
    if (check_transpose("transpose", in, out, batch, rows, cols) == 0) return;
    // #solution
    transpose_v5(in, out, batch, rows, cols, stream);
    // #end
    // #starter transpose_v2(in, out, batch, rows, cols, stream);
}

void transpose_u16(const uint16_t* in,
                   uint16_t* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (check_transpose("transpose_u16", in, out, batch, rows, cols) == 0) return;
    // #solution
    transpose_u16_v6(in, out, batch, rows, cols, stream);
    // #end
    // #starter transpose_u16_v2(in, out, batch, rows, cols, stream);
}

void transpose_in_place(float* matrix, int64_t batch, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the last TODO is written
    if (check_in_place("transpose_in_place", matrix, batch, n) == 0) return;
    // #solution
    transpose_in_place_v5(matrix, batch, n, stream);
    // #end
    // #starter transpose_in_place_v2(matrix, batch, n, stream);
}
// #endregion contract
