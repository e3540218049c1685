// sgemm.cu: C = alpha * op(A) * op(B) + beta * C in floats, row-major, any size.
// #solution
//
// v5 is in sgemm_fast.cu, the second stage; v4 and v6 to v13 have a file each.
//
// <Ladder of="sgemm" at="NN 4096 x 4096 x 4096">
//        TFLOP/s  idea                         what limits it
//   v1     0.503  a thread an element          a line of memory for each element of A
//   v2      3.33  coalesced                    two loads for each product
//   v3      8.08  tiles in shared memory       2 loads from shared memory for a product
//   v4      18.5  8 sums a thread              9 loads for 8 products
//   v5      29.1  8 x 8 sums a thread          bank conflicts
//   v6      21.9  16 bytes at a time           141 registers, and so one block
//   v7      33.1  a warp's tile nearly square  all threads wait while tiles are loaded
//   v8      45.9  three stages of cp.async     operands that meet in a register bank
//   v9      45.7  tiles of three sizes         the same; 8 warps with the large tiles
//   v10     49.2  products back and forth      instructions that are no products
//   v11     50.2  layouts known, 32 k a tile   the last round of tiles
//   v12     51.5  the last tiles shared        two blocks of 8 warps wait together
//   v13     51.4  64 x 128 or 128 x 128 sums   A is copied 4 bytes at a time
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "sgemm.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "tiles.h"

/// Side of a tile of C, and of the tiles of A and B that a block holds.
constexpr int kSide = 32;

/// A block: one thread for each element of its tile of C.
using SmallTile = TileOfC<kSide, kSide>;

// #solution
// #region v1-kernel
/// sgemm_v1: a thread has an element of C, neighbouring threads have neighbouring rows.
///
/// Launch   grid SmallTile::count(), block (kSide, kSide)
/// Traffic  of each load of A, every lane has a line of its own
__global__ void sgemm_v1_kernel(Product p) {
    const SmallTile tile(p);
    const int row = tile.row + static_cast<int>(threadIdx.x);
    const int col = tile.col + static_cast<int>(threadIdx.y);
    if (row >= p.a.rows || col >= p.b.rows) return;
    float sum = 0.0f;
    for (int k = 0; k < p.K; ++k)
        sum += p.a.at(row, k) * p.b.at(col, k);
    p.write(row, col, sum);
}
// #endregion v1-kernel

static void sgemm_v1(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    sgemm_v1_kernel<<<SmallTile::count(s), dim3(kSide, kSide), 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(sgemm, sgemm_v1, "a thread an element");

// #region v2-kernel
/// sgemm_v2: neighbouring threads have neighbouring columns.
///
/// Launch   as v1
/// Traffic  a warp reads one element of A and 32 neighbours of B
__global__ void sgemm_v2_kernel(Product p) {
    const SmallTile tile(p);
    const int row = tile.row + static_cast<int>(threadIdx.y);
    const int col = tile.col + static_cast<int>(threadIdx.x);
    if (row >= p.a.rows || col >= p.b.rows) return;
    float sum = 0.0f;
    for (int k = 0; k < p.K; ++k)
        sum += p.a.at(row, k) * p.b.at(col, k);
    p.write(row, col, sum);
}
// #endregion v2-kernel

static void sgemm_v2(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    sgemm_v2_kernel<<<SmallTile::count(s), dim3(kSide, kSide), 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(sgemm, sgemm_v2, "coalesced");

// #end
// #region v3-kernel
/// sgemm_v3: a block brings a tile of A and one of B to shared memory; each element
/// that was loaded is used kSide times.
///
/// Launch   as v1
/// Traffic  reads M * K * N / kSide + K * N * M / kSide floats
__global__ void sgemm_v3_kernel(Product p) {
    const SmallTile tile(p);
    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    float sum = 0.0f;
    // TODO(learner): two tiles in shared memory, s_a[kSide][kSide] and s_b. Then, for
    // k0 = 0, kSide, 2 * kSide, ... below p.K: this thread brings one element of
    // each tile, p.a.at_or_zero(row, k) to s_a[y][x] and p.b.at_or_zero(col, k) to
    // s_b[y][x]. When all threads have done so, it adds the kSide products of row y of
    // s_a and column x of s_b to its sum. No thread may bring the next tiles before all
    // are done with these (about 10 lines)
    // #solution
    __shared__ float s_a[kSide][kSide];  // [row, k]
    __shared__ float s_b[kSide][kSide];  // [k, col]
    for (int k0 = 0; k0 < p.K; k0 += kSide) {
        s_a[y][x] = p.a.at_or_zero(tile.row + y, k0 + x);
        s_b[y][x] = p.b.at_or_zero(tile.col + x, k0 + y);
        __syncthreads();
        for (int k = 0; k < kSide; ++k)
            sum += s_a[y][k] * s_b[k][x];
        __syncthreads();
    }
    // #end
    p.write(tile.row + y, tile.col + x, sum);
}
// #endregion v3-kernel

static void sgemm_v3(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    sgemm_v3_kernel<<<SmallTile::count(s), dim3(kSide, kSide), 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
// #solution
WB_RUNG(sgemm, sgemm_v3, "tiles in shared memory");

#include "04_register_columns.cuh"

#define WB_VERSION_ONLY
#include "sgemm_fast.cu"

WB_RUNG(sgemm, sgemm_v5, "8 x 8 sums a thread");

#include "06_vectors.cuh"
#include "07_warp_tiles.cuh"
#include "08_stages.cuh"
#include "09_tile_choice.cuh"
#include "10_back_and_forth.cuh"
#include "11_known_layout.cuh"
#include "12_shared_rest.cuh"
#include "13_tiles_by_shape.cuh"

// #end
// #region contract
void sgemm(const wb::GemmShape& shape,
           float alpha,
           const float* A,
           const float* B,
           float beta,
           float* C,
           cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    if (!check_sgemm(shape, alpha, A, B, C)) return;
    // #solution
    sgemm_v13(shape, alpha, A, B, beta, C, stream);
    // #end
    // #starter sgemm_v3(shape, alpha, A, B, beta, C, stream);
}
// #endregion contract
