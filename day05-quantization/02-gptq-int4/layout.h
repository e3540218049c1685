/// layout.h: given with this exercise: W in an order that a GPU can read quickly. There
/// is nothing to write here.
///
/// The unit is a *tile*: 32 rows of W times 32 columns, 512 bytes, which a warp loads
/// at once. Lane 4 g + q has four words of it: word j is column 4 g + j, rows 8 q to 8
/// q + 7. That is a word of qweight, with its nibbles in another order, see
/// place_of_row().
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/launch.h>

#include "gptq_int4.h"

// #region layout
inline constexpr int kTileRows = 32;
inline constexpr int kTileColumns = 32;

/// Where things are in the memory that gptq_repack() fills. Rows are sorted by group;
/// each group begins with a tile of its own. Without g_idx they are in order anyway.
struct Packed {
    const uint4* weights;  ///< [tiles_across, tiles_down, 32 lanes] four words
    const uint4* factors;  ///< [tiles_across, groups, 8] four pairs of half: scale and
                           ///< 1024 + zero of a column
    const int32_t* rows;   ///< [tiles_down * 32] the row of W that is there, or -1;
                           ///< null without g_idx: they are in their places
    const int32_t* group_of;  ///< [tiles_down] the group of a tile; null without g_idx
    const int32_t* used;      ///< [1] tiles down that hold anything; null: all
    int64_t tiles_across;     ///< ceil_div(N, 32)
    int tiles_down;           ///< that there is room for
    int groups;
    int group_shift;  ///< without g_idx: a tile >> this is its group

    /// @param begin  of the memory, or null, to ask for its size
    static Packed of(const GptqShape& s, bool has_order, const uint4* begin) {
        Packed p = {};
        p.tiles_across = wb::ceil_div(s.N, int64_t{kTileColumns});
        p.groups = static_cast<int>(s.groups());
        p.tiles_down = static_cast<int>(wb::ceil_div(s.K, int64_t{kTileRows}));
        p.group_shift = 31;  // one group
        for (int shift = 0; shift < 31; ++shift)
            if (p.groups > 1 && s.rows_of_group() == int64_t{kTileRows} << shift)
                p.group_shift = shift;
        // With g_idx each group may have a tile that is not full.
        if (has_order) p.tiles_down += p.groups;
        p.weights = begin;
        p.factors = begin + p.vectors_of_weights();
        if (has_order) {
            const uint4* const lists = p.factors + p.vectors_of_factors();
            p.rows = reinterpret_cast<const int32_t*>(lists);
            p.group_of = p.rows + int64_t{p.tiles_down} * kTileRows;
            p.used = p.group_of + p.tiles_down;
        }
        return p;
    }

    __host__ __device__ int64_t vectors_of_weights() const {
        return tiles_across * tiles_down * wb::kWarpSize;
    }
    __host__ __device__ int64_t vectors_of_factors() const {
        return tiles_across * groups * 8;
    }

    /// All of it, in units of 16 bytes.
    int64_t vectors(bool has_order) const {
        const int64_t words = int64_t{tiles_down} * (kTileRows + 1) + 1;
        return vectors_of_weights() + vectors_of_factors() +
               (has_order ? wb::ceil_div(words, int64_t{4}) : 0);
    }

    /// Tiles down that hold anything.
    __device__ __forceinline__ int tiles() const {
        return used != nullptr ? *used : tiles_down;
    }
    /// The group of a tile < tiles().
    __device__ __forceinline__ int group(int tile) const {
        return group_of != nullptr ? group_of[tile] : tile >> group_shift;
    }
};

/// Which nibble of a packed word is row i of its eight: rows 0 and 1, 2 and 3, ... are
/// 16 bits apart, so that a mask takes out both at once.
__host__ __device__ constexpr int place_of_row(int i) {
    return i / 2 + i % 2 * 4;
}
// #endregion layout
