// tma_store.h: given with this exercise: rows of o on the way that q came: through
// shared memory and the TMA unit.
#pragma once

#include <wb/ptx/stmatrix.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>

#include "fragments.h"
#include "store.h"

// #region tma-store
/// Divides a warpgroup's 64 rows of O by the sums of their weights, rounds, and has the
/// TMA unit store them, with the log-sum-exp if it is wanted. Rows past the end lie
/// outside of the tensor map and are not written.
///
/// Where q was, o goes: a warpgroup reads only its own 64 rows of q, and needs them no
/// more. So this also says that q is free, as soon as the rows have been read.
///
/// @param barrier  a named barrier of this warpgroup's own
template <class Tiling>
__device__ __forceinline__ void store_rows_tma(SharedTiles<Tiling>& shared,
                                               const Problem& problem,
                                               const Work& work,
                                               int group,
                                               int barrier,
                                               int q_stage,
                                               const float (&o)[Tiling::kDim / 2],
                                               const RowSums& rows) {
    using namespace wb::ptx;
    using T = typename Tiling::T;
    constexpr int kPanelBytes = Tiling::kRows * kSwizzleBytes;
    float inverse[2];
    store_sums(problem, work, group, rows, inverse);

    unsigned char* const tile = shared.q[q_stage] + group * kGroupRows * kSwizzleBytes;
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    const uint32_t row = threadIdx.x / wb::kWarpSize % 4 * 16 + lane % 16;
    named_barrier_sync(barrier, kWarpgroup);  // all four warps are done with q
#pragma unroll
    for (int i = 0; i < Tiling::kDim / 16; ++i) {
        // Four matrices: rows 0 to 7 and 8 to 15 of 8 columns, and of the next 8.
        uint32_t x[4];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            const float factor = inverse[m % 2];
            x[m] = pack<T>(o[8 * i + 2 * m] * factor, o[8 * i + 2 * m + 1] * factor);
        }
        const uint32_t byte = i % 4 * 32 + lane / 16 * 16;
        stmatrix(tile + i / 4 * kPanelBytes + swizzle_128b(row, byte), x);
    }
    async_proxy_fence();                      // what threads wrote, the TMA unit reads
    named_barrier_sync(barrier, kWarpgroup);  // and of all four warps
    if (threadIdx.x % kWarpgroup != 0) return;
    const int first = work.row + group * kGroupRows;
    if (first < work.queries) {
#pragma unroll
        for (int panel = 0; panel < Tiling::kPanels; ++panel) {
            tma_store(&problem.o_map,
                      tile + panel * kPanelBytes,
                      panel * Tiling::kPanel,
                      first,
                      work.head,
                      work.sequence);
        }
        tma_store_commit();
        tma_store_wait_read<0>();
    }
    mbarrier_arrive(&shared.q_empty[q_stage]);
}
// #endregion tma-store
