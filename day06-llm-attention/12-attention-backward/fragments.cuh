// fragments.cuh: given with the second stage: rows of bf16 in shared memory, products
// of them by mma.sync, as chapter 07 makes them, and how a lane finds its numbers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/launch.h>
#include <wb/ptx/cp_async.h>
#include <wb/ptx/ldmatrix.h>
#include <wb/ptx/mma.h>
#include <wb/ptx/pack.h>

#include <cstdint>

using Bf16 = __nv_bfloat16;

/// Rows of a product's tile; a warp owns so many rows of its block's side.
inline constexpr int kTile = 16;
/// Warps of a block, its threads, and the rows that it owns.
inline constexpr int kWarps = 8;
inline constexpr int kBlock = kWarps * wb::kWarpSize;
inline constexpr int kOwn = kWarps * kTile;
/// Rows of the other side that it works on at a time, and how many such tiles are in
/// shared memory or on their way there.
inline constexpr int kStep = 64;
inline constexpr int kStages = 2;

/// What is known of a row of queries before the loops begin.
struct RowStats {
    float lse2;   ///< lse * log2(e): weights are powers of 2
    float delta;  ///< d_o . o
};

/// How many tiles of `size` hold n things; 0 for n <= 0.
__device__ __forceinline__ int tiles_of(int n, int size) {
    return n <= 0 ? 0 : (n + size - 1) / size;
}

// #region rows
/// Where chunks of 16 bytes lie in a tile whose rows have kNumbers bf16, a multiple of
/// 64: eight chunks below each other are in a different order in each of eight rows, so
/// that ldmatrix finds them in different banks (chapter 07, v3).
template <int kNumbers>
struct Rows {
    static constexpr int kBytes = kNumbers * 2;  ///< of a row
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kBytes + (chunk ^ row % 8) * 16;
    }
};

/// Starts the copy of kCount rows, of which `rows` exist; zeros for the others.
template <int D, int kCount>
__device__ __forceinline__ void start_rows(char* s_tile, const Bf16* g, int rows) {
    constexpr int kChunks = D / 8;
    static_assert(kCount * kChunks % kBlock == 0, "every thread copies as much");
#pragma unroll
    for (int i = 0; i < kCount * kChunks / kBlock; ++i) {
        const int e = i * kBlock + static_cast<int>(threadIdx.x);
        const int row = e / kChunks;
        const int chunk = e % kChunks;
        const bool exists = row < rows;
        // What is not read must still be an address: the first of the tile.
        wb::ptx::cp_async_zfill<16>(s_tile + Rows<D>::offset(row, chunk),
                                    exists ? g + row * D + chunk * 8 : g,
                                    exists ? 16 : 0);
    }
}
// #endregion rows

// #region products
/// The address that a lane passes to ldmatrix for the 16x16 block whose first row is
/// `row`, and whose columns are 16 step .. 16 step + 15: quarters come as upper left,
/// lower left, upper right, lower right.
template <int kNumbers>
__device__ __forceinline__ const char* block_of(const char* s_tile,
                                                int row,
                                                int step,
                                                int lane) {
    return s_tile + Rows<kNumbers>::offset(row + lane % 16, 2 * step + lane / 16);
}

/// The same of a block that is to be transposed: its rows become columns, and quarters
/// come in the order that they have then.
template <int kNumbers>
__device__ __forceinline__ const char* turned_block_of(const char* s_tile,
                                                       int row,
                                                       int step,
                                                       int lane) {
    return s_tile + Rows<kNumbers>::offset(row + lane / 16 * 8 + lane % 8,
                                           2 * step + lane / 8 % 2);
}

/// c += a * b for the 16 columns of b that two accumulators hold.
__device__ __forceinline__ void multiply(float (&first)[4],
                                         float (&second)[4],
                                         const uint32_t (&a)[4],
                                         uint32_t b0,
                                         uint32_t b1,
                                         uint32_t b2,
                                         uint32_t b3) {
    const uint32_t b_first[2] = {b0, b1};
    const uint32_t b_second[2] = {b2, b3};
    wb::ptx::mma_m16n8k16_bf16(first, a, b_first);
    wb::ptx::mma_m16n8k16_bf16(second, a, b_second);
}

/// c = a * b^T: each of 16 rows of a with each of kStep rows of b, all of D numbers.
template <int D>
__device__ __forceinline__ void multiply_rows(float (&c)[kStep / 8][4],
                                              const char* s_a,  // the warp's 16 rows
                                              const char* s_b,  // [kStep] rows
                                              int lane) {
#pragma unroll
    for (auto& part : c)
#pragma unroll
        for (float& x : part)
            x = 0.0f;
#pragma unroll 4
    for (int step = 0; step < D / kTile; ++step) {
        uint32_t a[4];
        wb::ptx::ldmatrix(a, block_of<D>(s_a, 0, step, lane));
#pragma unroll
        for (int n = 0; n < kStep / kTile; ++n) {
            uint32_t b[4];
            wb::ptx::ldmatrix(b, block_of<D>(s_b, n * kTile, step, lane));
            multiply(c[2 * n], c[2 * n + 1], a, b[0], b[2], b[1], b[3]);
        }
    }
}

/// c += a * b: 16 rows of kStep numbers, which are accumulators of another product and
/// are rounded to bf16, with kStep rows of b.
template <int D>
__device__ __forceinline__ void add_rows(float (&c)[D / 8][4],
                                         const float (&r_a)[kStep / 8][4],
                                         const char* s_b,  // [kStep] rows
                                         int lane) {
#pragma unroll
    for (int n = 0; n < kStep / kTile; ++n) {
        const float(&first)[4] = r_a[2 * n];
        const float(&second)[4] = r_a[2 * n + 1];
        const uint32_t a[4] = {wb::ptx::pack<Bf16>(first[0], first[1]),
                               wb::ptx::pack<Bf16>(first[2], first[3]),
                               wb::ptx::pack<Bf16>(second[0], second[1]),
                               wb::ptx::pack<Bf16>(second[2], second[3])};
#pragma unroll
        for (int step = 0; step < D / kTile; ++step) {
            uint32_t b[4];
            wb::ptx::ldmatrix<true>(b, block_of<D>(s_b, n * kTile, step, lane));
            multiply(c[2 * step], c[2 * step + 1], a, b[0], b[1], b[2], b[3]);
        }
    }
}
// #endregion products

// #region places
/// Element e of part n of 16 accumulated rows, [kStep / 8][4] or [D / 8][4], that a
/// lane holds: its row, 0 to 15.
__device__ __forceinline__ int row_of(int lane, int e) {
    return lane / 4 + e / 2 * 8;
}
/// ... and its column.
__device__ __forceinline__ int column_of(int lane, int n, int e) {
    return n * 8 + lane % 4 * 2 + e % 2;
}
// #endregion places

/// Stores a warp's 16 rows of sums, times a factor, two numbers at a time.
/// @param rows  that exist, from the warp's first one on
template <int D>
__device__ __forceinline__ void store_sums(
    Bf16* g, const float (&r_sums)[D / 8][4], float factor, int rows, int lane) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
        const int row = row_of(lane, e);
        if (row >= rows) continue;
#pragma unroll
        for (int n = 0; n < D / 8; ++n) {
            const uint32_t pair =
                wb::ptx::pack<Bf16>(r_sums[n][e] * factor, r_sums[n][e + 1] * factor);
            *reinterpret_cast<uint32_t*>(g + row * D + column_of(lane, n, e)) = pair;
        }
    }
}
