// mma_sync.cu: a matrix product with the tensor cores' own instruction.
#include "mma_sync.h"

#include <wb/check.h>
#include <wb/exercise.h>
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

// #region contract
void mma_sync_fp16(const wb::GemmShape& shape,
                   const __half* A,
                   const __half* B,
                   float* C,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("mma_sync_fp16", shape, A, B, C)) return;
    mma_sync_v2(shape, A, B, C, stream);
}

void mma_sync_bf16(const wb::GemmShape& shape,
                   const __nv_bfloat16* A,
                   const __nv_bfloat16* B,
                   float* C,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("mma_sync_bf16", shape, A, B, C)) return;
    mma_sync_v2(shape, A, B, C, stream);
}
// #endregion contract
