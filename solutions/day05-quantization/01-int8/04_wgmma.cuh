// 04_wgmma.cuh: v4: day 4's kernel for Hopper, with sums that are whole numbers.
#pragma once

#include <wb/hopper_gemm/kernel.h>

#include "product.h"
#include "rows.h"

// #region v4-epilogue
/// y of sums, where they are in registers; see wb/hopper_gemm/epilogue.h.
struct DequantizeEpilogue {
    using Params = Int8Inputs;
    const Int8Inputs& in;
    int N;
    RowFactors upper;
    RowFactors lower;

    __device__ __forceinline__ DequantizeEpilogue(const Params& params,
                                                  const wb::hopper_gemm::Problem& p,
                                                  int row)
        : in(params), N(p.N) {
        if (row < p.M) upper = RowFactors(params, row);
        if (row + 8 < p.M) lower = RowFactors(params, row + 8);
    }
    __device__ __forceinline__ void apply(const int32_t (&sums)[4],
                                          float (&x)[4],
                                          int col) const {
        x[0] = x[1] = x[2] = x[3] = 0.0f;
        if (col >= N) return;
        const ColumnFactors columns(in, col);
        const float2 above = dequantized_pair(upper, columns, sums[0], sums[1]);
        const float2 below = dequantized_pair(lower, columns, sums[2], sums[3]);
        x[0] = above.x;
        x[1] = above.y;
        x[2] = below.x;
        x[3] = below.y;
    }
    __device__ __forceinline__ void finish() const {}
};
// #endregion v4-epilogue

// #region v4-launch
/// For a y of many tiles: 128 x 256 of them for two warpgroups, two blocks a cluster.
inline constexpr wb::hopper_gemm::Tiling kTilingLarge = {.block_rows = 128,
                                                         .block_columns = 256,
                                                         .stages = 4,
                                                         .consumers = 2,
                                                         .cluster_rows = 2,
                                                         .store_buffers = 2,
                                                         .producer_registers = 24,
                                                         .consumer_registers = 240};
/// For fewer.
inline constexpr wb::hopper_gemm::Tiling kTilingSmall = {.block_rows = 128,
                                                         .block_columns = 128,
                                                         .stages = 6,
                                                         .consumers = 2,
                                                         .store_buffers = 2,
                                                         .producer_registers = 24,
                                                         .consumer_registers = 240};

/// v4: on Hopper; elsewhere it is v3.
static void int8_matmul_v4(const Int8Shape& shape,
                           const Int8Inputs& in,
                           __nv_bfloat16* y,
                           cudaStream_t stream) {
    using namespace wb::hopper_gemm;
    if (shape.K == 0 || wb::compute_capability() != 90)
        return int8_matmul_v3(shape, in, y, stream);
    using Large = TileSizes<int8_t, __nv_bfloat16, LayoutB::rows_of_n, kTilingLarge>;
    using Small = TileSizes<int8_t, __nv_bfloat16, LayoutB::rows_of_n, kTilingSmall>;
    const Product<int8_t, __nv_bfloat16> product = {.M = shape.M,
                                                    .N = shape.N,
                                                    .K = shape.K,
                                                    .A = in.x,
                                                    .B = in.w,
                                                    .C = y,
                                                    .lda = shape.K,
                                                    .ldb = shape.K,
                                                    .ldc = shape.N,
                                                    .stream = stream};
    // Tiles of half the size take half as long, and a sixth more, as day 4 measured for
    // numbers of 16 bits.
    if (168 * rounds_of<Large>(product) <= 100 * rounds_of<Small>(product))
        launch<Large, DequantizeEpilogue>(product, in, {.band = 8});
    else
        launch<Small, DequantizeEpilogue>(product, in, {.band = 16});
}
// #endregion v4-launch
