/// mma_tiles.cuh: tiles of 16-bit numbers for mma.sync, copied while others are used.
/// Given, for the second stage.
#pragma once

#include <wb/ptx/cp_async.h>
#include <wb/ptx/exp2.h>
#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/mma.h>
#include <wb/ptx/pack.h>
#include <wb/ptx/rcp.h>

#include <algorithm>
#include <type_traits>

#include "pieces.cuh"

/// Rows of a block, 16 for each of its warps, and keys of a tile.
inline constexpr int BM = 64;
inline constexpr int kMmaRows = 16;
inline constexpr int kMmaThreads = BM / kMmaRows * wb::kWarpSize;
template <int D>
inline constexpr int BN = D > 128 ? 32 : 64;

/// Numbers of 16 bits in the 16 bytes that a thread copies at once: a chunk.
inline constexpr int kChunk = 8;

// #region swizzle
/// Rows of D numbers of 16 bits, one after the other; their chunks in another order, so
/// that eight rows have the same chunk in all 32 banks. A row of 32 numbers is half of
/// 128 bytes: of those, two lie side by side, and have the same order.
template <int D>
struct SwizzledRows {
    static constexpr int kBytes = D * 2;  ///< of a row
    static constexpr int kRowsOf128 = std::max(1, 128 / kBytes);
    static constexpr int kOrders = std::min(8, D / kChunk);

    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kBytes + (chunk ^ (row / kRowsOf128 % kOrders)) * 16;
    }
};
// #endregion swizzle

/// Starts to copy kRows rows of a head, from `first` on; zeros where there are none.
template <int kRows, int D, class T>
__device__ __forceinline__ void start_rows(char* s_tile,
                                           const HstuCall<T>& call,
                                           const T* rows,
                                           const RowTile& tile,
                                           int first,
                                           int head) {
    constexpr int kChunks = D / kChunk;
#pragma unroll
    for (int e = static_cast<int>(threadIdx.x); e < kRows * kChunks; e += kMmaThreads) {
        const int row = e / kChunks;
        const int chunk = e % kChunks;
        const bool exists = first + row < tile.length;
        // What is not read must still be an address: the first of the sequence.
        const T* const from =
            head_of(call, rows, tile, exists ? first + row : 0, head) + chunk * kChunk;
        wb::ptx::cp_async_zfill<16>(
            s_tile + SwizzledRows<D>::offset(row, chunk), from, exists ? 16 : 0);
    }
}

// #region products
/// The address that a lane passes to ldmatrix, so that the four matrices are the upper
/// left, lower left, upper right and lower right quarter of 16 rows and 16 columns.
///
/// @param row   the first row in the tile
/// @param step  the columns are 16 step .. 16 step + 15
template <int D>
__device__ __forceinline__ const char* quarters(const char* s_tile,
                                                int row,
                                                int step,
                                                int lane) {
    return s_tile + SwizzledRows<D>::offset(row + lane % 16, 2 * step + lane / 16);
}

/// c += a b, 16x16 by 16x8, for numbers of T. Lane l holds C[l / 4][2 (l % 4)] in c[0],
/// its right neighbour in c[1], and those eight rows below in c[2] and c[3].
template <class T>
__device__ __forceinline__ void multiply(float (&c)[4],
                                         const uint32_t (&a)[4],
                                         uint32_t b0,
                                         uint32_t b1) {
    const uint32_t b[2] = {b0, b1};
    if constexpr (std::is_same_v<T, __half>)
        wb::ptx::mma_m16n8k16_f16(c, a, b);
    else
        wb::ptx::mma_m16n8k16_bf16(c, a, b);
}

/// 1 / (1 + exp(-s)) with an exponential and a reciprocal of one instruction each. For
/// s below -128, 2^... is infinite, and its reciprocal 0.
__device__ __forceinline__ float fast_sigmoid(float s) {
    constexpr float kLog2e = 1.44269504f;
    return wb::ptx::rcp_approx(1.0f + wb::ptx::exp2_approx(-kLog2e * s));
}
__device__ __forceinline__ float fast_silu(float s) {
    return s * fast_sigmoid(s);
}
// #endregion products

/// Stores a warp's 16 rows of sums, times a factor, two numbers at a time.
///
/// @param row  the lane's upper one, in the sequence
template <class T, int D>
__device__ __forceinline__ void store_sums(const HstuCall<T>& call,
                                           T* rows,
                                           const RowTile& tile,
                                           int row,
                                           int head,
                                           const float (&r_sums)[D / 8][4],
                                           float factor,
                                           int lane) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        if (row + 8 * h >= tile.length) continue;
        T* const to = head_of(call, rows, tile, row + 8 * h, head) + 2 * (lane % 4);
#pragma unroll
        for (int c = 0; c < D / 8; ++c) {
            *reinterpret_cast<uint32_t*>(to + 8 * c) = wb::ptx::pack<T>(
                r_sums[c][2 * h] * factor, r_sums[c][2 * h + 1] * factor);
        }
    }
}
