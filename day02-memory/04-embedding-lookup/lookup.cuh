/// lookup.cuh: what all kernels have in common: what an index means, and who a thread
/// is. Nothing here is left to you.
#pragma once

#include <wb/launch.h>

#include <cstdint>

#include "lookup.h"

// #region lookup
/// Whether an index is a row of the table. Nothing may be read or written if not.
__device__ inline bool is_row(const Lookup& lookup, int64_t index) {
    return index >= 0 && index < lookup.num_rows;
}

/// Counts one index that is no row of the table. One thread does so for each.
__device__ inline void count_bad(const Lookup& lookup) {
    atomicAdd(lookup.bad, 1ull);
}

/// The number of this warp in the grid, with kWarps warps in a block.
__device__ inline int64_t warp_of_grid() {
    return int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
}

/// The number of this thread in its warp.
__device__ inline int lane_of_warp() {
    return static_cast<int>(threadIdx.x % wb::kWarpSize);
}
// #endregion lookup
