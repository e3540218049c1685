// wmma.cu: a matrix product on tensor cores, 16 x 16 sums at a time.
// #solution
//
// v1, which you write first, is in this file; v2 to v4 are in 02_shared_tiles.cuh, v5
// is in wmma_fast.cu, the second stage, v6 in 06_larger_tiles.cuh.
//
// <Ladder of="wmma_fp16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                 what limits it
//   v1     27.9  one warp a tile, from global memory  L1 and L2: 8 FLOP for each byte
//   v2     31.5  tiles in shared memory               shared memory and bank conflicts
//   v3     89.0  4 x 2 fragments a warp               bank conflicts
//   v4      160  16 bytes behind each row             the block waits for each tile
//   v5      255  cp.async, four stages                L2 and shared memory
//   v6      278  4 x 4 fragments a warp               8 warps a multiprocessor
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="wmma_bf16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                 what limits it
//   v1     27.7  one warp a tile, from global memory  L1 and L2: 8 FLOP for each byte
//   v2     34.1  tiles in shared memory               shared memory and bank conflicts
//   v3     88.8  4 x 2 fragments a warp               bank conflicts
//   v4      160  16 bytes behind each row             the block waits for each tile
//   v5      261  cp.async, four stages                L2 and shared memory
//   v6      283  4 x 4 fragments a warp               8 warps a multiprocessor
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="wmma_tf32" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                 what limits it
//   v1     16.5  one warp a tile, from global memory  L1 and L2: 8 FLOP for each byte
//   v2     21.2  tiles in shared memory               shared memory and bank conflicts
//   v3     54.6  4 x 2 fragments a warp               bank conflicts
//   v4     74.8  16 bytes behind each row             the block waits for each tile
//   v5     92.8  cp.async, four stages                L2 and shared memory
//   v6      102  4 x 4 fragments a warp               8 warps a multiprocessor
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "wmma.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "tiles.h"

/// Warps of a block. Each has a tile of C of its own.
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * wb::kWarpSize;

// #region v1-shared
/// What a warp has in shared memory, for tiles that cannot be loaded from where they
/// are, nor be stored to where they belong.
template <class T>
struct Detour {
    alignas(32) T a[kTile * kDepth<T>];  // [kTile, kDepth] row-major
    alignas(32) T b[kDepth<T> * kTile];  // [kDepth, kTile] row-major
    alignas(32) float c[kTile * kTile];  // [kTile, kTile] row-major
};
// #endregion v1-shared

// #region v1-load
/// Loads a fragment of A or B, directly or by way of shared memory. All lanes of the
/// warp must call it.
///
/// @tparam kRows, kColumns  of the fragment
/// @param fragment       of A or of B
/// @param s_tile         [kRows, kColumns] of this warp, row-major
/// @param g_tile         the tile's first element in the matrix
/// @param ld             of the matrix
/// @param rows, columns  that the matrix has from there on; may be more than the tile's
/// @param direct         tiles of this matrix lie as load_matrix_sync wants them
template <int kRows, int kColumns, class Fragment, class T>
__device__ __forceinline__ void load_tile(Fragment& fragment,
                                          T* s_tile,
                                          const T* g_tile,
                                          int64_t ld,
                                          int64_t rows,
                                          int64_t columns,
                                          bool direct) {
    // TODO(learner): if the tile may be loaded directly, and the matrix has all of it:
    // load_matrix_sync() from g_tile. Else: Edge::copy_in() to s_tile, and
    // load_matrix_sync() from there. The copy is made by all lanes, and s_tile is used
    // again and again: no lane may load before all have copied, or copy before all have
    // loaded. In the end Factors::round() (about 9 lines)
    // #solution
    if (direct && rows >= kRows && columns >= kColumns) {
        wmma::load_matrix_sync(fragment, g_tile, static_cast<unsigned>(ld));
    } else {
        Edge::copy_in<kRows, kColumns>(s_tile, g_tile, ld, rows, columns);
        __syncwarp();  // the tile is there
        wmma::load_matrix_sync(fragment, s_tile, kColumns);
        __syncwarp();  // all have loaded it: the next one may overwrite it
    }
    Factors::round(fragment);
    // #end
}
// #endregion v1-load

