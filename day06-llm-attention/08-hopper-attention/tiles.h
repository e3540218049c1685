// tiles.h: given with this exercise: the sizes of a kernel's tiles, where they lie in
// shared memory, and the barriers that say who may touch them.
#pragma once

#include <cuda_runtime.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>

#include <cstddef>
#include <cstdint>

#include "problem.h"

/// Rows that one warpgroup multiplies: the M of wgmma.
inline constexpr int kGroupRows = 64;

// #region tiling
/// The sizes of one kernel.
///
/// @tparam kWarpgroups_   consumers, each with 64 rows of q
/// @tparam kKeys_         keys in a block, a multiple of 16
/// @tparam kStages_       blocks of keys, and of values, in shared memory
/// @tparam kQueryStages_  tiles of q in shared memory: 2 let the next one come early
/// @tparam kTmaStore_     whether the TMA unit stores o, if dense (tma_store.h)
template <class T_,
          int kDim_,
          int kWarpgroups_,
          int kKeys_,
          int kStages_,
          int kQueryStages_ = 1,
          bool kTmaStore_ = false>
struct Tiling {
    using T = T_;
    static constexpr int kDim = kDim_;
    /// Columns of a panel: 128 bytes, the width of the swizzle. A tile is kPanels of
    /// them, one after the other.
    static constexpr int kPanel = wb::ptx::kSwizzleBytes / static_cast<int>(sizeof(T));
    static constexpr int kPanels = kDim / kPanel;
    static constexpr int kWarpgroups = kWarpgroups_;
    static constexpr int kRows = kGroupRows * kWarpgroups;
    static constexpr int kKeys = kKeys_;
    static constexpr int kStages = kStages_;
    static constexpr int kQueryStages = kQueryStages_;
    static constexpr bool kTmaStore = kTmaStore_;
    /// One more warpgroup produces.
    static constexpr int kThreads = wb::ptx::kWarpgroup * (kWarpgroups + 1);
    static constexpr int kQueryBytes = kRows * kDim * static_cast<int>(sizeof(T));
    static constexpr int kKeyBytes = kKeys * kDim * static_cast<int>(sizeof(T));
    /// Registers of a thread that produces, and of one that consumes: what the block is
    /// launched with, 65536 / kThreads rounded down to 8, shared out anew.
    /// Two consumers with up to 128 keys can spare some for a producer that looks up
    /// pages; with D = 256, where o alone takes 128, none.
    static constexpr int kProducerRegisters = kWarpgroups == 4   ? 24
                                              : kWarpgroups == 3 ? 32
                                              : kDim > 128       ? 24
                                              : kKeys > 128      ? 40
                                                                 : 72;
    static constexpr int kConsumerRegisters = kWarpgroups == 4   ? 112
                                              : kWarpgroups == 3 ? 160
                                              : kDim > 128       ? 240
                                              : kKeys > 128      ? 232
                                                                 : 216;
};
// #endregion tiling

// #region shared
/// Everything in shared memory. A `full` barrier completes a phase when a tile has
/// arrived, an `empty` one when all consumers are done with it.
template <class Tiling>
struct alignas(1024) SharedTiles {
    using Barrier = wb::ptx::Mbarrier;
    static constexpr int kStages = Tiling::kStages;
    static constexpr int kQueryStages = Tiling::kQueryStages;

    unsigned char q[kQueryStages][Tiling::kQueryBytes];
    unsigned char k[kStages][Tiling::kKeyBytes];
    unsigned char v[kStages][Tiling::kKeyBytes];
    Barrier q_full[kQueryStages], q_empty[kQueryStages];
    Barrier k_full[kStages], k_empty[kStages];
    Barrier v_full[kStages], v_empty[kStages];
    Barrier work_full[2], work_empty[2];  ///< v5
    Work work[2];                         ///< v5: the next tiles, for the consumers
};

/// Bytes to ask for: dynamic shared memory need not begin at a multiple of 1024.
template <class Tiling>
inline constexpr size_t kSharedBytes = sizeof(SharedTiles<Tiling>) + 1024;

/// The block's shared memory. Swizzled tiles begin at multiples of 1024, or the data
/// that wgmma reads is not what the TMA unit wrote.
template <class Tiling>
__device__ __forceinline__ SharedTiles<Tiling>& shared_tiles(unsigned char* dynamic) {
    const uint32_t past = wb::ptx::shared_address(dynamic) % 1024;
    return *reinterpret_cast<SharedTiles<Tiling>*>(dynamic + (1024 - past) % 1024);
}

/// Makes all barriers. By the whole block.
template <class Tiling>
__device__ __forceinline__ void make_barriers(SharedTiles<Tiling>& shared) {
    using wb::ptx::mbarrier_init;
    if (threadIdx.x == 0) {
        for (int i = 0; i < Tiling::kQueryStages; ++i) {
            mbarrier_init(&shared.q_full[i], 1);
            mbarrier_init(&shared.q_empty[i], Tiling::kWarpgroups);
        }
        for (int i = 0; i < Tiling::kStages; ++i) {
            mbarrier_init(&shared.k_full[i], 1);
            mbarrier_init(&shared.k_empty[i], Tiling::kWarpgroups);
            mbarrier_init(&shared.v_full[i], 1);
            mbarrier_init(&shared.v_empty[i], Tiling::kWarpgroups);
        }
        for (int i = 0; i < 2; ++i) {
            mbarrier_init(&shared.work_full[i], 1);
            mbarrier_init(&shared.work_empty[i],
                          wb::ptx::kWarpgroup * Tiling::kWarpgroups);
        }
        wb::ptx::mbarrier_init_fence();
    }
    __syncthreads();
}
// #endregion shared

// #region ring
/// A place in a ring of kStages stages, and the parity of the phase that its full
/// barriers complete in this round, and its empty barriers when this round is over. A
/// producer waits for an empty barrier with the opposite parity, that of the round
/// before: in the first round that counts as complete.
template <int kStages>
struct Ring {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
        }
    }
};
// #endregion ring
