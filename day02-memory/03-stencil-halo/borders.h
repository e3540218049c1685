/// borders.h: what both of your files need: values on either side of a border, tiles,
/// and what the functions refuse. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/launch.h>

#include <cstdint>

#include "stencil_halo.h"

/// Threads in a block, for one dimension.
inline constexpr int kThreads = 256;

/// Elements of a tile, for two: a block has a thread for each.
inline constexpr int kTileRows = 16;
inline constexpr int kTileCols = 32;

/// The most blocks that a grid may have along x.
inline constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;

// #region borders
/// The index in [0, n) that stands for i, any integer; -1: a zero stands for it.
__device__ inline int64_t index_inside(int64_t i, int64_t n, Border border) {
    if (i >= 0 && i < n) return i;
    if (border == Border::zero) return -1;
    if (border == Border::clamp) return i < 0 ? 0 : n - 1;
    const int64_t rest = i % n;  // of the sign of i
    return rest < 0 ? rest + n : rest;
}

/// n floats in a row, with a value on either side of them, too.
struct Line {
    const float* values;  ///< [n]; null: all are 0
    int64_t n;
    Border border;

    __device__ float at(int64_t i) const {
        const int64_t inside = index_inside(i, n, border);
        return inside < 0 || values == nullptr ? 0.0f : values[inside];
    }
};

/// One image, with a value on all sides.
struct Image {
    const float* values;  ///< [rows, cols]
    int64_t rows;
    int64_t cols;
    Border border;

    __device__ Line line(int64_t row) const {
        const int64_t inside = index_inside(row, rows, border);
        return {inside < 0 ? nullptr : values + inside * cols, cols, border};
    }
    __device__ float at(int64_t row, int64_t col) const { return line(row).at(col); }
};
// #endregion borders

// #region tiles
/// A batch of images, each cut into tiles of kTileRows x kTileCols.
struct Tiles {
    Image first;      ///< of the batch
    unsigned across;  ///< tiles side by side
    unsigned down;    ///< tiles one below the other
};

/// One of the tiles.
struct Tile {
    Image image;    ///< to which it belongs
    int64_t start;  ///< where that image begins: elements from the beginning of all
    int64_t row;    ///< of the tile's first element, in its image
    int64_t col;
};

/// The tile of this block. Blocks go along a row of tiles, then to the next row of
/// tiles, then to the next image.
__device__ inline Tile tile_of_block(const Tiles& tiles) {
    const unsigned row_of_tiles = blockIdx.x / tiles.across;
    const int64_t start =
        int64_t{row_of_tiles / tiles.down} * tiles.first.rows * tiles.first.cols;
    Image image = tiles.first;
    image.values += start;
    return {image,
            start,
            int64_t{row_of_tiles % tiles.down} * kTileRows,
            int64_t{blockIdx.x % tiles.across} * kTileCols};
}
// #endregion tiles

inline Tiles cut_into_tiles(const float* in,
                            int64_t rows,
                            int64_t cols,
                            Border border) {
    return {{in, rows, cols, border},
            static_cast<unsigned>(wb::ceil_div(cols, int64_t{kTileCols})),
            static_cast<unsigned>(wb::ceil_div(rows, int64_t{kTileRows}))};
}

/// One block for each tile of all images.
inline unsigned blocks_for(const Tiles& tiles, int64_t batch) {
    return wb::grid_size(batch * tiles.across * tiles.down, 1);
}

/// Refuses a radius that is too large, and weights that are NaN or infinite: 0 times
/// infinity would be NaN outside of the array, too.
///
/// @tparam kDimensions  1: weights along a line, 2: rows and columns of them
template <int kDimensions>
void check_filter(const wb::Arguments& arguments,
                  const char* radius_name,
                  const char* weight_name,
                  int radius,
                  const float* weight) {
    arguments.require(radius >= 0 && radius <= kMaxRadius,
                      radius_name,
                      radius,
                      "must be 0, 1, 2, 3 or 4");
    const int side = 2 * radius + 1;
    for (int i = 0; i < (kDimensions == 2 ? side * side : side); ++i)
        arguments.finite(weight_name, weight[i]);
}

