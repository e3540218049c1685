// wgmma_tma_fast.cu: v2: one thread has tiles copied, a warpgroup multiplies them.
#include "wgmma_tma.h"

#include <wb/exercise.h>
#include <wb/launch_kernel.h>

#include "tiles.h"

using wb::ptx::PipelineState;

// #region v2-produce
/// Fills the ring: all stages of one tile. By one thread.
///
/// @param ring  the first stage, and the parity in which its full barrier will complete
///              and, one round later, its empty barrier; goes on to the next tile's
template <class S>
__device__ __forceinline__ void produce(SharedTiles<S>& shared,
                                        const TensorMaps& maps,
                                        const Place& at,
                                        int steps,
                                        PipelineState<S::kStages>& ring) {
    using namespace wb::ptx;
    // TODO(learner): for each step: wait until the consumers have left this stage, in
    // the round before this one; the parity is the opposite of ring.parity. Announce
    // S::kABytes + S::kBBytes bytes to the stage's full barrier, and have
    // load_stage<S>(shared, maps, at, step * S::BK, ring.stage, 0) copy them. Go on to
    // the next stage (about 6 lines)
    // #solution
    for (int step = 0; step < steps; ++step) {
        mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
        mbarrier_expect(&shared.full[ring.stage], S::kABytes + S::kBBytes);
        load_stage<S>(shared, maps, at, step * S::BK, ring.stage, 0);
        ring.advance();
    }
    // #end
    // #starter (void)shared, (void)maps, (void)at, (void)steps;  // delete this line
    // #starter (void)ring;                                       // and this one
}
// #endregion v2-produce

// #region v2-consume
/// Empties the ring: a warpgroup's rows of one tile.
///
/// @param row   the warpgroup's first row in a tile of A
/// @param ring  goes on to the next tile's first stage
template <class S>
__device__ __forceinline__ void consume(SharedTiles<S>& shared,
                                        int steps,
                                        int row,
                                        Sums<S>& sums,
                                        PipelineState<S::kStages>& ring) {
    using namespace wb::ptx;
    // TODO(learner): for each step: wait for the stage; start its products as a group,
    // between a fence and a commit, with start_stage<S>(sums, {shared, stage, row},
    // accumulate). Do not wait for them yet: wait until only they are running, so that
    // the step before is done, and release *its* stage with release<S>(shared, stage,
    // 0). Go on to the next stage. Behind the loop wait for the last group, tell the
    // compiler with wgmma_keep(), and release the last stage (about 17 lines)
    // #solution
    int before = 0;  // the stage of the step before
    for (int step = 0; step < steps; ++step) {
        mbarrier_wait(&shared.full[ring.stage], ring.parity);
        wgmma_fence();
        start_stage<S>(sums, {shared, ring.stage, row}, step > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0) release<S>(shared, before, 0);
        before = ring.stage;
        ring.advance();
    }
    wgmma_wait<0>();
    wgmma_keep(sums.d);
    release<S>(shared, before, 0);
    // #end
    // #starter (void)shared, (void)steps, (void)row, (void)sums;  // delete this line
    // #starter (void)ring;                                        // and this one
}
// #endregion v2-consume

// #region v2-kernel
/// v2: a warpgroup of which one thread produces, and S::kConsumers that consume.
///
/// Launch   grid one block a tile, block S::kThreads
/// Traffic  loads (BM + BN) * BK elements for BM * BN * BK products, from L2
template <class S, class Epilogue>
__global__ void __launch_bounds__(S::kThreads, 1)
    wgmma_tma_v2_kernel(const __grid_constant__ TensorMaps maps,
                        const __grid_constant__ Problem problem,
                        const __grid_constant__ typename Epilogue::Params params) {
    extern __shared__ unsigned char s_dynamic[];
    SharedTiles<S>& shared = wb::hopper_gemm::shared_tiles<S>(s_dynamic);
    wb::hopper_gemm::make_barriers(shared);
    const Place at =
        wb::hopper_gemm::place_of<S>(problem, static_cast<int>(blockIdx.x), 0);
    const int group = wb::hopper_gemm::consumer_group();
    PipelineState<S::kStages> ring;
    if (group < 0) {
        if constexpr (S::kProducerRegisters > 0)
            wb::ptx::registers_give_back<S::kProducerRegisters>();
        if (threadIdx.x < wb::kWarpSize && wb::ptx::elect_one())
            produce<S>(shared, maps, at, problem.steps, ring);
    } else {
        if constexpr (S::kConsumerRegisters > 0)
            wb::ptx::registers_take<S::kConsumerRegisters>();
        Sums<S> sums;
        consume<S>(shared, problem.steps, group * S::kGroupRows, sums, ring);
        wb::hopper_gemm::store_from_registers<S, Epilogue>(
            problem, params, at, group, sums);
    }
}
// #endregion v2-kernel

// #region v2-launch
/// @tparam S  sizes for which one block computes a tile
template <class S, class Epilogue>
static void launch_ring(const Product<typename S::T, typename S::CType>& product,
                        const typename Epilogue::Params& params) {
    const Problem problem = wb::hopper_gemm::problem_of<S>(product, 1);
    wb::launch_kernel(wgmma_tma_v2_kernel<S, Epilogue>,
                      wb::grid_size(int64_t{problem.down} * problem.across, 1),
                      S::kThreads,
                      wb::hopper_gemm::kSharedBytes<S>,
                      product.stream,
                      wb::hopper_gemm::tensor_maps<S>(product),
                      problem,
                      params);
}

template <class T>
static void wgmma_tma_v2(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_ring<TileSizes<T, T, layout(), kTilingV2>, PlainEpilogue>(product, {});
    });
}

static void wgmma_tma_fp8_v2(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = TileSizes<__nv_fp8_e4m3, __nv_bfloat16, layout(), kTilingV2>;
        launch_ring<S, ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
// #endregion v2-launch

// #solution
#ifndef WB_VERSION_ONLY  // wgmma_tma.cu has all versions, and the contract
// #end
// #region contract
void wgmma_tma_bf16(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!has_work("wgmma_tma_bf16", shape, A, B, C)) return;
    wgmma_tma_v2(shape, A, B, C, stream);
}

void wgmma_tma_fp16(const wb::GemmShape& shape,
                    const __half* A,
                    const __half* B,
                    __half* C,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!has_work("wgmma_tma_fp16", shape, A, B, C)) return;
    wgmma_tma_v2(shape, A, B, C, stream);
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
    wgmma_tma_fp8_v2(shape, A, B, scale_a, scale_b, C, stream);
}
// #endregion contract
// #solution
#endif
// #end
