// 03_two_consumers.cuh: v3: tiles of 128 x 256, two warpgroups that consume.
#pragma once

#include "tiles.h"

// #region v3-launch
/// 64 x 256 sums a warpgroup, 128 registers a thread. The producer gives up registers
/// for them: 128 * 24 + 256 * 240 are what 384 threads are launched with.
inline constexpr Tiling kTilingV3 = {.block_rows = 128,
                                     .block_columns = 256,
                                     .stages = 4,
                                     .consumers = 2,
                                     .store_buffers = 0,
                                     .producer_registers = 24,
                                     .consumer_registers = 240};

template <class T>
static void wgmma_tma_v3(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_ring<TileSizes<T, T, layout(), kTilingV3>, PlainEpilogue>(product, {});
    });
}

static void wgmma_tma_fp8_v3(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        using S = TileSizes<__nv_fp8_e4m3, __nv_bfloat16, layout(), kTilingV3>;
        launch_ring<S, ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
// #endregion v3-launch
