// transpose.cu: rows become columns, through a tile in shared memory.
#include "transpose.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "tiles.h"

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

// #region contract
void transpose(const float* in,
               float* out,
               int64_t batch,
               int64_t rows,
               int64_t cols,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs of v2 are written
    if (check_transpose("transpose", in, out, batch, rows, cols) == 0) return;
    transpose_v2(in, out, batch, rows, cols, stream);
}

void transpose_u16(const uint16_t* in,
                   uint16_t* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (check_transpose("transpose_u16", in, out, batch, rows, cols) == 0) return;
    transpose_u16_v2(in, out, batch, rows, cols, stream);
}

void transpose_in_place(float* matrix, int64_t batch, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the last TODO is written
    if (check_in_place("transpose_in_place", matrix, batch, n) == 0) return;
    transpose_in_place_v2(matrix, batch, n, stream);
}
// #endregion contract
