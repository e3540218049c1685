// wgmma_tma.cu: a matrix product as fast as an H100 can: TMA, wgmma, warps with jobs.
// #solution
//
// v1, which you write first, is in this file; v2 is in wgmma_tma_fast.cu, the second
// stage; v3 is in 03_two_consumers.cuh, v4 in 04_clusters.cuh, v5 in 05_persistent.cuh,
// v6 in 06_tma_store.cuh, v7 in 07_split_k.cuh.
//
// <Ladder of="wgmma_tma_bf16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                   what limits it
//   v1      486  TMA and wgmma, one stage               the block waits for each tile
//   v2      554  one warp produces, one group consumes  L2, and shared memory
//   v3      649  128 x 256 tiles, two consumers         L2, and tiles that end together
//   v4      648  clusters of two share B                reads of A and B from memory
//   v5      693  persistent, tiles in bands             the store of C
//   v6      779  TMA stores C beside the next tile      tensor cores, and their power
//   v7      778  small C: K in parts                    tensor cores, and their power
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="wgmma_tma_fp16" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                   what limits it
//   v1      483  TMA and wgmma, one stage               the block waits for each tile
//   v2      550  one warp produces, one group consumes  L2, and shared memory
//   v3      639  128 x 256 tiles, two consumers         L2, and tiles that end together
//   v4      638  clusters of two share B                reads of A and B from memory
//   v5      684  persistent, tiles in bands             the store of C
//   v6      733  TMA stores C beside the next tile      tensor cores, and their power
//   v7      699  small C: K in parts                    tensor cores, and their power
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="wgmma_tma_fp8" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                   what limits it
//   v1      852  TMA and wgmma, one stage               the block waits for each tile
//   v2      828  one warp produces, one group consumes  L2, and shared memory
//   v3      946  128 x 256 tiles, two consumers         L2, and tiles that end together
//   v4      934  clusters of two share B                reads of A and B from memory
//   v5    1,000  persistent, tiles in bands             the store of C
//   v6    1,360  TMA stores C beside the next tile      tensor cores, and their power
//   v7    1,350  small C: K in parts                    tensor cores, and their power
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "wgmma_tma.h"

#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch_kernel.h>

#include "tiles.h"

// #region v1-stage
/// Multiplies one stage: BM rows of A times all BN columns of B, BK deep.
///
/// @param sums        a thread's part of C; nobody may touch it before the wait
/// @param operands    a(i, step) and b(step): descriptors of rows 64 i and up of A, and
///                    of all columns of B, for each of the kSteps steps
/// @param accumulate  false: what the sums held before does not count
template <class S>
__device__ __forceinline__ void multiply_stage(Sums<S>& sums,
                                               const Operands<S>& operands,
                                               bool accumulate) {
    using namespace wb::ptx;
    // TODO(learner): a fence; for each step of the stage, and for each i < kRowBlocks,
    // a wgmma into sums.d[i]: the first step overwrites them unless `accumulate`, all
    // others add. Both loops have constant bounds: write #pragma unroll before each, so
    // that sums are registers. A commit; then wait until no group is running, and tell
    // the compiler that sums.d has changed: wgmma_keep() (about 12 lines)
    // #solution
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < Operands<S>::kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < S::kRowBlocks; ++i)
            wgmma<typename S::T, S::kRowsOfK>(sums.d[i],
                                              operands.a(i, step),
                                              operands.b(step),
                                              accumulate || step > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_keep(sums.d);
    // #end
    // #starter (void)sums, (void)operands, (void)accumulate;  // delete this line
}
// #endregion v1-stage

// #region v1-tile
/// Multiplies a tile: stage after stage through the one place in shared memory.
template <class S>
__device__ __forceinline__ void multiply_tile(SharedTiles<S>& shared,
                                              const TensorMaps& maps,
                                              const Place& at,
                                              int steps,
                                              Sums<S>& sums) {
    using namespace wb::ptx;
    // TODO(learner): for each step: thread 0 announces S::kABytes + S::kBBytes bytes to
    // shared.full[0], and has load_stage<S>(shared, maps, at, k, 0, 0) copy the stage
    // that begins at k = step * S::BK. All wait for the barrier; which parity has this
    // round? All multiply: multiply_stage<S>(sums, {shared, 0, 0}, ...). What must
    // everybody know before the next copy begins? (about 10 lines)
    // #solution
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            mbarrier_expect(&shared.full[0], S::kABytes + S::kBBytes);
            load_stage<S>(shared, maps, at, step * S::BK, 0, 0);
        }
        mbarrier_wait(&shared.full[0], step % 2);
        multiply_stage<S>(sums, {shared, 0, 0}, step > 0);
        __syncthreads();  // all warps have read it
    }
    // #end
    // #starter (void)shared, (void)maps, (void)at, (void)steps;  // and this one
    // #starter (void)sums;                                       // and this one
}
// #endregion v1-tile

