// The right functions that the .diff files edit.
#include "stencil_halo.h"

#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include "borders.h"

__global__ void stencil_kernel(Line in, float* out, Taps taps) {
    __shared__ float s_line[kThreads + 2 * kMaxRadius];
    const int radius = taps.radius;
    const int tid = threadIdx.x;
    const int64_t i = int64_t{blockIdx.x} * kThreads + tid;
    s_line[radius + tid] = in.at(i);
    if (tid < radius) {
        s_line[tid] = in.at(i - radius);
        s_line[radius + kThreads + tid] = in.at(i + kThreads);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += taps.weight[k] * s_line[tid + k];
    if (i < in.n) out[i] = sum;
}

void stencil_1d(const float* in,
                float* out,
                int64_t n,
                const Taps& taps,
                Border border,
                cudaStream_t stream) {
    if (check_stencil_1d(in, out, n, taps, border) == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    stencil_kernel<<<blocks, kThreads, 0, stream>>>({in, n, border}, out, taps);
    CUDA_CHECK_LAUNCH();
}

__global__ void filter_kernel(Tiles tiles, float* out, Filter filter) {
    __shared__ float s_tile[kTileRows + 2 * kMaxRadius][kTileCols + 2 * kMaxRadius];
    const Tile tile = tile_of_block(tiles);
    const Image image = tile.image;
    const int radius = filter.radius;
    const int side = 2 * radius + 1;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    for (int dy = y; dy < kTileRows + 2 * radius; dy += kTileRows)
        for (int dx = x; dx < kTileCols + 2 * radius; dx += kTileCols)
            s_tile[dy][dx] = image.at(tile.row + dy - radius, tile.col + dx - radius);
    __syncthreads();
    const int64_t row = tile.row + y;
    const int64_t col = tile.col + x;
    if (row >= image.rows || col >= image.cols) return;
    float sum = 0.0f;
    for (int dy = 0; dy < side; ++dy)
        for (int dx = 0; dx < side; ++dx)
            sum += filter.weight[dy * side + dx] * s_tile[y + dy][x + dx];
    out[tile.start + row * image.cols + col] = sum;
}

void convolve_2d(const float* in,
                 float* out,
                 int64_t batch,
                 int64_t rows,
                 int64_t cols,
                 const Filter& filter,
                 Border border,
                 cudaStream_t stream) {
    if (check_convolve_2d(in, out, batch, rows, cols, filter, border) == 0) return;
    const Tiles tiles = cut_into_tiles(in, rows, cols, border);
    const dim3 grid(blocks_for(tiles, batch));
    const dim3 block(kTileCols, kTileRows);
    filter_kernel<<<grid, block, 0, stream>>>(tiles, out, filter);
    CUDA_CHECK_LAUNCH();
}

__global__ void pass_kernel(Tiles tiles, float* out, Taps taps, bool vertical) {
    const Tile tile = tile_of_block(tiles);
    const int64_t row = tile.row + threadIdx.y;
    const int64_t col = tile.col + threadIdx.x;
    if (row >= tile.image.rows || col >= tile.image.cols) return;
    float sum = 0.0f;
    for (int k = -taps.radius; k <= taps.radius; ++k)
        sum += taps.weight[k + taps.radius] *
               tile.image.at(row + (vertical ? k : 0), col + (vertical ? 0 : k));
    out[tile.start + row * tile.image.cols + col] = sum;
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
    const int64_t count =
        check_separable(in, out, batch, rows, cols, vertical, horizontal, border);
    if (count == 0) return;
    const wb::Scratch<float> between(count, stream);
    const Tiles first = cut_into_tiles(in, rows, cols, border);
    const Tiles second = cut_into_tiles(between.data(), rows, cols, border);
    const dim3 grid(blocks_for(first, batch));
    const dim3 block(kTileCols, kTileRows);
    pass_kernel<<<grid, block, 0, stream>>>(first, between.data(), horizontal, false);
    CUDA_CHECK_LAUNCH();
    pass_kernel<<<grid, block, 0, stream>>>(second, out, vertical, true);
    CUDA_CHECK_LAUNCH();
}
