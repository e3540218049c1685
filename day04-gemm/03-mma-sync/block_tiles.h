/// block_tiles.h: given with this exercise: the sizes of a block's tile, how tiles of A
/// and B come to shared memory, and how sums leave the block. There is nothing to write
/// here.
#pragma once

#include <wb/ptx/cp_async.h>

#include "tiles.h"

// #region sizes
/// A chunk is what a lane copies at once, and what ldmatrix takes for a row: 16 bytes.
inline constexpr int kChunkBytes = 16;
inline constexpr int kChunk = 8;  ///< numbers of 16 bits

/// Rows in shared memory that are 16 bytes further apart than they are long.
///
/// @tparam kChunks  of a row
template <int kChunks>
struct Padded {
    static constexpr int kRowBytes = (kChunks + 1) * kChunkBytes;
    /// Where a chunk is, in bytes from the tile's beginning.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kRowBytes + chunk * kChunkBytes;
    }
};

/// A block of BM / WM x BN / WN warps computes BM x BN elements of C, a warp WM x WN of
/// them, in tiles of 16 x 8.
///
/// @tparam Layout  how rows lie in shared memory: Padded, or one like it
/// @tparam BK      columns of A, and rows of B, that a block has at a time
template <class T,
          int BM_,
          int BN_,
          int WM_,
          int WN_,
          template <int>
          class Layout,
          int BK_ = 32>
struct Sizes {
    using Element = T;
    static constexpr int BM = BM_;
    static constexpr int BN = BN_;
    static constexpr int BK = BK_;
    static constexpr int WM = WM_;
    static constexpr int WN = WN_;
    static constexpr int kTilesM = WM / kTileM;  // of a warp
    static constexpr int kTilesN = WN / kTileN;
    static constexpr int kWarpsAcross = BN / WN;
    static constexpr int kThreads = BM / WM * kWarpsAcross * wb::kWarpSize;
    using RowsA = Layout<BK / kChunk>;
    using RowsB = Layout<BN / kChunk>;

    static_assert(BM % WM == 0 && BN % WN == 0, "whole warps");
    static_assert(WM % kTileM == 0, "whole tiles");
    static_assert(WN % (2 * kTileN) == 0, "an ldmatrix loads two tiles of B");
};
// #endregion sizes

// #region stage
/// BK columns of A and BK rows of B, for a block.
template <class S>
struct Stage {
    alignas(128) char a[S::BM * S::RowsA::kRowBytes];  // [BM, BK]
    alignas(128) char b[S::BK * S::RowsB::kRowBytes];  // [BK, BN]
};

/// A warp's sums: 4 of each tile in each lane.
template <class S>
struct WarpSums {
    float at[S::kTilesM][S::kTilesN][4];
};
// #endregion stage

// #region place
/// Where in C this block and this warp work, and which columns of A and rows of B the
/// block multiplies.
template <class S>
struct Place {
    int64_t row;  ///< the block's first, in C
    int64_t col;
    int64_t k_begin;  ///< a multiple of BK
    int64_t k_end;    ///< behind the last; k_begin <= k_end <= K
    int warp_row;     ///< the warp's first, in the block's tile
    int warp_col;

    /// @param down, across  the block's tile of C
    __device__ __forceinline__ Place(int64_t down, int64_t across, int64_t K)
        : row(down * S::BM), col(across * S::BN), k_begin(0), k_end(K) {
        const int warp = threadIdx.x / wb::kWarpSize;
        warp_row = warp / S::kWarpsAcross * S::WM;
        warp_col = warp % S::kWarpsAcross * S::WN;
    }
};
// #endregion place

// #region copies
/// The way of tiles to shared memory.
struct Copies {
    /// Copies 16 bytes to shared memory: now, or asynchronously.
    template <bool kAsync>
    static __device__ __forceinline__ void chunk(void* s_chunk, const void* g_chunk) {
        if constexpr (kAsync)
            wb::ptx::cp_async<kChunkBytes>(s_chunk, g_chunk);
        else
            *static_cast<uint4*>(s_chunk) = *static_cast<const uint4*>(g_chunk);
    }

