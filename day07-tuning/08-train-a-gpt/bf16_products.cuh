// bf16_products.cuh: given with this exercise: the products of the way forward, by day
// 4's kernel for Hopper, with tiles for a model as narrow as this one. There is nothing
// to write here.
#pragma once

#include <wb/hopper_gemm/kernel.h>

#include "bf16_kernels.cuh"

namespace hopper = wb::hopper_gemm;

// #region forward-tiles
/// 320 columns are two tiles of 192, with a sixth of the work for nothing; of 256 it
/// would be more than a third.
using ForwardTiles = hopper::TileSizes<Bf16,
                                       Bf16,
                                       hopper::LayoutB::rows_of_n,
                                       hopper::Tiling{.block_rows = 128,
                                                      .block_columns = 192,
                                                      .stages = 5,
                                                      .consumers = 2,
                                                      .cluster_rows = 2,
                                                      .store_buffers = 1,
                                                      .producer_registers = 24,
                                                      .consumer_registers = 240}>;
// #endregion forward-tiles

// #region forward-epilogue
/// What is added to a product: a bias, and what goes past it.
struct AddedEpilogue {
    struct Params {
        const Bf16* bias;      ///< [N], or null
        const Bf16* residual;  ///< [M, N], or null
    };
    const Params& params;
    uint32_t N;
    size_t place[2];  ///< of the first elements of this thread's two rows
    bool exists[2];

    __device__ __forceinline__ AddedEpilogue(const Params& params_,
                                             const hopper::Problem& p,
                                             int row)
        : params(params_), N(static_cast<uint32_t>(p.N)) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            place[i] = static_cast<size_t>(row + 8 * i) * N;
            exists[i] = row + 8 * i < p.M;
        }
    }

    struct Ahead {
        uint32_t bias;  // pairs of bf16
        uint32_t residual[2];
    };
    __device__ __forceinline__ Ahead fetch(int at) const {
        Ahead ahead = {};
        const auto col = static_cast<uint32_t>(at);
        if (col >= N) return ahead;
        if (params.bias != nullptr)
            ahead.bias = *reinterpret_cast<const uint32_t*>(params.bias + col);
        if (params.residual == nullptr) return ahead;
#pragma unroll
        for (int i = 0; i < 2; ++i)
            if (exists[i])
                ahead.residual[i] = *reinterpret_cast<const uint32_t*>(params.residual +
                                                                       place[i] + col);
        return ahead;
    }

    /// @param x  columns col and col + 1 of the upper row, then of the lower one
    __device__ __forceinline__ void apply(float (&x)[4],
                                          int,
                                          const Ahead& ahead) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            // A bf16 is the upper half of a float.
            x[2 * i] += __uint_as_float(ahead.bias << 16) +
                        __uint_as_float(ahead.residual[i] << 16);
            x[2 * i + 1] += __uint_as_float(ahead.bias & 0xFFFF0000u) +
                            __uint_as_float(ahead.residual[i] & 0xFFFF0000u);
        }
    }
    __device__ __forceinline__ void finish() const {}
};
// #endregion forward-epilogue

// #region forward-launch
/// y = x w^T + bias + residual.
///
/// @param shape  y is [M, N], x [M, K], w [N, K]; N and K are multiples of 8
///
/// Launch   as wb::hopper_gemm::launch() has it
inline void product_forward(const wb::GemmShape& shape,
                            const Bf16* x,
                            const Bf16* w,
                            const AddedEpilogue::Params& added,
                            Bf16* y,
                            cudaStream_t stream) {
    wb::GemmShape s = shape;
    s.transpose_b = true;
    hopper::launch<ForwardTiles, AddedEpilogue>(
        hopper::Product<Bf16, Bf16>::of(s.packed(), x, w, y, stream), added, {});
}
// #endregion forward-launch
