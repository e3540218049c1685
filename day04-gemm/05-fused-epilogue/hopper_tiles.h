/// hopper_tiles.h: given with this exercise: the sizes with which v5, and the product
/// alone beside it in the benchmark, use chapter 04's kernel, and when.
#pragma once

#include <cuda_bf16.h>
#include <wb/device.h>
#include <wb/hopper_gemm/kernel.h>

#include <algorithm>

#include "fused_epilogue.h"

/// The kernel and its parts.
namespace hopper = wb::hopper_gemm;

// #region tiles
/// 128 x 256 sums a block, a half for each of two warpgroups; y leaves by TMA.
///
/// @tparam kTransposed  the second factor is stored as [N, K]: x w^T; else as [K, N]
template <bool kTransposed>
using HopperTiles = hopper::TileSizes<__nv_bfloat16,
                                      __nv_bfloat16,
                                      kTransposed ? hopper::LayoutB::rows_of_n
                                                  : hopper::LayoutB::rows_of_k,
                                      hopper::Tiling{.block_rows = 128,
                                                     .block_columns = 256,
                                                     .stages = 4,
                                                     .consumers = 2,
                                                     .cluster_rows = 2,
                                                     .store_buffers = 2,
                                                     .producer_registers = 40,
                                                     .consumer_registers = 232}>;

/// The same for a y of 8 bits, which leaves from registers.
using NarrowHopperTiles = hopper::TileSizes<__nv_bfloat16,
                                            __nv_fp8_e4m3,
                                            hopper::LayoutB::rows_of_n,
                                            hopper::Tiling{.block_rows = 128,
                                                           .block_columns = 256,
                                                           .stages = 4,
                                                           .consumers = 2,
                                                           .cluster_rows = 2,
                                                           .store_buffers = 0,
                                                           .producer_registers = 40,
                                                           .consumer_registers = 232}>;
// #endregion tiles

// #region suits
/// Whether this GPU has wgmma, the TMA unit takes these arrays, and pairs are whole.
///
/// @param vectors  all other arrays begin at multiples of 16 bytes, rows as well
inline bool suits_hopper(const LinearShape& s,
                         bool vectors,
                         const void* A,
                         const void* B) {
    const auto begins = [](const void* first) {
        return reinterpret_cast<uintptr_t>(first) % 16 == 0;
    };
    return wb::compute_capability() == 90 && vectors && begins(A) && begins(B) &&
           s.ldx % 8 == 0 && s.ldw % 8 == 0 && s.ldy % 8 == 0 && s.N % 8 == 0 &&
           s.K % 8 == 0 && s.N > 0 && s.K > 0;
}
// #endregion suits

// #region rows
/// How many rows are hidden at a time: as many as three quarters of the L2 cache hold,
/// or fewer, so that the second layer's tiles are whole rounds of all multiprocessors.
inline int64_t rows_at_a_time_v5(const MlpInput& in) {
    using S = HopperTiles<true>;
    const int64_t l2_bytes = wb::device_attribute(cudaDevAttrL2CacheSize);
    const int64_t of_tile = int64_t{2 * S::BM} * std::max(in.H, int64_t{1});  // bytes
    const int64_t most = std::max(l2_bytes / 4 * 3 / of_tile, int64_t{1});
    const int64_t across = wb::ceil_div(in.N, int64_t{S::BN});
    const int64_t at_once = wb::multiprocessors();
    const int64_t rounds = std::max(most * across / at_once, int64_t{1});
    return std::clamp(rounds * at_once / across, int64_t{1}, most) * S::BM;
}
// #endregion rows
