// bf16_sums.cuh: given with this exercise: the gradients of all norms and biases, which
// are sums over tokens. There is nothing to write here.
//
// Each kernel of the way back that has such a gradient in hand leaves sums over 64
// tokens. One launch at the end of the step adds them, for the whole model: a launch
// for each of them would take longer to begin than to add.
#pragma once

#include "bf16_kernels.cuh"
#include "bf16_turn.cuh"

// #region columns
/// The parameters of a layer that have such sums, in their order.
inline constexpr int kSummed = 8;

/// Where a layer's sums are among all columns; norms have weight, then bias.
struct LayerSums {
    int64_t norm1, qkv, out, norm2, up, down;

    /// @param i  plan.shape.layers: that of the norm behind all layers, norm1
    static LayerSums of(const wb::model::GptShape& shape, int64_t i) {
        const int64_t width = shape.width;
        LayerSums s = {};
        s.norm1 = i * sums_of_layer(shape);
        s.qkv = s.norm1 + 2 * width;
        s.out = s.qkv + 3 * width;
        s.norm2 = s.out + width;
        s.up = s.norm2 + 2 * width;
        s.down = s.up + shape.hidden;
        return s;
    }
};

/// Where the sums of columns go: a kernel's parameter.
struct SumPlaces {
    uint32_t columns;         ///< of all
    uint32_t of_layer;        ///< of a layer
    uint32_t begin[kSummed];  ///< where each parameter begins, among those of a layer
    uint32_t place[kMostLayers + 1][kSummed];  ///< and where its gradient is

    static SumPlaces of(const Bf16Plan& plan) {
        const wb::model::GptShape& shape = plan.shape;
        SumPlaces p = {};
        p.columns = static_cast<uint32_t>(plan.sum_columns());
        p.of_layer = static_cast<uint32_t>(sums_of_layer(shape));
        const LayerSums s = LayerSums::of(shape, 0);
        const int64_t begin[kSummed] = {s.norm1,
                                        s.norm1 + shape.width,
                                        s.qkv,
                                        s.out,
                                        s.norm2,
                                        s.norm2 + shape.width,
                                        s.up,
                                        s.down};
        for (int k = 0; k < kSummed; ++k)
            p.begin[k] = static_cast<uint32_t>(begin[k]);
        for (int64_t i = 0; i < shape.layers; ++i) {
            const LayerParameters& l = plan.parameters.layer[i];
            const int64_t place[kSummed] = {l.norm1.weight,
                                            l.norm1.bias,
                                            l.qkv.bias,
                                            l.out.bias,
                                            l.norm2.weight,
                                            l.norm2.bias,
                                            l.up.bias,
                                            l.down.bias};
            for (int k = 0; k < kSummed; ++k)
                p.place[i][k] = static_cast<uint32_t>(place[k]);
        }
        p.place[shape.layers][0] = static_cast<uint32_t>(plan.parameters.norm.weight);
        p.place[shape.layers][1] = static_cast<uint32_t>(plan.parameters.norm.bias);
        return p;
    }
};
// #endregion columns

// #region sums
/// Threads that share a column.
inline constexpr int kSumThreads = 16;

/// gradients[the place of column c] = sum of sums[part, c] over all parts.
///
/// Launch   grid ceil_div(columns, 32), block (32, kSumThreads)
/// Traffic  reads 4 B a part and column
static __global__ void __launch_bounds__(wb::kWarpSize* kSumThreads)
    bf16_sums_kernel(const float* sums,  // [parts, columns]
                     uint32_t parts,
                     const __grid_constant__ SumPlaces places,
                     float* gradients) {
    __shared__ float s_sums[kSumThreads][wb::kWarpSize];
    const uint32_t col = blockIdx.x * wb::kWarpSize + threadIdx.x;
    float sum = 0.0f;
    if (col < places.columns) {
#pragma unroll 8
        for (uint32_t part = threadIdx.y; part < parts; part += kSumThreads)
            sum += sums[size_t{part} * places.columns + col];
    }
    s_sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || col >= places.columns) return;
    for (int i = 1; i < kSumThreads; ++i)
        sum += s_sums[i][threadIdx.x];
    const uint32_t layer = col / places.of_layer;
    const uint32_t of_layer = col - layer * places.of_layer;
    int k = kSummed - 1;
    while (of_layer < places.begin[k])
        --k;
    gradients[places.place[layer][k] + of_layer - places.begin[k]] = sum;
}
// #endregion sums
