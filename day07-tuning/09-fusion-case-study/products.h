/// products.h: given with this exercise: what a product of weights and a vector is
/// made of. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

#include "block_sums.cuh"

/// GELU with tanh: z * sigmoid(2 u), u = sqrt(2 / pi) (z + 0.044715 z^3).
static __device__ inline float gelu(float z) {
    const float u = 0.797884561f * (z + 0.044715f * z * z * z);
    return z / (1.0f + expf(-2.0f * u));
}

/// Four numbers, as one access: the first of them is 16-byte aligned.
static __device__ inline const float4& four(const float* first) {
    return *reinterpret_cast<const float4*>(first);
}
static __device__ inline float4& four(float* first) {
    return *reinterpret_cast<float4*>(first);
}

/// A row of weights.
static __device__ inline const float* row_of(const float* weights,  // [rows, inputs]
                                             int64_t row,
                                             int64_t inputs) {
    return weights + row * inputs;
}

/// The product of four weights and four numbers.
static __device__ inline float dot(float4 w, float4 v) {
    return w.x * v.x + w.y * v.y + (w.z * v.z + w.w * v.w);
}

/// What a lane has of the product of a row of weights and a vector.
static __device__ inline float part_times(const float* row,
                                          const float* in,
                                          int64_t inputs) {
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const auto* const row4 = reinterpret_cast<const float4*>(row);
    const auto* const in4 = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
#pragma unroll 4
    for (int64_t i = lane; i < inputs / 4; i += wb::kWarpSize)
        sum += dot(row4[i], in4[i]);
    return sum;
}

/// The product of a row of weights and a vector, for all lanes of the warp.
static __device__ inline float row_times(const float* row,
                                         const float* in,
                                         int64_t inputs) {
    return warp_sum(part_times(row, in, inputs));
}

// #region row-ahead
/// A row of weights of which a lane's first numbers are on their way: a warp asks for
/// them before it has to wait for the vector.
struct RowAhead {
    static constexpr int kAhead = 3;  // loads of 16 bytes of a lane

    const float* row;
    int64_t inputs;  // a multiple of 4
    float4 r_w[kAhead];

    __device__ RowAhead(const float* weights, int64_t count)
        : row(weights), inputs(count) {
#pragma unroll
        for (int i = 0; i < kAhead; ++i)
            r_w[i] = has(i) ? reinterpret_cast<const float4*>(row)[place(i)] : float4{};
    }

    /// The product with a vector, for all lanes of the warp.
    __device__ float times(const float* in) const {  // [inputs], 16-byte aligned
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            if (!has(i)) break;
            const float4 v = reinterpret_cast<const float4*>(in)[place(i)];
            sum += dot(r_w[i], v);
        }
        constexpr int64_t kDone = int64_t{4} * kAhead * wb::kWarpSize;
        if (inputs > kDone) sum += part_times(row + kDone, in + kDone, inputs - kDone);
        return warp_sum(sum);
    }

 private:
    __device__ static int64_t place(int i) {
        return static_cast<int>(threadIdx.x) % wb::kWarpSize + i * wb::kWarpSize;
    }
    __device__ bool has(int i) const {
        return place(i) < inputs / 4;
    }
};
// #endregion row-ahead
