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
    typename S::Sum d[S::kRowBlocks][S::BN / 2];
};
// #endregion sums

/// Which warpgroup this is: -1 produces, 0 and up consume. Arithmetic on threadIdx.x is
/// not uniform to the compiler; a shuffle makes it so.
__device__ __forceinline__ int consumer_group() {
    const int warpgroup = static_cast<int>(threadIdx.x) / wb::ptx::kWarpgroup;
    return __shfl_sync(wb::kAllLanes, warpgroup, 0) - 1;
}

// #region operands
/// A warpgroup's rows of A and all of B in a stage, as wgmma wants to know them. Each
/// wgmma takes 32 bytes of a row: 16 elements, or 32 of 8 bits: a stage has four steps.
template <class S>
class Operands {
 public:
    static constexpr int kSteps = 4;

    /// @param row  the first one of A, in the stage's tile; a multiple of 64
    __device__ __forceinline__ Operands(const SharedTiles<S>& shared,
                                        int stage,
                                        int row)
        : a_tile_(wb::ptx::wgmma_descriptor(
              wb::ptx::shared_address(shared.a[stage] + row * wb::ptx::kSwizzleBytes))),
          b_tile_(wb::ptx::wgmma_descriptor(wb::ptx::shared_address(shared.b[stage]),
                                            S::kRowsOfK ? kPanelBytes : 16)) {}

    /// The descriptor of rows 64 * block to 64 * block + 63. Descriptors count bytes
    /// in units of 16.
    __device__ __forceinline__ uint64_t a(int block, int step) const {
        return a_tile_ + (block * kWgmmaRows * wb::ptx::kSwizzleBytes + step * 32) / 16;
    }
    /// The descriptor of all BN columns. Along N, a step is 16 rows further down.
    __device__ __forceinline__ uint64_t b(int step) const {
        const int bytes = S::kRowsOfK ? step * 16 * wb::ptx::kSwizzleBytes : step * 32;
        return b_tile_ + bytes / 16;
    }

 private:
    static constexpr int kPanelBytes = S::BK * wb::ptx::kSwizzleBytes;
    uint64_t a_tile_;
    uint64_t b_tile_;
};
// #endregion operands

// #region multiply
/// Starts the wgmmas of one stage.
///
/// @param accumulate  false: what the sums held before does not count
template <class S>
__device__ __forceinline__ void start_stage(Sums<S>& sums,
                                            const Operands<S>& operands,
                                            bool accumulate) {
#pragma unroll
    for (int step = 0; step < Operands<S>::kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < S::kRowBlocks; ++i)
            wb::ptx::wgmma<typename S::T, S::kRowsOfK>(sums.d[i],
                                                       operands.a(i, step),
                                                       operands.b(step),
                                                       accumulate || step > 0);
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
        start_stage<S>(sums, {shared, ring.stage, row}, step > 0);
        wgmma_commit();
        if (step > 0) {
            wgmma_wait<1>();
            release(shared, before, rank);
        }
        before = ring.stage;
        ring.advance();
    }
    wgmma_wait<0>();
    wgmma_keep(sums.d);
    release(shared, before, rank);
}
// #endregion consume

}  // namespace wb::hopper_gemm