    /// The threads of a block bring a tile to shared memory, with zeros where the
    /// matrix has no elements. With kAsync, whole chunks are copied by cp.async, and
    /// somebody has to commit and wait; all else is there for the next barrier.
    ///
    /// @tparam Rows          where a chunk goes
    /// @param s_tile         [kRows, kColumns]
    /// @param g_tile         the tile's first element
    /// @param ld             of the matrix
    /// @param rows, columns  that the matrix has from g_tile on; <= 0: none
    /// @param vectors        rows begin at multiples of 16 bytes
    template <bool kAsync, int kRows, int kColumns, class Rows, int kThreads, class T>
    static __device__ __forceinline__ void tile(char* s_tile,
                                                const T* g_tile,
                                                int64_t ld,
                                                int64_t rows,
                                                int64_t columns,
                                                bool vectors) {
        constexpr int kChunks = kColumns / kChunk;  // of a row
        static_assert(kRows * kChunks % kThreads == 0,
                      "as many chunks for each thread");
        const int tid = threadIdx.x;
        if (vectors && rows >= kRows && columns >= kColumns) {
            constexpr int kStep = kThreads / kChunks;  // rows
            const T* g_chunk = g_tile + tid / kChunks * ld + tid % kChunks * kChunk;
#pragma unroll
            for (int row = 0; row < kRows; row += kStep) {
                chunk<kAsync>(s_tile + Rows::offset(row + tid / kChunks, tid % kChunks),
                              g_chunk);
                g_chunk += kStep * ld;
            }
            return;
        }
#pragma unroll 1  // at the edges only: the kernel need not keep registers for it
        for (int i = tid; i < kRows * kChunks; i += kThreads) {
            const int row = i / kChunks;
            const int first = i % kChunks * kChunk;
            char* const s_chunk = s_tile + Rows::offset(row, i % kChunks);
            const T* const g_chunk = g_tile + row * ld + first;
            if (row >= rows || first >= columns) {
                *reinterpret_cast<uint4*>(s_chunk) = {};
                continue;
            }
            if (vectors && first + kChunk <= columns) {
                chunk<kAsync>(s_chunk, g_chunk);
                continue;
            }
#pragma unroll 1
            for (int e = 0; e < kChunk; ++e) {
                reinterpret_cast<T*>(s_chunk)[e] =
                    first + e < columns ? g_chunk[e] : static_cast<T>(0.0f);
            }
        }
    }
};

/// Both tiles of a stage.
/// @param k  the first of its columns of A, and rows of B
template <bool kAsync, class S, class T>
__device__ __forceinline__ void copy_stage(Stage<S>& stage,
                                           const Problem<T>& p,
                                           const Place<S>& at,
                                           int64_t k) {
    const int64_t depth = at.k_end - k;
    Copies::tile<kAsync, S::BM, S::BK, typename S::RowsA, S::kThreads>(
        stage.a, p.A + at.row * p.lda + k, p.lda, p.M - at.row, depth, p.vectors_a);
    Copies::tile<kAsync, S::BK, S::BN, typename S::RowsB, S::kThreads>(
        stage.b, p.B + k * p.ldb + at.col, p.ldb, depth, p.N - at.col, p.vectors_b);
}
// #endregion copies

template <class S>
__device__ __forceinline__ void clear(WarpSums<S>& sums) {
#pragma unroll
    for (auto& row : sums.at)
#pragma unroll
        for (auto& tile : row)
#pragma unroll
            for (float& sum : tile)
                sum = 0.0f;
}

// #region sums
/// Stores a lane's four sums of a tile of 16 x 8: two neighbours of a row, and two of
/// the row 8 below it. Four lanes write 32 bytes together, a whole sector.
///
/// @param g_c       the matrix [M, N] that takes them, rows ldc apart
/// @param pairs     all of its rows begin at multiples of 8 bytes
/// @param row, col  where the lane's first sum belongs
__device__ __forceinline__ void store_tile(const float (&sums)[4],
                                           float* g_c,
                                           int64_t ldc,
                                           int64_t M,
                                           int64_t N,
                                           bool pairs,
                                           int64_t row,
                                           int64_t col) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + half * 8 >= M) continue;
        float* const g_sums = g_c + (row + half * 8) * ldc + col;
        if (pairs && col + 1 < N) {
            *reinterpret_cast<float2*>(g_sums) = {sums[2 * half], sums[2 * half + 1]};
        } else {
            if (col < N) g_sums[0] = sums[2 * half];
            if (col + 1 < N) g_sums[1] = sums[2 * half + 1];
        }
    }
}

/// Stores a warp's sums.
template <class S>
__device__ __forceinline__ void store_sums(const WarpSums<S>& sums,
                                           float* g_c,
                                           int64_t ldc,
                                           int64_t M,
                                           int64_t N,
                                           bool pairs,
                                           const Place<S>& at) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = at.row + at.warp_row + lane / 4;
    const int64_t col = at.col + at.warp_col + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTilesN; ++j)
            store_tile(sums.at[i][j],
                       g_c,
                       ldc,
                       M,
                       N,
                       pairs,
                       row + i * kTileM,
                       col + j * kTileN);
    }
}
// #endregion sums

/// Blocks that share a row of C.
template <class S>
int64_t blocks_across(const wb::GemmShape& shape) {
    return wb::ceil_div(shape.N, int64_t{S::BN});
}

/// Blocks of a launch.
template <class S>
unsigned count_blocks(const wb::GemmShape& shape) {
    return wb::grid_size(
        wb::ceil_div(shape.M, int64_t{S::BM}) * blocks_across<S>(shape), 1);
}
