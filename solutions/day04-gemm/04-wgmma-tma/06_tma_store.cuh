// 06_tma_store.cuh: v6: the TMA unit stores C while the next tile is multiplied; tiles
// as large as leaves work for every multiprocessor.
#pragma once

#include <wb/hopper_gemm/choose.h>

#include "tiles.h"

using wb::hopper_gemm::Candidate;

// #region v6-tilings
/// For large C: v5's tile, and two panels of 16 x 64 elements of C a warp. The times
/// are from an H100, in bf16, over 46 shapes.
inline constexpr Candidate kLarge = {.tiling = {.block_rows = 128,
                                                .block_columns = 256,
                                                .stages = 4,
                                                .consumers = 2,
                                                .cluster_rows = 2,
                                                .store_buffers = 2,
                                                .producer_registers = 24,
                                                .consumer_registers = 240},
                                     .band = 8,
                                     .step_ns = 640,
                                     .tile_ns = 2200};
/// Three consumers. Where tiles of 128 x 256 leave a round half empty, these may fit.
inline constexpr Candidate kSquare = {.tiling = {.block_rows = 192,
                                                 .block_columns = 192,
                                                 .stages = 4,
                                                 .consumers = 3,
                                                 .cluster_rows = 2,
                                                 .store_buffers = 1,
                                                 .producer_registers = 32,
                                                 .consumer_registers = 160},
                                      .band = 5,
                                      .step_ns = 710,
                                      .tile_ns = 2200};
/// For a C of fewer such tiles than there are multiprocessors.
inline constexpr Candidate kSmall = {.tiling = {.block_rows = 128,
                                                .block_columns = 128,
                                                .stages = 6,
                                                .consumers = 2,
                                                .cluster_rows = 2,
                                                .store_buffers = 2,
                                                .producer_registers = 24,
                                                .consumer_registers = 240},
                                     .band = 8,
                                     .step_ns = 380,
                                     .tile_ns = 700};
/// For a C of even fewer: one consumer.
inline constexpr Candidate kTiny = {.tiling = {.block_rows = 64,
                                               .block_columns = 128,
                                               .stages = 8,
                                               .consumers = 1,
                                               .store_buffers = 2},
                                    .band = 16,
                                    .step_ns = 340,
                                    .tile_ns = 0};
// #endregion v6-tilings

// #region v6-launch
/// v6: takes the tiles with which the product should be done first.
template <class T>
static void wgmma_tma_v6(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        wb::hopper_gemm::
            launch_fastest<PlainEpilogue, layout(), kLarge, kSquare, kSmall, kTiny>(
                product, {});
    });
}

static void wgmma_tma_fp8_v6(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        wb::hopper_gemm::
            launch_fastest<ScaleEpilogue, layout(), kLarge, kSquare, kSmall, kTiny>(
                product, {scale_a, scale_b});
    });
}
// #endregion v6-launch
