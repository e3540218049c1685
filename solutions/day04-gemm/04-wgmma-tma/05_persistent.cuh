// 05_persistent.cuh: v5: as many clusters as there is room for, each with tile after
// tile, close to those of the others.
#pragma once

#include "tiles.h"

// #region v5-launch
/// Rows of clusters that are worked on together: 8 of 256 rows. 66 clusters then make
/// up some 2048 x 2112 sums, nearly a square.
inline constexpr int kBandV5 = 8;

/// v5: the kernel of v4; while its consumers store a tile, the producer already has
/// the next one's stages copied.
template <class T>
static void wgmma_tma_v5(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        using S = TileSizes<T, T, layout(), kTilingV4>;
        wb::hopper_gemm::launch<S, PlainEpilogue>(
            product, {}, {.persistent = true, .band = kBandV5});
    });
}

static void wgmma_tma_fp8_v5(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = TileSizes<__nv_fp8_e4m3, __nv_bfloat16, layout(), kTilingV4>;
        wb::hopper_gemm::launch<S, ScaleEpilogue>(
            product, {scale_a, scale_b}, {.persistent = true, .band = kBandV5});
    });
}
// #endregion v5-launch
