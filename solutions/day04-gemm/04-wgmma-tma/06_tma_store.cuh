// 06_tma_store.cuh: v6: the TMA unit stores C while the next tile is multiplied; tiles
// as large as leaves work for every multiprocessor.
#pragma once

#include <algorithm>

#include "tiles.h"

// #region v6-tilings
/// For large C: v5's tile, and two panels of 16 x 64 elements of C a warp.
inline constexpr Tiling kTilingLarge = {.block_rows = 128,
                                        .block_columns = 256,
                                        .stages = 4,
                                        .consumers = 2,
                                        .cluster_rows = 2,
                                        .store_buffers = 2,
                                        .producer_registers = 24,
                                        .consumer_registers = 240};
/// Three consumers. Where tiles of 128 x 256 leave a round half empty, these may fit.
inline constexpr Tiling kTilingSquare = {.block_rows = 192,
                                         .block_columns = 192,
                                         .stages = 4,
                                         .consumers = 3,
                                         .cluster_rows = 2,
                                         .store_buffers = 1,
                                         .producer_registers = 32,
                                         .consumer_registers = 160};
/// For a C of fewer such tiles than there are multiprocessors.
inline constexpr Tiling kTilingSmall = {.block_rows = 128,
                                        .block_columns = 128,
                                        .stages = 6,
                                        .consumers = 2,
                                        .cluster_rows = 2,
                                        .store_buffers = 2,
                                        .producer_registers = 24,
                                        .consumer_registers = 240};
/// For a C of even fewer: one consumer.
inline constexpr Tiling kTilingTiny = {.block_rows = 64,
                                       .block_columns = 128,
                                       .stages = 8,
                                       .consumers = 1,
                                       .store_buffers = 2};
// #endregion v6-tilings

// #region v6-launch
/// How long a product takes with tiles of some sizes, where 1 is a tile of 128 x 256 of
/// each multiprocessor.
///
/// @param speed  that these tiles reach where there are many, of that of 128 x 256
template <class S>
double time_with(const Product<typename S::T, typename S::CType>& product,
                 double speed) {
    const double of_tile = static_cast<double>(S::BM * S::BN) / (128.0 * 256.0);
    return static_cast<double>(wb::hopper_gemm::rounds_of<S>(product)) * of_tile /
           speed;
}

/// Takes the tiles with which the product should be done first. The speeds were
/// measured on an H100, in bf16 at 8192 x 8192 x 8192.
template <LayoutB kLayoutB, class Epilogue, class T, class CType>
static void launch_v6(const Product<T, CType>& product,
                      const typename Epilogue::Params& params) {
    using wb::hopper_gemm::launch;
    using Large = TileSizes<T, CType, kLayoutB, kTilingLarge>;
    using Square = TileSizes<T, CType, kLayoutB, kTilingSquare>;
    using Small = TileSizes<T, CType, kLayoutB, kTilingSmall>;
    using Tiny = TileSizes<T, CType, kLayoutB, kTilingTiny>;
    const double large = time_with<Large>(product, 1.0);
    const double square = time_with<Square>(product, 0.95);
    const double small = time_with<Small>(product, 0.84);
    const double tiny = time_with<Tiny>(product, 0.46);
    const double least = std::min({large, square, small, tiny});
    if (large == least)
        launch<Large, Epilogue>(product, params, {.band = 8});
    else if (square == least)
        launch<Square, Epilogue>(product, params, {.band = 5});
    else if (small == least)
        launch<Small, Epilogue>(product, params, {.band = 8});
    else
        launch<Tiny, Epilogue>(product, params, {.band = 16});
}

template <class T>
static void wgmma_tma_v6(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_v6<layout(), PlainEpilogue>(product, {});
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
        launch_v6<layout(), ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
// #endregion v6-launch