// #region v1-multiply
/// A warp computes the tile of C that begins at (row, col).
template <class T>
__device__ void multiply_tile(const Problem<T>& p,
                              Detour<T>& s,
                              int64_t row,
                              int64_t col) {
    // TODO(learner): a fragment of sums, filled with zeros. For the kDepth<T> columns
    // of A, and rows of B, that begin at k = 0, kDepth<T>, and so on: load both tiles,
    // and multiply. Then, if the tile may be stored directly, and C has all of it:
    // store_matrix_sync() to C. Else: to s.c, and Edge::copy_out() from there, when all
    // of it has been stored (about 20 lines)
    // #solution
    FragmentC<T> sums;
    wmma::fill_fragment(sums, 0.0f);
    const int64_t rows = p.M - row;
    const int64_t columns = p.N - col;
    for (int64_t k = 0; k < p.K; k += kDepth<T>) {
        FragmentA<T> a;
        FragmentB<T> b;
        load_tile<kTile, kDepth<T>>(
            a, s.a, p.A + row * p.lda + k, p.lda, rows, p.K - k, p.direct_a);
        load_tile<kDepth<T>, kTile>(
            b, s.b, p.B + k * p.ldb + col, p.ldb, p.K - k, columns, p.direct_b);
        wmma::mma_sync(sums, a, b, sums);
    }
    float* const g_tile = p.C + row * p.ldc + col;
    if (p.direct_c && rows >= kTile && columns >= kTile) {
        wmma::store_matrix_sync(
            g_tile, sums, static_cast<unsigned>(p.ldc), wmma::mem_row_major);
    } else {
        wmma::store_matrix_sync(s.c, sums, kTile, wmma::mem_row_major);
        __syncwarp();
        Edge::copy_out(s.c, g_tile, p.ldc, rows, columns);
    }
    // #end
}
// #endregion v1-multiply

// #region v1-kernel
/// v1: a warp has a tile of C. It reads 16 rows of A and 16 columns of B for it, and so
/// does each other warp: every element of A is loaded N / 16 times.
///
/// Launch   grid ceil_div(tiles of C, kWarps), block kThreads
/// Traffic  loads 4 B for 16 products (fp16, bf16), from L1 and L2 for the most part
template <class T>
__global__ void __launch_bounds__(kThreads)
    wmma_v1_kernel(const Problem<T> p, int64_t tiles_across) {
    __shared__ Detour<T> s_detours[kWarps];
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t tile = int64_t{blockIdx.x} * kWarps + warp;
    const int64_t row = tile / tiles_across * kTile;
    const int64_t col = tile % tiles_across * kTile;
    if (row >= p.M) return;  // all lanes of the warp
    if constexpr (kHasFragments<T>) multiply_tile(p, s_detours[warp], row, col);
}
// #endregion v1-kernel

// #region v1-launch
template <class T>
static void wmma_v1(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    const int64_t tiles_across = wb::ceil_div(shape.N, int64_t{kTile});
    const int64_t tiles = wb::ceil_div(shape.M, int64_t{kTile}) * tiles_across;
    wmma_v1_kernel<<<wb::grid_size(tiles, kWarps), kThreads, 0, stream>>>(
        Problem<T>::of(shape, A, B, C), tiles_across);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #solution
#define WB_VERSION_ONLY
#include "wmma_fast.cu"

#include "02_shared_tiles.cuh"
#include "06_larger_tiles.cuh"
#include "versions.cuh"

// #end
// #region contract
void wmma_fp16(const wb::GemmShape& shape,
               const __half* A,
               const __half* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("wmma_fp16", shape, A, B, C)) return;
    // #solution
    wmma_v6(shape, A, B, C, stream);
    // #end
    // #starter wmma_v1(shape, A, B, C, stream);
}

void wmma_bf16(const wb::GemmShape& shape,
               const __nv_bfloat16* A,
               const __nv_bfloat16* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("wmma_bf16", shape, A, B, C)) return;
    // #solution
    wmma_v6(shape, A, B, C, stream);
    // #end
    // #starter wmma_v1(shape, A, B, C, stream);
}

void wmma_tf32(const wb::GemmShape& shape,
               const float* A,
               const float* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<float>::has_work("wmma_tf32", shape, A, B, C)) return;
    // #solution
    wmma_v6(shape, A, B, C, stream);
    // #end
    // #starter wmma_v1(shape, A, B, C, stream);
}
// #endregion contract
