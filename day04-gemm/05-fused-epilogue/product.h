/// product.h: given with this exercise: the product of chapter 03's second stage, for a
/// second factor that is stored either way. Its sums stay in registers. There is
/// nothing to write here.
#pragma once

#include <wb/launch_kernel.h>
#include <wb/ptx/ldmatrix.h>

#include "../03-mma-sync/block_tiles.h"
#include "calls.h"

/// Rows in shared memory without gaps, their chunks in another order in each row
/// (chapter 03).
template <int kChunks>
struct Swizzled {
    static constexpr int kRowBytes = kChunks * kChunkBytes;
    static_assert(kChunks == 4 || kChunks % 8 == 0, "rows of 64 or n * 128 bytes");
    static __device__ __forceinline__ int offset(int row, int chunk) {
        const int x = kChunks == 4 ? row / 2 % 4 : row % 8;
        return row * kRowBytes + (chunk ^ x) * kChunkBytes;
    }
};

// #region tiles
/// Eight warps, and 64 x 32 sums for each.
///
/// @tparam kTransposed  the second factor is stored as [N, K]: x w^T; else as [K, N]
template <bool kTransposed_>
struct LayerTiles : Sizes<__nv_bfloat16, 128, 128, 64, 32, Swizzled> {
    static constexpr bool kTransposed = kTransposed_;
    static constexpr int kStages = 3;
    /// How the rows of the second factor lie in a stage: along K, or along N.
    using RowsOfB = Swizzled<(kTransposed ? BK : BN) / kChunk>;
};
using ForwardTiles = LayerTiles<true>;
using BackwardTiles = LayerTiles<false>;
// #endregion tiles

/// Starts the copies of a stage. Either way the second tile has 8 KB.
template <class S>
__device__ __forceinline__ void copy_tiles(Stage<S>& stage,
                                           const Product& p,
                                           const Place<S>& at,
                                           int64_t k) {
    if constexpr (S::kTransposed) {
        const int64_t depth = at.k_end - k;
        Copies::tile<true, S::BM, S::BK, typename S::RowsA, S::kThreads>(
            stage.a, p.A + at.row * p.lda + k, p.lda, p.M - at.row, depth, p.vectors_a);
        Copies::tile<true, S::BN, S::BK, typename S::RowsOfB, S::kThreads>(
            stage.b, p.B + at.col * p.ldb + k, p.ldb, p.N - at.col, depth, p.vectors_b);
    } else {
        copy_stage<true>(stage, p, at, k);
    }
}

/// Two neighbouring fragments of the second factor. Stored as [N, K], neighbours in
/// shared memory are neighbours in a register: nothing is transposed.
template <class S>
__device__ __forceinline__ void load_two(
    uint32_t (&b)[4], const Stage<S>& stage, const Place<S>& at, int k, int j) {
    using Rows = typename S::RowsOfB;
    const int lane = threadIdx.x % wb::kWarpSize;
    if constexpr (S::kTransposed) {
        const int row = at.warp_col + lane / 16 * 8 + lane % 8;
        const int chunk = k / kChunk + lane / 8 % 2;
        wb::ptx::ldmatrix(
            b, stage.b + Rows::offset(row, chunk) + j * kTileN * Rows::kRowBytes);
    } else {
        const int chunk = (at.warp_col + j * kTileN) / kChunk + lane / 16;
        wb::ptx::ldmatrix<true>(
            b, stage.b + Rows::offset(lane % 16, chunk) + k * Rows::kRowBytes);
    }
}

/// A step of 16 along K.
template <class S>
__device__ __forceinline__ void multiply_step(WarpSums<S>& sums,
                                              const Stage<S>& stage,
                                              const Place<S>& at,
                                              int k) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int row = at.warp_row + lane % 16;
    uint32_t a[S::kTilesM][4];
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i)
        wb::ptx::ldmatrix(a[i],
                          stage.a + S::RowsA::offset(row, k / kChunk + lane / 16) +
                              i * kTileM * S::RowsA::kRowBytes);
#pragma unroll
    for (int j = 0; j < S::kTilesN; j += 2) {
        uint32_t both[4];
        load_two(both, stage, at, k, j);
        const uint32_t left[2] = {both[0], both[1]};
        const uint32_t right[2] = {both[2], both[3]};
#pragma unroll
        for (int i = 0; i < S::kTilesM; ++i) {
            multiply_add<__nv_bfloat16>(sums.at[i][j], a[i], left);
            multiply_add<__nv_bfloat16>(sums.at[i][j + 1], a[i], right);
        }
    }
}

// #region multiply
/// The sums of a block's tile: a ring of stages, filled by cp.async. At the end all
/// copies have landed, but other warps may still read the last stage.
template <class S>
__device__ __forceinline__ void multiply(WarpSums<S>& sums,
                                         Stage<S>* s_stages,  // [kStages]
                                         const Product& p,
                                         const Place<S>& at) {
    // #endregion multiply
    clear(sums);
    for (int s = 0; s < S::kStages - 1; ++s) {
        if (s * S::BK < p.K) copy_tiles(s_stages[s], p, at, s * S::BK);
        wb::ptx::cp_async_commit();
    }
    int used = 0;
    int free = S::kStages - 1;
    for (int64_t k = 0; k < p.K; k += S::BK) {
        wb::ptx::cp_async_wait<S::kStages - 2>();
        __syncthreads();  // this stage is there, and all have used the one before
        const int64_t ahead = k + (S::kStages - 1) * S::BK;
        if (ahead < p.K) copy_tiles(s_stages[free], p, at, ahead);
        wb::ptx::cp_async_commit();
#pragma unroll
        for (int step = 0; step < S::BK; step += kTileK)
            multiply_step(sums, s_stages[used], at, step);
        free = used;
        used = used + 1 == S::kStages ? 0 : used + 1;
    }
}

/// Bytes of dynamic shared memory.
template <class S>
inline constexpr size_t kSharedBytes = S::kStages * sizeof(Stage<S>);

/// A block's tile of the output.
template <class S>
__device__ __forceinline__ Place<S> place_of_block(const Product& p) {
    const int64_t across = (p.N - 1) / S::BN + 1;
    return {blockIdx.x / across, blockIdx.x % across, p.K};
}

/// Launches one block of S::kThreads for each tile of the output.
template <class S, class Kernel, class... Arguments>
void launch_tiles(Kernel kernel,
                  const wb::GemmShape& shape,
                  cudaStream_t stream,
                  const Arguments&... arguments) {
    wb::launch_kernel(kernel,
                      count_blocks<S>(shape),
                      S::kThreads,
                      kSharedBytes<S>,
                      stream,
                      arguments...);
}
