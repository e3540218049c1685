// 04_clusters.cuh: v4: two blocks below each other load halves of B for both.
#pragma once

#include "tiles.h"

// #region v4-launch
/// As v3, in clusters of two.
inline constexpr Tiling kTilingV4 = {.block_rows = 128,
                                     .block_columns = 256,
                                     .stages = 4,
                                     .consumers = 2,
                                     .cluster_rows = 2,
                                     .store_buffers = 0,
                                     .producer_registers = 24,
                                     .consumer_registers = 240};

/// v4: one cluster a tile of 256 x 256, in rows.
template <class T>
static void wgmma_tma_v4(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        using S = TileSizes<T, T, layout(), kTilingV4>;
        wb::hopper_gemm::launch<S, PlainEpilogue>(
            product, {}, {.persistent = false, .band = 1});
    });
}

static void wgmma_tma_fp8_v4(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = TileSizes<__nv_fp8_e4m3, __nv_bfloat16, layout(), kTilingV4>;
        wb::hopper_gemm::launch<S, ScaleEpilogue>(
            product, {scale_a, scale_b}, {.persistent = false, .band = 1});
    });
}
// #endregion v4-launch
