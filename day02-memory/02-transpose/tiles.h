/// tiles.h: what all versions of the transpose have in common. Where the tile of a
/// block is, and what the launchers check. Nothing here is left to you.
#pragma once

#include <wb/arguments.h>
#include <wb/launch.h>

#include <cstdint>

/// Rows and columns of a tile: a warp moves one row of 32 elements.
inline constexpr int kTile = 32;

/// The most blocks that a grid may have along x.
inline constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;

// #region tiles
/// The matrices of a batch, each cut into square tiles. Those at the right and at the
/// bottom may reach over the edge of the matrix.
struct Tiling {
    int64_t rows;  ///< of each matrix, as it is read
    int64_t cols;
    unsigned across;  ///< tiles side by side
    unsigned down;    ///< tiles one below the other
};

/// One of the tiles.
struct Tile {
    int64_t start;  ///< where its matrix begins: elements from the beginning of all
    int64_t row;    ///< of its first element, in that matrix
    int64_t col;
};

/// The tile of this block. Blocks go along a row of tiles, then to the next row of
/// tiles, then to the next matrix.
__device__ inline Tile tile_of_block(const Tiling& tiling, int edge) {
    const unsigned row_of_tiles = blockIdx.x / tiling.across;
    return {int64_t{row_of_tiles / tiling.down} * tiling.rows * tiling.cols,
            int64_t{row_of_tiles % tiling.down} * edge,
            int64_t{blockIdx.x % tiling.across} * edge};
}
// #endregion tiles

/// Matrices of these sizes in tiles of edge x edge elements.
inline Tiling cut_into_tiles(int64_t rows, int64_t cols, int edge) {
    return {rows,
            cols,
            static_cast<unsigned>(wb::ceil_div(cols, int64_t{edge})),
            static_cast<unsigned>(wb::ceil_div(rows, int64_t{edge}))};
}

/// One block for each tile of all matrices.
inline unsigned blocks_for(const Tiling& tiling, int64_t batch) {
    return wb::grid_size(batch * tiling.across * tiling.down, 1);
}

/// Checks the sizes, and that there are blocks enough for the smallest tiles.
/// Returns the number of elements.
inline int64_t checked_count(const wb::Arguments& arguments,
                             const char* product,
                             int64_t batch,
                             int64_t rows,
                             int64_t cols) {
    const int64_t count = arguments.product(product, {batch, rows, cols});
    const int64_t tiles =
        batch * wb::ceil_div(rows, int64_t{kTile}) * wb::ceil_div(cols, int64_t{kTile});
    arguments.require(
        tiles <= kMaxBlocks, "tiles", tiles, "a grid has at most 2^31 - 1 blocks");
    return count;
}

/// Checks the arguments of transpose() and of transpose_u16(). Returns the number of
/// elements; 0: there is nothing to do.
template <class T>
int64_t check_transpose(const char* function,
                        const T* in,
                        const T* out,
                        int64_t batch,
                        int64_t rows,
                        int64_t cols) {
    const wb::Arguments arguments(function);
    arguments.size("batch", batch).size("rows", rows).size("cols", cols);
    const int64_t count =
        checked_count(arguments, "batch * rows * cols", batch, rows, cols);
    if (count == 0) return 0;
    arguments.device("in", in, count).device("out", out, count);
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    arguments.apart("out - in", in, bytes, out, bytes);
    return count;
}

/// The same for transpose_in_place().
inline int64_t check_in_place(const char* function,
                              const float* matrix,
                              int64_t batch,
                              int64_t n) {
    const wb::Arguments arguments(function);
    arguments.size("batch", batch).size("n", n);
    const int64_t count = checked_count(arguments, "batch * n * n", batch, n, n);
    arguments.device("matrix", matrix, count);
    return count;
}
