// mma_sync.cu: a matrix product with the tensor cores' own instruction.
// #solution
//
// v1 is in 01_by_hand.cuh; v2, which you write first, is in this file; v3 is in
// 03_swizzle.cuh, v4 in mma_sync_fast.cu, the second stage, v5 in 05_block_order.cuh,
// v6 in 06_split_k.cuh, v7 in 07_stream_k.cuh, v8 in 08_clusters.cuh.
//
// <Ladder of="mma_sync_fp16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                    what limits it
//   v1     12.4  one warp a tile, loaded by hand         loads of 2 bytes, from L1, L2
//   v2      173  tiles in shared memory, and ldmatrix    the block waits for each tile
//   v3      156  chunks swizzled, no padding             the block waits for each tile
//   v4      322  cp.async, three stages, 64 x 32 a warp  L2 and shared memory
//   v5      384  64 x 64 a warp, blocks in squares       the rate of mma.sync
//   v6      382  K split where C is small                the rate of mma.sync or memory
//   v7      387  equal shares of all steps               the rate of mma.sync or memory
//   v8      425  clusters add parts, 64 k a stage        the rate of mma.sync or memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="mma_sync_bf16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                    what limits it
//   v1     12.5  one warp a tile, loaded by hand         loads of 2 bytes, from L1, L2
//   v2      172  tiles in shared memory, and ldmatrix    the block waits for each tile
//   v3      156  chunks swizzled, no padding             the block waits for each tile
//   v4      329  cp.async, three stages, 64 x 32 a warp  L2 and shared memory
//   v5      388  64 x 64 a warp, blocks in squares       the rate of mma.sync
//   v6      391  K split where C is small                the rate of mma.sync or memory
//   v7      388  equal shares of all steps               the rate of mma.sync or memory
//   v8      424  clusters add parts, 64 k a stage        the rate of mma.sync or memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "mma_sync.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/ptx/ldmatrix.h>

#include "block_tiles.h"
#include "tiles.h"

/// Four warps, and 32 x 32 sums for each. 16 bytes behind each row in shared memory.
template <class T>
using SizesV2 = Sizes<T, 64, 64, 32, 32, Padded>;

// #region v2-load
/// Loads a lane's part of 16 x 16 numbers of A: the four matrices of an ldmatrix.
///
/// @tparam Rows  Rows::offset(row, chunk) is where a chunk of 8 numbers lies
/// @param s_a    the block's tile of A
/// @param row    the first of the 16 rows in the tile
/// @param k      the first of the 16 columns, a multiple of 16
template <class Rows>
__device__ __forceinline__ void load_a(
    uint32_t (&a)[4], const char* s_a, int row, int k, int lane) {
    // TODO(learner): a[0] to a[3] are the upper left, lower left, upper right and lower
    // right quarter. Which row and which chunk does this lane name? (about 2 lines)
    // #solution
    wb::ptx::ldmatrix(a, s_a + Rows::offset(row + lane % 16, k / kChunk + lane / 16));
    // #end
}

/// Loads a lane's part of 16 x 16 numbers of B, for two products.
///
/// @param left   for columns col to col + 7
/// @param right  for columns col + 8 to col + 15
/// @param s_b    the block's tile of B
/// @param k      the first of the 16 rows in the tile
/// @param col    the first of the 16 columns, a multiple of 16
template <class Rows>
__device__ __forceinline__ void load_b(uint32_t (&left)[2],
                                       uint32_t (&right)[2],
                                       const char* s_b,
                                       int k,
                                       int col,
                                       int lane) {
    // TODO(learner): the same, but a register must hold two numbers of a column, and
    // neighbours in shared memory are of a row. Which quarters are left's, which are
    // right's? (about 6 lines)
    // #solution
    uint32_t b[4];
    wb::ptx::ldmatrix<true>(
        b, s_b + Rows::offset(k + lane % 16, col / kChunk + lane / 16));
    left[0] = b[0];
    left[1] = b[1];
    right[0] = b[2];
    right[1] = b[3];
    // #end
}
// #endregion v2-load

