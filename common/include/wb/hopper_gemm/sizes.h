/// wb/hopper_gemm/sizes.h: matrix products on Hopper: how C is cut into tiles, and what
/// a block has in shared memory.
///
/// The parts of one kernel, each in a file, in the order of the data:
///
///     plan.h       Tiling, the order of tiles, parts of K: what needs no GPU
///     sizes.h      TileSizes, SharedTiles
///     problem.h    what a kernel is told; which block has which tile
///     produce.h    one thread: tiles of A and B, by TMA, into a ring of stages
///     consume.h    warpgroups: wgmma, from the ring into registers
///     epilogue.h   from registers to C: what is done to a sum, and how it is stored
///     ahead.h      what that needs from memory, fetched before
///     store_bytes.h  the same for a C of 8 bits
///     kernel.h     all of that as one persistent kernel, and its launch
///     split_k.h    the same where clusters share a tile, each with a part of K
///     choose.h     launches the tiles that plan.h expects to be the fastest
#pragma once

#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/tile_layout.h>
#include <wb/ptx/warp_specialize.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wb/hopper_gemm/plan.h"

namespace wb::hopper_gemm {

/// Rows that one wgmma multiplies.
inline constexpr int kWgmmaRows = 64;

/// How B lies in memory.
enum class LayoutB {
    rows_of_k,  ///< [K, N]: neighbours along N. "N-major", for 16-bit types only
    rows_of_n,  ///< [N, K]: neighbours along K. "K-major", as A
};

// #region tiling
/// What follows from a Tiling, for factors of type T and a C of type CType: `S` in the
/// kernels.
template <class T_, class CType_, LayoutB kLayoutB_, Tiling kTiling>
struct TileSizes {
    using T = T_;
    using CType = CType_;
    /// Of bytes, sums are whole numbers.
    using Sum = std::conditional_t<std::is_same_v<T, int8_t>, int32_t, float>;
    static constexpr LayoutB kLayoutB = kLayoutB_;
    static constexpr bool kRowsOfK = kLayoutB == LayoutB::rows_of_k;
    static constexpr int BM = kTiling.block_rows;
    static constexpr int BN = kTiling.block_columns;
    /// Depth of a stage: one row of a swizzled tile, 128 bytes.
    static constexpr int BK = wb::ptx::kSwizzleBytes / static_cast<int>(sizeof(T));
    static constexpr int kStages = kTiling.stages;
    static constexpr int kConsumers = kTiling.consumers;
    /// One more warpgroup produces.
    static constexpr int kThreads = wb::ptx::kWarpgroup * (kConsumers + 1);
    static constexpr int kGroupRows = BM / kConsumers;  ///< of a consumer
    static constexpr int kRowBlocks = kGroupRows / kWgmmaRows;
    static constexpr int kClusterRows = kTiling.cluster_rows;
    static constexpr int kClusterColumns = kTiling.cluster_columns;
    static constexpr int kCluster = kClusterRows * kClusterColumns;
    static constexpr int kABytes = BM * wb::ptx::kSwizzleBytes;
    static constexpr int kBBytes = BN * wb::ptx::kSwizzleBytes;
    /// Columns of a panel of B, if it lies in rows of K, and of a panel of C.
    static constexpr int kPanel = 64;
    static constexpr int kPanels = BN / kPanel;
    static constexpr int kStoreBuffers = kTiling.store_buffers;
    static constexpr bool kTmaStore = kStoreBuffers > 0;
    static constexpr int kStoreRows = 16;  ///< of a warp
    static constexpr int kStoreBytes = kStoreRows * wb::ptx::kSwizzleBytes;
    static constexpr int kProducerRegisters = kTiling.producer_registers;
    static constexpr int kConsumerRegisters = kTiling.consumer_registers;

    static_assert(BM == kConsumers * kRowBlocks * kWgmmaRows, "whole wgmmas");
    static_assert(BN % kPanel == 0 && BN <= 256, "whole panels, one wgmma wide");
    static_assert(sizeof(CType) == 2 || !kTmaStore, "stmatrix stores 16-bit elements");
    static_assert(!kRowsOfK || sizeof(T) == 2, "wgmma takes 8 bits along K only");
    // Parts of a tile that blocks of a cluster load for each other, in whole rows of
    // the swizzle's pattern.
    static_assert(BM / kClusterColumns % 8 == 0 && BN / kClusterRows % 8 == 0,
                  "each part begins at a multiple of 1024 bytes");
};
// #endregion tiling

// #region shared
/// Everything in shared memory. A `full` barrier completes a phase when a stage has
/// arrived, an `empty` one when all consumers that read what this block loads are done.
template <class S>
struct alignas(1024) SharedTiles {
    unsigned char a[S::kStages][S::kABytes];
    unsigned char b[S::kStages][S::kBBytes];
    /// Panels of C on their way out, of each warp.
    unsigned char c[S::kConsumers * 4][S::kTmaStore ? S::kStoreBuffers : 1]
                   [S::kTmaStore ? S::kStoreBytes : 16];
    wb::ptx::Mbarrier full[S::kStages];
    wb::ptx::Mbarrier empty[S::kStages];
};

/// Bytes to ask for: dynamic shared memory need not begin at a multiple of 1024.
template <class S>
inline constexpr size_t kSharedBytes = sizeof(SharedTiles<S>) + 1024;

/// The block's shared memory. Swizzled tiles begin at multiples of 1024, or the data
/// that wgmma reads is not what the TMA unit wrote.
template <class S>
__device__ __forceinline__ SharedTiles<S>& shared_tiles(unsigned char* dynamic) {
    const uint32_t past = wb::ptx::shared_address(dynamic) % 1024;
    return *reinterpret_cast<SharedTiles<S>*>(dynamic + (1024 - past) % 1024);
}
// #endregion shared

}  // namespace wb::hopper_gemm