// #region v1-kernel
/// v1: the TMA unit brings a stage, wgmma multiplies it, and so on.
///
/// Launch   grid one block a tile, block one warpgroup
/// Traffic  loads (BM + BN) * BK elements for BM * BN * BK products, from L2
template <class S, class Epilogue>
__global__ void __launch_bounds__(wb::ptx::kWarpgroup, 1)
    wgmma_tma_v1_kernel(const __grid_constant__ TensorMaps maps,
                        const __grid_constant__ Problem problem,
                        const __grid_constant__ typename Epilogue::Params params) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<S>& shared = wb::hopper_gemm::shared_tiles<S>(s_dynamic);
    wb::hopper_gemm::make_barriers(shared);
    const Place at =
        wb::hopper_gemm::place_of<S>(problem, static_cast<int>(blockIdx.x), 0);
    Sums<S> sums;
    multiply_tile<S>(shared, maps, at, problem.steps, sums);
    wb::hopper_gemm::store_from_registers<S, Epilogue>(problem, params, at, 0, sums);
}
// #endregion v1-kernel

// #region v1-launch
template <class S, class Epilogue>
static void launch_v1(const Product<typename S::T, typename S::CType>& product,
                      const typename Epilogue::Params& params) {
    const Problem problem = wb::hopper_gemm::problem_of<S>(product, 1);
    wb::launch_kernel(wgmma_tma_v1_kernel<S, Epilogue>,
                      wb::grid_size(int64_t{problem.down} * problem.across, 1),
                      wb::ptx::kWarpgroup,
                      wb::hopper_gemm::kSharedBytes<S>,
                      product.stream,
                      wb::hopper_gemm::tensor_maps<S>(product),
                      problem,
                      params);
}

template <class T>
static void wgmma_tma_v1(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_v1<TileSizes<T, T, layout(), kTilingV1>, PlainEpilogue>(product, {});
    });
}

static void wgmma_tma_fp8_v1(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = TileSizes<__nv_fp8_e4m3, __nv_bfloat16, layout(), kTilingV1>;
        launch_v1<S, ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
// #endregion v1-launch

// #solution
#define WB_VERSION_ONLY
#include "wgmma_tma_fast.cu"

#include "03_two_consumers.cuh"
#include "04_clusters.cuh"
#include "05_persistent.cuh"
#include "06_tma_store.cuh"
#include "07_split_k.cuh"
#include "versions.cuh"

// #end
// #region contract
void wgmma_tma_bf16(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!has_work("wgmma_tma_bf16", shape, A, B, C)) return;
    // #solution
    wgmma_tma_v7(shape, A, B, C, stream);
    // #end
    // #starter wgmma_tma_v1(shape, A, B, C, stream);
}

void wgmma_tma_fp16(const wb::GemmShape& shape,
                    const __half* A,
                    const __half* B,
                    __half* C,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!has_work("wgmma_tma_fp16", shape, A, B, C)) return;
    // #solution
    wgmma_tma_v7(shape, A, B, C, stream);
    // #end
    // #starter wgmma_tma_v1(shape, A, B, C, stream);
}

void wgmma_tma_fp8(const wb::GemmShape& shape,
                   const __nv_fp8_e4m3* A,
                   const __nv_fp8_e4m3* B,
                   const float* scale_a,
                   const float* scale_b,
                   __nv_bfloat16* C,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!has_work("wgmma_tma_fp8", shape, A, B, scale_a, scale_b, C)) return;
    // #solution
    wgmma_tma_fp8_v7(shape, A, B, scale_a, scale_b, C, stream);
    // #end
    // #starter wgmma_tma_fp8_v1(shape, A, B, scale_a, scale_b, C, stream);
}
// #endregion contract
