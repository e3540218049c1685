// 07_split_k.cuh: v7: where C has few tiles, several clusters share one: each has a
// part of K.
#pragma once

#include "06_tma_store.cuh"

// #region v7-candidates
/// v6's tiles, where K may be cut into parts.
inline constexpr Candidate kLargeParts = {.tiling = kLarge.tiling,
                                          .band = kLarge.band,
                                          .step_ns = kLarge.step_ns,
                                          .tile_ns = kLarge.tile_ns,
                                          .most_parts = 16};
inline constexpr Candidate kSmallParts = {.tiling = kSmall.tiling,
                                          .band = kSmall.band,
                                          .step_ns = kSmall.step_ns,
                                          .tile_ns = kSmall.tile_ns,
                                          .most_parts = 16};
/// Between large and small: fills rounds that both leave half empty.
inline constexpr Candidate kMiddle = {.tiling = {.block_rows = 128,
                                                 .block_columns = 192,
                                                 .stages = 5,
                                                 .consumers = 2,
                                                 .cluster_rows = 2,
                                                 .store_buffers = 1,
                                                 .producer_registers = 24,
                                                 .consumer_registers = 240},
                                      .band = 8,
                                      .step_ns = 490,
                                      .tile_ns = 1700};
// #endregion v7-candidates

// #region v7-launch
/// v7: v6, with more tiles to choose from, and in parts where that is faster. Parts
/// need parts * M N * 4 B of device memory while the kernels run, 32 MiB at most.
template <LayoutB kLayoutB, class Epilogue, class T, class CType>
static void launch_v7(const Product<T, CType>& product,
                      const typename Epilogue::Params& params) {
    wb::hopper_gemm::launch_fastest<Epilogue,
                                    kLayoutB,
                                    kLargeParts,
                                    kSquare,
                                    kMiddle,
                                    kSmallParts,
                                    kTiny>(product, params);
}

template <class T>
static void wgmma_tma_v7(
    const wb::GemmShape& shape, const T* A, const T* B, T* C, cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [](auto layout, const auto& product) {
        launch_v7<layout(), PlainEpilogue>(product, {});
    });
}

static void wgmma_tma_fp8_v7(const wb::GemmShape& shape,
                             const __nv_fp8_e4m3* A,
                             const __nv_fp8_e4m3* B,
                             const float* scale_a,
                             const float* scale_b,
                             __nv_bfloat16* C,
                             cudaStream_t stream) {
    with_product(shape, A, B, C, stream, [&](auto layout, const auto& product) {
        launch_v7<layout(), ScaleEpilogue>(product, {scale_a, scale_b});
    });
}
// #endregion v7-launch
