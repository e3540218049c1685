// stencil_halo.cu: each result needs its element's neighbours: a stencil along a line,
// and a filter over an image.
#include "stencil_halo.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include "borders.h"

// #region stencil-v2
/// stencil_1d_v2: a block brings its elements into shared memory, and with them the
/// halo: taps.radius elements on either side.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
__global__ void stencil_1d_v2_kernel(Line in,     // [n]
                                     float* out,  // [n]
                                     Taps taps) {
    // TODO(learner): an array s_line of kThreads + 2 * kMaxRadius floats in shared
    // memory. Bring kThreads + 2 * taps.radius elements into it, beginning taps.radius
    // elements before the block's first one; there are more of them than threads, and
    // in.at(i) knows what stands outside of the array. Wait for the block. Then let
    // each thread sum up its products and write the sum, if it has an element to write
    // (about 11 lines)
}
// #endregion stencil-v2

static void stencil_1d_v2(const float* in,
                          float* out,
                          int64_t n,
                          const Taps& taps,
                          Border border,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    stencil_1d_v2_kernel<<<blocks, kThreads, 0, stream>>>({in, n, border}, out, taps);
    CUDA_CHECK_LAUNCH();
}

// #region image-v2
/// convolve_2d_v2: a block brings its tile into shared memory, and with it a halo of
/// `radius` elements on all four sides, and in the corners.
///
/// Launch   grid of all tiles, block (kTileCols, kTileRows)
__global__ void convolve_2d_v2_kernel(Tiles tiles,
                                      float* out,  // [batch, rows, cols]
                                      Filter filter) {
    // TODO(learner): find the block's tile with tile_of_block(tiles). With its halo it
    // has kTileRows + 2 * radius rows of kTileCols + 2 * radius elements. Count them
    // with one number, and let each thread bring in those with the numbers tid, tid +
    // threads of the block, ..., by tile.image.at(row, col). Wait for the block. Then
    // sum up, and write to out[tile.start + row * cols + col], if the image has that
    // element (about 20 lines)
}
// #endregion image-v2

static void convolve_2d_v2(const float* in,
                           float* out,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols,
                           const Filter& filter,
                           Border border,
                           cudaStream_t stream) {
    const Tiles tiles = cut_into_tiles(in, rows, cols, border);
    const dim3 block(kTileCols, kTileRows);
    convolve_2d_v2_kernel<<<blocks_for(tiles, batch), block, 0, stream>>>(
        tiles, out, filter);
    CUDA_CHECK_LAUNCH();
}

// #region passes-v1
/// convolve_separable_v1: one pass, along the rows or along the columns.
///
/// @tparam kVertical  along the columns
///
/// Launch   grid of all tiles, block (kTileCols, kTileRows), no shared memory
template <bool kVertical>
__global__ void convolve_separable_v1_kernel(Tiles tiles, float* out, Taps taps) {
    const Tile tile = tile_of_block(tiles);
    const int64_t row = tile.row + threadIdx.y;
    const int64_t col = tile.col + threadIdx.x;
    if (row >= tile.image.rows || col >= tile.image.cols) return;
    float sum = 0.0f;
    // TODO(learner): add up 2 * taps.radius + 1 products: of the elements above and
    // below this one if kVertical, else of those to the left and to the right (about 5
    // lines)
    out[tile.start + row * tile.image.cols + col] = sum;
}

static void convolve_separable_v1(const float* in,
                                  float* out,
                                  int64_t batch,
                                  int64_t rows,
                                  int64_t cols,
                                  const Taps& vertical,
                                  const Taps& horizontal,
                                  Border border,
                                  cudaStream_t stream) {
    const dim3 block(kTileCols, kTileRows);
    const wb::Scratch<float> between(batch * rows * cols, stream);
    // TODO(learner): two launches: along the rows from `in` to between.data(), then
    // along the columns from there to `out` (about 6 lines)
}
// #endregion passes-v1

// #region contract
void stencil_1d(const float* in,
                float* out,
                int64_t n,
                const Taps& taps,
                Border border,
                cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when its kernel is written
    if (check_stencil_1d(in, out, n, taps, border) == 0) return;
    stencil_1d_v2(in, out, n, taps, border, stream);
}

void convolve_2d(const float* in,
                 float* out,
                 int64_t batch,
                 int64_t rows,
                 int64_t cols,
                 const Filter& filter,
                 Border border,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (check_convolve_2d(in, out, batch, rows, cols, filter, border) == 0) return;
    convolve_2d_v2(in, out, batch, rows, cols, filter, border, stream);
}

void convolve_separable(const float* in,
                        float* out,
                        int64_t batch,
                        int64_t rows,
                        int64_t cols,
                        const Taps& vertical,
                        const Taps& horizontal,
                        Border border,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when both of its TODOs are written
    if (check_separable(in, out, batch, rows, cols, vertical, horizontal, border) == 0)
        return;
    convolve_separable_v1(
        in, out, batch, rows, cols, vertical, horizontal, border, stream);
}
// #endregion contract
