/// hopper_tiles.h: given with this exercise: the sizes with which v5, and the product
/// alone beside it in the benchmark, use chapter 04's kernel.
#pragma once

#include <cuda_bf16.h>
#include <wb/hopper_gemm/kernel.h>

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
// #endregion tiles
