// 05_block_order.cuh: v5: 64 x 64 sums a warp, fragments of the next step loaded before
// they are needed, and blocks that run at the same time close together in C.
#pragma once

#include "block_tiles.h"

// #region v5-order
/// Which tile of C a block has. Blocks run in the order of their numbers, a few hundred
/// at a time. In rows of C they would need a few rows of A and all of B; in bands of
/// kBand tiles, column by column, those that run at once make up a square.
///
/// @param down, across  tiles of C in each direction
template <class S>
__device__ __forceinline__ Place<S> place_in_bands(int64_t block,
                                                   int64_t down,
                                                   int64_t across,
                                                   int64_t K) {
    constexpr int64_t kBand = 8;
    const int64_t band = block / (kBand * across);
    const int64_t in_band = block % (kBand * across);
    const int64_t left = down - band * kBand;  // rows of tiles, this band's and behind
    const int64_t rows = left < kBand ? left : kBand;
    return Place<S>(band * kBand + in_band % rows, in_band / rows, K);
}
// #endregion v5-order

// #region v5-ring
/// As multiply_ring(), but the fragments of a step are loaded while those of the step
/// before are multiplied: two sets of registers take turns. A round's last product
/// comes behind the barrier, and beside the first loads of the next stage.
template <int kStages, class S, class T>
__device__ __forceinline__ void multiply_ahead(Stage<S>* s_stages,  // [kStages]
                                               WarpSums<S>& sums,
                                               const Problem<T>& p,
                                               const Place<S>& at) {
    constexpr int kSteps = S::BK / kTileK;
    static_assert(kStages >= 3, "one is used, the next is there, others are filled");
    static_assert(kSteps % 2 == 0, "a round ends with the set that it began with");
    if (at.k_begin >= at.k_end) return;
    for (int s = 0; s < kStages - 1; ++s) {
        const int64_t k = at.k_begin + s * S::BK;
        if (k < at.k_end) copy_stage<true>(s_stages[s], p, at, k);
        wb::ptx::cp_async_commit();
    }
    wb::ptx::cp_async_wait<kStages - 2>();
    __syncthreads();  // the first stage is there
    Fragments<S> fragments[2];
    load_step(fragments[0], s_stages[0], at, 0);
    int used = 0;
    int free = kStages - 1;
    for (int64_t k = at.k_begin; k < at.k_end; k += S::BK) {
        const int next = used + 1 == kStages ? 0 : used + 1;
        const int64_t ahead = k + (kStages - 1) * S::BK;
        if (ahead < at.k_end) copy_stage<true>(s_stages[free], p, at, ahead);
        wb::ptx::cp_async_commit();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            if (step + 1 < kSteps) {
                load_step(
                    fragments[(step + 1) % 2], s_stages[used], at, (step + 1) * kTileK);
            } else {
                wb::ptx::cp_async_wait<kStages - 2>();
                __syncthreads();  // the next stage is there, and all have loaded this
                if (k + S::BK < at.k_end)
                    load_step(fragments[0], s_stages[next], at, 0);
            }
            multiply_step(sums, fragments[step % 2]);
        }
        free = used;
        used = next;
    }
}
// #endregion v5-ring

// #region v5-kernel
/// v5: a warp has 64 x 64 sums, a block 128 x 256.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kStages stages
/// Traffic  loads (BM + BN) * 2 B for BM * BN products, from L2; from memory less, for
///          blocks that run at once have rows or columns in common
template <class S, int kStages, class T>
__global__ void __launch_bounds__(S::kThreads, 1)
    mma_sync_v5_kernel(const Problem<T> p, int64_t down, int64_t across) {
    extern __shared__ uint4 s_bytes[];
    auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
    const Place<S> at = place_in_bands<S>(blockIdx.x, down, across, p.K);
    WarpSums<S> sums;
    clear(sums);
    multiply_ahead<kStages>(s_stages, sums, p, at);
    store_sums(sums, p.C, p.ldc, p.M, p.N, p.pairs_c, at);
}
// #endregion v5-kernel

// #region v5-launch
/// Four stages of 24 KB: they fit where a block has 99 KB, because nothing is padded.
template <class T>
static void mma_sync_v5(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using S = Sizes<T, 128, 256, 64, 64, Swizzled>;
    constexpr int kStagesV5 = 4;
    const unsigned blocks = count_blocks<S>(shape);
    // Too few of such large blocks leave multiprocessors without any.
    if (blocks < static_cast<unsigned>(wb::multiprocessors()))
        return mma_sync_v4(shape, A, B, C, stream);
    wb::launch_kernel(mma_sync_v5_kernel<S, kStagesV5, T>,
                      blocks,
                      S::kThreads,
                      kStagesV5 * sizeof(Stage<S>),
                      stream,
                      Problem<T>::of(shape, A, B, C),
                      wb::ceil_div(shape.M, int64_t{S::BM}),
                      blocks_across<S>(shape));
}
// #endregion v5-launch
