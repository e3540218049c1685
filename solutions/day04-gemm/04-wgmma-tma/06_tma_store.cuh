// 06_tma_store.cuh: v6: the TMA unit stores C while the next tile is multiplied; tiles
// as large as leaves work for every multiprocessor.
#pragma once

#include "tiles.h"

// #region v6-tilings
/// For large C: v5's tile, and two panels of 16 x 64 elements of C a warp.
inline constexpr Tiling kTilingLarge = {.block_rows = 128,
                                        .block_columns = 256,
                                        .stages = 4,
                                        .consumers = 2,
                                        .cluster_rows = 2,
                                        .store_buffers = 2,
                                        .producer_registers = 40,
                                        .consumer_registers = 232};
/// For a C of fewer such tiles than there are multiprocessors.
inline constexpr Tiling kTilingSmall = {.block_rows = 128,
                                        .block_columns = 128,
                                        .stages = 6,
                                        .consumers = 2,
                                        .store_buffers = 2,
                                        .producer_registers = 40,
                                        .consumer_registers = 232};
// #endregion v6-tilings

// #region v6-launch
template <LayoutB kLayoutB, class Epilogue, class T, class CType>
static void launch_v6(const Product<T, CType>& product,
                      const typename Epilogue::Params& params) {
    using Large = TileSizes<T, CType, kLayoutB, kTilingLarge>;
    using Small = TileSizes<T, CType, kLayoutB, kTilingSmall>;
    const int64_t tiles = wb::ceil_div(product.M, int64_t{Large::BM}) *
                          wb::ceil_div(product.N, int64_t{Large::BN});
    if (tiles < wb::multiprocessors())
        return wb::hopper_gemm::launch<Small, Epilogue>(product, params, {.band = 16});
    wb::hopper_gemm::launch<Large, Epilogue>(product, params, {.band = 8});
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
