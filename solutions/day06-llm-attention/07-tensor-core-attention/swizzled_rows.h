// swizzled_rows.h: v3: the same rows, their chunks in another order.
#pragma once

// #region v3-swizzle
/// Rows of D numbers of 16 bits, one after the other. The eight chunks of 128 bytes
/// that lie below each other are in a different order in each of eight rows.
///
/// Shared memory has 32 banks of 4 bytes, which is 8 chunks. A matrix of ldmatrix is a
/// chunk of each of eight rows. Below each other they would be in the same four banks,
/// for a row is a multiple of 128 bytes long; chunk ^ (row % 8) puts them into all 32.
template <int D>
struct SwizzledRows {
    static constexpr int kBytes = D * 2;  ///< of a row
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kBytes + (chunk ^ (row % 8)) * 16;
    }
};
// #endregion v3-swizzle
