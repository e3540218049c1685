/// wb/hopper_gemm/consume.h: a warpgroup multiplies what has arrived in the ring.
#pragma once

#include <wb/ptx/pipeline.h>
#include <wb/ptx/wgmma.h>

#include "wb/hopper_gemm/problem.h"

namespace wb::hopper_gemm {

// #region sums
/// A thread's part of its warpgroup's rows of C: for each 64 rows, as wgmma.h has it.
template <class S>
struct Sums {
    float d[S::kRowBlocks][S::BN / 2];
};
// #endregion sums

/// Which warpgroup this is: -1 produces, 0 and up consume. Arithmetic on threadIdx.x is
/// not uniform to the compiler; a shuffle makes it so.
__device__ __forceinline__ int consumer_group() {
    const int warpgroup = static_cast<int>(threadIdx.x) / wb::ptx::kWarpgroup;
    return __shfl_sync(wb::kAllLanes, warpgroup, 0) - 1;
}

// #region multiply
/// Starts the wgmmas of one stage: this warpgroup's rows of A times all of B.
///
/// @param a           the warpgroup's first row in a tile of A
/// @param accumulate  false: what the sums held before does not count
template <class S>
__device__ __forceinline__ void start_stage(Sums<S>& sums,
                                            const unsigned char* a,
                                            const unsigned char* b,
                                            bool accumulate) {
    using namespace wb::ptx;
    constexpr int kPanelBytes = S::BK * kSwizzleBytes;
    const uint64_t a_tile = wgmma_descriptor(shared_address(a));
    const uint64_t b_tile = S::kRowsOfK
                                ? wgmma_descriptor(shared_address(b), kPanelBytes)
                                : wgmma_descriptor(shared_address(b));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        // 32 bytes of each row: 16 elements, or 32 of FP8. Descriptors count in 16.
        const uint64_t b_step = (S::kRowsOfK ? k * 16 * kSwizzleBytes : k * 32) / 16;
#pragma unroll
        for (int i = 0; i < S::kRowBlocks; ++i) {
            const uint64_t a_step = (i * kWgmmaRows * kSwizzleBytes + k * 32) / 16;
            wgmma<typename S::T, S::kRowsOfK>(
                sums.d[i], a_tile + a_step, b_tile + b_step, accumulate || k > 0);
        }
    }
}
// #endregion multiply

// #region release
/// Says that this warpgroup is done with a stage, to each block that has loaded a part
/// of it. One thread speaks for all of them: wgmma keeps the warps in step.
template <class S>
__device__ __forceinline__ void release(SharedTiles<S>& shared,
                                        int stage,
                                        unsigned rank) {
    const unsigned thread = threadIdx.x % wb::ptx::kWarpgroup;
    if constexpr (S::kCluster == 1) {
        if (thread == 0) wb::ptx::mbarrier_arrive(&shared.empty[stage]);
    } else {
        // Threads 0 to kClusterRows - 1: the blocks of this column; then those of this
        // row, without this block itself.
        constexpr unsigned kRows = S::kClusterRows;
        constexpr unsigned kColumns = S::kClusterColumns;
        const unsigned row = rank % kRows;
        const unsigned col = rank / kRows;
        if (thread < kRows) {
            wb::ptx::mbarrier_arrive_at(&shared.empty[stage], col * kRows + thread);
        } else if (thread < kRows + kColumns - 1) {
            const unsigned other = (col + 1 + thread - kRows) % kColumns;
            wb::ptx::mbarrier_arrive_at(&shared.empty[stage], other * kRows + row);
        }
    }
}
// #endregion release

// #region consume
/// One tile: sums = A * B, for this warpgroup's rows. One group of wgmmas is always
/// under way: a stage is released when the next one's have begun.
///
/// @param ring  goes on to the next tile's first stage
template <class S>
__device__ __forceinline__ void consume_tile(SharedTiles<S>& shared,
                                             int steps,
                                             int group,
                                             unsigned rank,
                                             Sums<S>& sums,
                                             wb::ptx::PipelineState<S::kStages>& ring) {
    using namespace wb::ptx;
    const int row = group * S::kGroupRows;
    int before = 0;  // the stage of the step before
    for (int step = 0; step < steps; ++step) {
        mbarrier_wait(&shared.full[ring.stage], ring.parity);
        wgmma_fence();
        start_stage(sums,
                    shared.a[ring.stage] + row * kSwizzleBytes,
                    shared.b[ring.stage],
                    step > 0);
        wgmma_commit();
        if (step > 0) {
            wgmma_wait<1>();
            release(shared, before, rank);
        }
        before = ring.stage;
        ring.advance();
    }
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < S::kRowBlocks; ++i)
        wgmma_keep(sums.d[i]);
    release(shared, before, rank);
}
// #endregion consume

}  // namespace wb::hopper_gemm
