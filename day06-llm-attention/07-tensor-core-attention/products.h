// products.h: given to the second stage: who holds what, and the two products of v2, as
// the first stage asks for them.
#pragma once

#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/pack.h>

#include <cstdint>

#include "tiles.h"

// #region products
/// Element e of the accumulator of m16n8k16, 0 <= e < 4, that a lane holds: its row in
/// the tile of 16 rows and 8 columns.
__device__ __forceinline__ int fragment_row(int lane, int e) {
    return lane / 4 + e / 2 * 8;
}

/// ... and its column.
__device__ __forceinline__ int fragment_column(int lane, int e) {
    return lane % 4 * 2 + e % 2;
}

/// The address that a lane passes to ldmatrix, so that the four matrices are the upper
/// left, lower left, upper right and lower right quarter of a 16x16 block: lane 8 m + i
/// names row i of matrix m.
///
/// @param s_tile  rows of D numbers
/// @param row     the block's first row in the tile
/// @param step    its columns are 16 step .. 16 step + 15, which are two chunks
template <class Rows>
__device__ __forceinline__ const char* quarter_row(const char* s_tile,
                                                   int row,
                                                   int step,
                                                   int lane) {
    return s_tile + Rows::offset(row + lane % 16, 2 * step + lane / 16);
}

/// Two accumulators side by side, 16x16 weights, as the first factor of a product.
template <class T>
__device__ __forceinline__ void as_factor(uint32_t (&a)[4],
                                          const float (&left)[4],
                                          const float (&right)[4]) {
    a[0] = wb::ptx::pack<T>(left[0], left[1]);
    a[1] = wb::ptx::pack<T>(left[2], left[3]);
    a[2] = wb::ptx::pack<T>(right[0], right[1]);
    a[3] = wb::ptx::pack<T>(right[2], right[3]);
}

/// Scores of 16 rows of q and BN keys: s = q k^T.
template <class T, int D, class Rows>
__device__ __forceinline__ void score_keys(float (&r_s)[BN / 8][4],
                                           const char* s_q,  // the warp's 16 rows
                                           const char* s_k,  // [BN] rows
                                           int lane) {
#pragma unroll
    for (auto& tile : r_s)
        for (float& score : tile)
            score = 0.0f;
#pragma unroll
    for (int step = 0; step < D / kTile; ++step) {
        uint32_t a[4];
        wb::ptx::ldmatrix(a, quarter_row<Rows>(s_q, 0, step, lane));
#pragma unroll
        for (int n = 0; n < BN / kTile; ++n) {
            uint32_t k[4];
            wb::ptx::ldmatrix(k, quarter_row<Rows>(s_k, n * kTile, step, lane));
            multiply<T>(r_s[2 * n], a, k[0], k[2]);
            multiply<T>(r_s[2 * n + 1], a, k[1], k[3]);
        }
    }
}

/// Adds what BN keys give to 16 rows of the output: o += weights * v.
template <class T, int D, class Rows>
__device__ __forceinline__ void add_values(float (&r_o)[D / 8][4],
                                           const float (&r_weights)[BN / 8][4],
                                           const char* s_v,  // [BN] rows
                                           int lane) {
#pragma unroll
    for (int n = 0; n < BN / kTile; ++n) {
        uint32_t a[4] = {};
        as_factor<T>(a, r_weights[2 * n], r_weights[2 * n + 1]);
#pragma unroll
        for (int step = 0; step < D / kTile; ++step) {
            uint32_t v[4];
            wb::ptx::ldmatrix<true>(v, quarter_row<Rows>(s_v, n * kTile, step, lane));
            multiply<T>(r_o[2 * step], a, v[0], v[1]);
            multiply<T>(r_o[2 * step + 1], a, v[2], v[3]);
        }
    }
}
// #endregion products
