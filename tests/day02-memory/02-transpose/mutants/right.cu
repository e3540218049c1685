// The right functions that the .diff files edit.
#include "transpose.h"

#include <cuda_fp16.h>
#include <wb/check.h>

#include "tiles.h"

template <class T>
__global__ void transpose_kernel(const T* in, T* out, Tiling tiling) {
    __shared__ T s_tile[kTile][kTile + 1];
    const Tile tile = tile_of_block(tiling, kTile);
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int64_t rows = tiling.rows;
    const int64_t cols = tiling.cols;
    if (tile.row + y < rows && tile.col + x < cols)
        s_tile[y][x] = in[tile.start + (tile.row + y) * cols + tile.col + x];
    __syncthreads();
    if (tile.col + y < cols && tile.row + x < rows)
        out[tile.start + (tile.col + y) * rows + tile.row + x] = s_tile[x][y];
}

__global__ void swap_kernel(float* matrix, Tiling tiling) {
    __shared__ float s_upper[kTile][kTile + 1];
    __shared__ float s_lower[kTile][kTile + 1];
    const Tile tile = tile_of_block(tiling, kTile);
    if (tile.row > tile.col) return;
    const int64_t n = tiling.rows;
    float* upper = matrix + tile.start + (tile.row + threadIdx.y) * n + tile.col;
    float* lower = matrix + tile.start + (tile.col + threadIdx.y) * n + tile.row;
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const bool in_upper = tile.row + y < n && tile.col + x < n;
    const bool in_lower = tile.col + y < n && tile.row + x < n;
    if (in_upper) s_upper[y][x] = upper[x];
    if (in_lower) s_lower[y][x] = lower[x];
    __syncthreads();
    if (in_lower) lower[x] = s_upper[x][y];
    if (in_upper) upper[x] = s_lower[x][y];
}

template <class T>
static void launch(const T* in,
                   T* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream) {
    const Tiling tiling = cut_into_tiles(rows, cols, kTile);
    const dim3 grid(blocks_for(tiling, batch));
    transpose_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(in, out, tiling);
    CUDA_CHECK_LAUNCH();
}

void transpose(const float* in,
               float* out,
               int64_t batch,
               int64_t rows,
               int64_t cols,
               cudaStream_t stream) {
    if (check_transpose("transpose", in, out, batch, rows, cols) == 0) return;
    launch(in, out, batch, rows, cols, stream);
}

void transpose_u16(const uint16_t* in,
                   uint16_t* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream) {
    if (check_transpose("transpose_u16", in, out, batch, rows, cols) == 0) return;
    launch(in, out, batch, rows, cols, stream);
}

void transpose_in_place(float* matrix, int64_t batch, int64_t n, cudaStream_t stream) {
    if (check_in_place("transpose_in_place", matrix, batch, n) == 0) return;
    const Tiling tiling = cut_into_tiles(n, n, kTile);
    const dim3 grid(blocks_for(tiling, batch));
    swap_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(matrix, tiling);
    CUDA_CHECK_LAUNCH();
}
