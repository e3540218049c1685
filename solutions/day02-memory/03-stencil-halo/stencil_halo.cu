// stencil_halo.cu: each result needs its element's neighbours: a stencil along a line,
// and a filter over an image.
// #solution
//
// stencil_1d_v3 and v4 are in stencil_03_radius.cuh and stencil_04_shuffle.cuh. The
// fastest versions, stencil_1d_v5 and the two v4 of images, are in
// stencil_halo_fast.cu: the second stage.
//
// <Ladder of="stencil_1d" at="n = 268435456, radius 4">
//        GB/s  idea                        what limits it
//   v1    688  straight from the L1 cache  instructions: a border for each tap
//   v2    691  a halo in shared memory     a loop that the compiler cannot unroll
//   v3  1,580  the radius is a constant    bytes in flight: 4 a thread, a barrier
//   v4  1,820  a halo by shuffle           bytes in flight: 4 a thread
//   v5  3,000  four elements a lane        the speed of memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="convolve_2d" at="16384 x 16384, radius 1">
//        GB/s  idea                        what limits it
//   v1    499  straight from the L1 cache  instructions: two borders for each tap
//   v2    618  a halo in shared memory     instructions: a division for each load
//   v3    787  the radius is a constant    loads of shared memory, a barrier
//   v4  2,740  registers along columns     rows that two strips load
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
//
// <Ladder of="convolve_separable" at="16384 x 16384, radius 4">
//        GB/s  idea                     what limits it
//   v1    286  two passes               the image moves twice
//   v4  2,580  registers along columns  rows that two strips load
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "stencil_halo.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>
#include <wb/scratch.h>

#include "borders.h"

// #solution
// #region stencil-v1
/// stencil_1d_v1: each thread reads all it needs. Its neighbours need nearly the same,
/// so that most of it comes from the L1 cache.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void stencil_1d_v1_kernel(Line in, float* out, Taps taps) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= in.n) return;
    float sum = 0.0f;
    for (int k = -taps.radius; k <= taps.radius; ++k)
        sum += taps.weight[k + taps.radius] * in.at(i + k);
    out[i] = sum;
}

static void stencil_1d_v1(const float* in,
                          float* out,
                          int64_t n,
                          const Taps& taps,
                          Border border,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    stencil_1d_v1_kernel<<<blocks, kThreads, 0, stream>>>({in, n, border}, out, taps);
    CUDA_CHECK_LAUNCH();
}
// #endregion stencil-v1
WB_RUNG(stencil_1d, stencil_1d_v1, "straight from the L1 cache");
// #end

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
    // #solution
    __shared__ float s_line[kThreads + 2 * kMaxRadius];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * kThreads;
    for (int i = tid; i < kThreads + 2 * taps.radius; i += kThreads)
        s_line[i] = in.at(first - taps.radius + i);
    __syncthreads();  // no thread has left: all of them come here
    if (first + tid >= in.n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * taps.radius; ++k)
        sum += taps.weight[k] * s_line[tid + k];
    out[first + tid] = sum;
    // #end
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
// #solution
WB_RUNG(stencil_1d, stencil_1d_v2, "a halo in shared memory");

#include "stencil_03_radius.cuh"
#include "stencil_04_shuffle.cuh"

// #region image-v1
/// convolve_2d_v1: each thread reads all it needs, (2 radius + 1)^2 elements.
///
/// Launch   grid of all tiles, block (kTileCols, kTileRows), no shared memory
__global__ void convolve_2d_v1_kernel(Tiles tiles, float* out, Filter filter) {
    const Tile tile = tile_of_block(tiles);
    const int64_t row = tile.row + threadIdx.y;
    const int64_t col = tile.col + threadIdx.x;
    if (row >= tile.image.rows || col >= tile.image.cols) return;
    const int side = 2 * filter.radius + 1;
    float sum = 0.0f;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            sum += filter.weight[y * side + x] *
                   tile.image.at(row + y - filter.radius, col + x - filter.radius);
    out[tile.start + row * tile.image.cols + col] = sum;
}