/// Refuses an unknown border, bad pointers, and arrays that overlap.
inline void check_arrays(const wb::Arguments& arguments,
                         const float* in,
                         const float* out,
                         int64_t count,
                         Border border) {
    const int kind = static_cast<int>(border);
    arguments.require(kind >= 0 && kind <= static_cast<int>(Border::wrap),
                      "border",
                      kind,
                      "must be zero, clamp or wrap");
    if (count == 0) return;
    arguments.device("in", in, count).device("out", out, count);
    const int64_t bytes = count * int64_t{sizeof(float)};
    arguments.apart("out - in", in, bytes, out, bytes);
}

/// The sizes of a batch of images. Returns the number of elements.
inline int64_t check_sizes(const wb::Arguments& arguments,
                           int64_t batch,
                           int64_t rows,
                           int64_t cols) {
    arguments.size("batch", batch).size("rows", rows).size("cols", cols);
    const int64_t bytes = arguments.product("batch * rows * cols * sizeof(float)",
                                            {batch, rows, cols, sizeof(float)});
    if (bytes == 0) return 0;
    const int64_t tiles = batch * wb::ceil_div(rows, int64_t{kTileRows}) *
                          wb::ceil_div(cols, int64_t{kTileCols});
    arguments.require(
        tiles <= kMaxBlocks, "tiles", tiles, "a grid has at most 2^31 - 1 blocks");
    return bytes / int64_t{sizeof(float)};
}

/// Checks the arguments of stencil_1d(). Returns n.
inline int64_t check_stencil_1d(
    const float* in, const float* out, int64_t n, const Taps& taps, Border border) {
    const wb::Arguments arguments("stencil_1d");
    arguments.size("n", n).product("n * sizeof(float)", {n, sizeof(float)});
    check_filter<1>(arguments, "taps.radius", "taps.weight", taps.radius, taps.weight);
    check_arrays(arguments, in, out, n, border);
    return n;
}

/// The same for convolve_2d(). Returns the number of elements.
inline int64_t check_convolve_2d(const float* in,
                                 const float* out,
                                 int64_t batch,
                                 int64_t rows,
                                 int64_t cols,
                                 const Filter& filter,
                                 Border border) {
    const wb::Arguments arguments("convolve_2d");
    const int64_t count = check_sizes(arguments, batch, rows, cols);
    check_filter<2>(
        arguments, "filter.radius", "filter.weight", filter.radius, filter.weight);
    check_arrays(arguments, in, out, count, border);
    return count;
}

/// The same for convolve_separable().
inline int64_t check_separable(const float* in,
                               const float* out,
                               int64_t batch,
                               int64_t rows,
                               int64_t cols,
                               const Taps& vertical,
                               const Taps& horizontal,
                               Border border) {
    const wb::Arguments arguments("convolve_separable");
    const int64_t count = check_sizes(arguments, batch, rows, cols);
    check_filter<1>(arguments,
                    "vertical.radius",
                    "vertical.weight",
                    vertical.radius,
                    vertical.weight);
    check_filter<1>(arguments,
                    "horizontal.radius",
                    "horizontal.weight",
                    horizontal.radius,
                    horizontal.weight);
    arguments.require(vertical.radius == horizontal.radius,
                      "vertical.radius - horizontal.radius",
                      vertical.radius - horizontal.radius,
                      "both must be the same");
    check_arrays(arguments, in, out, count, border);
    return count;
}

// #region radius
/// Calls `launch` with the radius as a constant: launch(Radius<3>()) for 3.
template <int R>
struct Radius {
    static constexpr int value = R;
};

template <class Launch>
void with_radius(int radius, const Launch& launch) {
    static_assert(kMaxRadius == 4, "one line for each radius");
    if (radius == 0) launch(Radius<0>());
    if (radius == 1) launch(Radius<1>());
    if (radius == 2) launch(Radius<2>());
    if (radius == 3) launch(Radius<3>());
    if (radius == 4) launch(Radius<4>());
}
// #endregion radius
