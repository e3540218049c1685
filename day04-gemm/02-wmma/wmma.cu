// wmma.cu: a matrix product on tensor cores, 16 x 16 sums at a time.
#include "wmma.h"

#include <wb/check.h>
#include <wb/exercise.h>

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

// #region contract
void wmma_fp16(const wb::GemmShape& shape,
               const __half* A,
               const __half* B,
               float* C,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("wmma_fp16", shape, A, B, C)) return;
    wmma_v1(shape, A, B, C, stream);
}

void wmma_bf16(const wb::GemmShape& shape,
               const __nv_bfloat16* A,
               const __nv_bfloat16* B,
               float* C,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("wmma_bf16", shape, A, B, C)) return;
    wmma_v1(shape, A, B, C, stream);
}

void wmma_tf32(const wb::GemmShape& shape,
               const float* A,
               const float* B,
               float* C,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Problem<float>::has_work("wmma_tf32", shape, A, B, C)) return;
    wmma_v1(shape, A, B, C, stream);
}
// #endregion contract