// #region v2-multiply
/// A warp multiplies its WM rows of A with its WN columns of B, all in shared memory.
template <class S>
__device__ __forceinline__ void multiply_tiles(WarpSums<S>& sums,
                                               const Stage<S>& stage,
                                               const Place<S>& at) {
#pragma unroll
    for (int k = 0; k < S::BK; k += kTileK) {
        // TODO(learner): kTilesM fragments of A, from the warp's rows of stage.a;
        // kTilesN fragments of B, two at a time, from the warp's columns of stage.b.
        // Load each once; then multiply each with each. All loops have constant bounds:
        // write #pragma unroll before each, so that fragments are registers (about 18
        // lines)
        // #solution
        const int lane = threadIdx.x % wb::kWarpSize;
        uint32_t a[S::kTilesM][4];
        uint32_t b[S::kTilesN][2];
#pragma unroll
        for (int i = 0; i < S::kTilesM; ++i)
            load_a<typename S::RowsA>(a[i], stage.a, at.warp_row + i * kTileM, k, lane);
#pragma unroll
        for (int j = 0; j < S::kTilesN; j += 2)
            load_b<typename S::RowsB>(
                b[j], b[j + 1], stage.b, k, at.warp_col + j * kTileN, lane);
#pragma unroll
        for (int i = 0; i < S::kTilesM; ++i) {
#pragma unroll
            for (int j = 0; j < S::kTilesN; ++j)
                multiply_add<typename S::Element>(sums.at[i][j], a[i], b[j]);
        }
        // #end
    }
}
// #endregion v2-multiply

// #region v2-kernel
/// v2: a block brings BK columns of A and BK rows of B to shared memory, where all of
/// its warps read them with ldmatrix.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads
/// Traffic  loads (BM + BN) * 2 B for BM * BN products, from L2
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads)
    mma_sync_v2_kernel(const Problem<T> p, int64_t blocks_across) {
    __shared__ Stage<S> s_stage;
    const Place<S> at(blockIdx.x / blocks_across, blockIdx.x % blocks_across, p.K);
    WarpSums<S> sums;
    clear(sums);
    for (int64_t k = 0; k < p.K; k += S::BK) {
        copy_stage<false>(s_stage, p, at, k);
        __syncthreads();  // the tiles are there
        multiply_tiles(sums, s_stage, at);
        __syncthreads();  // all have used them
    }
    store_sums(sums, p.C, p.ldc, p.M, p.N, p.pairs_c, at);
}
// #endregion v2-kernel

// #region v2-launch
template <class S, class T>
static void launch_shared_tiles(const wb::GemmShape& shape,
                                const Problem<T>& p,
                                cudaStream_t stream) {
    mma_sync_v2_kernel<S><<<count_blocks<S>(shape), S::kThreads, 0, stream>>>(
        p, blocks_across<S>(shape));
    CUDA_CHECK_LAUNCH();
}

template <class T>
static void mma_sync_v2(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    launch_shared_tiles<SizesV2<T>>(shape, Problem<T>::of(shape, A, B, C), stream);
}
// #endregion v2-launch

// #solution
#define WB_VERSION_ONLY
#include "mma_sync_fast.cu"

#include "01_by_hand.cuh"
#include "03_swizzle.cuh"
#include "05_block_order.cuh"
#include "06_split_k.cuh"
#include "07_stream_k.cuh"
#include "08_clusters.cuh"
#include "versions.cuh"

// #end
// #region contract
void mma_sync_fp16(const wb::GemmShape& shape,
                   const __half* A,
                   const __half* B,
                   float* C,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("mma_sync_fp16", shape, A, B, C)) return;
    // #solution
    mma_sync_v8(shape, A, B, C, stream);
    // #end
    // #starter mma_sync_v2(shape, A, B, C, stream);
}

void mma_sync_bf16(const wb::GemmShape& shape,
                   const __nv_bfloat16* A,
                   const __nv_bfloat16* B,
                   float* C,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("mma_sync_bf16", shape, A, B, C)) return;
    // #solution
    mma_sync_v8(shape, A, B, C, stream);
    // #end
    // #starter mma_sync_v2(shape, A, B, C, stream);
}
// #endregion contract