static void convolve_2d_v1(const float* in,
                           float* out,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols,
                           const Filter& filter,
                           Border border,
                           cudaStream_t stream) {
    const Tiles tiles = cut_into_tiles(in, rows, cols, border);
    const dim3 block(kTileCols, kTileRows);
    convolve_2d_v1_kernel<<<blocks_for(tiles, batch), block, 0, stream>>>(
        tiles, out, filter);
    CUDA_CHECK_LAUNCH();
}
// #endregion image-v1
WB_RUNG(convolve_2d, convolve_2d_v1, "straight from the L1 cache");
// #end

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
    // #solution
    __shared__ float
        s_tile[(kTileRows + 2 * kMaxRadius) * (kTileCols + 2 * kMaxRadius)];
    const Tile tile = tile_of_block(tiles);
    const int radius = filter.radius;
    const int width = kTileCols + 2 * radius;
    const int height = kTileRows + 2 * radius;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    for (int i = y * kTileCols + x; i < width * height; i += kTileRows * kTileCols)
        s_tile[i] =
            tile.image.at(tile.row - radius + i / width, tile.col - radius + i % width);
    __syncthreads();  // no thread has left: all of them come here
    const int64_t row = tile.row + y;
    const int64_t col = tile.col + x;
    if (row >= tile.image.rows || col >= tile.image.cols) return;
    const int side = 2 * radius + 1;
    float sum = 0.0f;
    for (int dy = 0; dy < side; ++dy)
        for (int dx = 0; dx < side; ++dx)
            sum += filter.weight[dy * side + dx] * s_tile[(y + dy) * width + x + dx];
    out[tile.start + row * tile.image.cols + col] = sum;
    // #end
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
// #solution
WB_RUNG(convolve_2d, convolve_2d_v2, "a halo in shared memory");

#include "image_03_radius.cuh"
// #end

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
    // #solution
    for (int k = -taps.radius; k <= taps.radius; ++k) {
        const float value =
            kVertical ? tile.image.at(row + k, col) : tile.image.at(row, col + k);
        sum += taps.weight[k + taps.radius] * value;
    }
    // #end
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
    // #solution
    const Tiles first = cut_into_tiles(in, rows, cols, border);
    const Tiles second = cut_into_tiles(between.data(), rows, cols, border);
    const unsigned blocks = blocks_for(first, batch);
    convolve_separable_v1_kernel<false>
        <<<blocks, block, 0, stream>>>(first, between.data(), horizontal);
    CUDA_CHECK_LAUNCH();
    convolve_separable_v1_kernel<true>
        <<<blocks, block, 0, stream>>>(second, out, vertical);
    CUDA_CHECK_LAUNCH();
    // #end
}
// #endregion passes-v1
// #solution
WB_RUNG(convolve_separable, convolve_separable_v1, "two passes");

#define WB_VERSION_ONLY
#include "stencil_halo_fast.cu"
WB_RUNG(stencil_1d, stencil_1d_v5, "four elements a lane");
WB_RUNG(convolve_2d, convolve_2d_v4, "registers along columns");
WB_RUNG(convolve_separable, convolve_separable_v4, "registers along columns");
// #end

// #region contract
void stencil_1d(const float* in,
                float* out,
                int64_t n,
                const Taps& taps,
                Border border,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when its kernel is written
    if (check_stencil_1d(in, out, n, taps, border) == 0) return;
    // #solution
    stencil_1d_v5(in, out, n, taps, border, stream);
    // #end
    // #starter stencil_1d_v2(in, out, n, taps, border, stream);
}

void convolve_2d(const float* in,
                 float* out,
                 int64_t batch,
                 int64_t rows,
                 int64_t cols,
                 const Filter& filter,
                 Border border,
                 cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (check_convolve_2d(in, out, batch, rows, cols, filter, border) == 0) return;
    // #solution
    convolve_2d_v4(in, out, batch, rows, cols, filter, border, stream);
    // #end
    // #starter convolve_2d_v2(in, out, batch, rows, cols, filter, border, stream);
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
    // #starter WB_NOT_SOLVED();  // and this one, when both of its TODOs are written
    if (check_separable(in, out, batch, rows, cols, vertical, horizontal, border) == 0)
        return;
    // #solution
    convolve_separable_v4(
        in, out, batch, rows, cols, vertical, horizontal, border, stream);
    // #end
    // #starter convolve_separable_v1(
    // #starter     in, out, batch, rows, cols, vertical, horizontal, border, stream);
}
// #endregion contract
