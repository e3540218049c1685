// sgemm_fast.cu: v5: a thread has 8 x 8 sums, in registers.
#include "sgemm.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "tiles.h"

// #region v5-sizes
constexpr int BM = 128;  // rows of a block's tile of C
constexpr int BN = 128;  // its columns
constexpr int BK = 8;    // of A and B at a time
constexpr int TM = 8;    // rows of a thread
constexpr int TN = 8;    // its columns
static_assert(BM / TM * (BN / TN) == kThreads, "each sum has a thread");
// #endregion v5-sizes

// #region v5-kernel
/// sgemm_v5: for each k a thread reads TM elements of A and TN of B from shared memory,
/// and makes TM * TN products of them.
///
/// Launch   grid TileOfC<BM, BN>::count(), block kThreads
__global__ void __launch_bounds__(kThreads) sgemm_v5_kernel(Product p) {
    __shared__ float s_a[BK][BM + kPad];  // [k, row]
    __shared__ float s_b[BK][BN + kPad];  // [k, col]
    const TileOfC<BM, BN> tile(p);
    const int row = static_cast<int>(threadIdx.x) / (BN / TN) * TM;
    const int col = static_cast<int>(threadIdx.x) % (BN / TN) * TN;
    float r_c[TM][TN] = {};
    for (int k0 = 0; k0 < p.K; k0 += BK) {
        load_tile<BM, BK, kThreads>(p.a, tile.row, k0, s_a);
        load_tile<BN, BK, kThreads>(p.b, tile.col, k0, s_b);
        __syncthreads();
        // TODO(learner): for each k of the tile: the TM elements of s_a from `row` on
        // to registers, the TN elements of s_b from `col` on, too; then add the TM * TN
        // products to r_c. The compiler keeps an array in registers only if it knows
        // each index, so unroll every loop (about 16 lines)
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n)
            p.write(tile.row + row + m, tile.col + col + n, r_c[m][n]);
}
// #endregion v5-kernel

// #region v5-launch
static void sgemm_v5(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    sgemm_v5_kernel<<<TileOfC<BM, BN>::count(s), kThreads, 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch

// #region contract
void sgemm(const wb::GemmShape& shape,
           float alpha,
           const float* A,
           const float* B,
           float beta,
           float* C,
           cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!check_sgemm(shape, alpha, A, B, C)) return;
    sgemm_v5(shape, alpha, A, B, beta, C, stream);
}
// #endregion contract
