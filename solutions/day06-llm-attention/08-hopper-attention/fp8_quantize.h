// fp8_quantize.h: bfloat16 tensors as e4m3 numbers with scales, laid out as wgmma wants
// them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/launch.h>

#include <cstdint>

/// The largest e4m3 number.
inline constexpr float kLargestE4m3 = 448.0f;

/// Threads of a block of the kernels below.
inline constexpr int kQuantizeThreads = 256;

/// What to divide by, so that the largest number becomes the largest e4m3 number.
__device__ __forceinline__ float scale_of(float largest) {
    return largest > 0.0f ? largest / kLargestE4m3 : 1.0f;
}

/// The largest absolute value among those of a block of threads. All get it.
__device__ __forceinline__ float block_largest(float value) {
    __shared__ float s_largest[kQuantizeThreads / wb::kWarpSize];
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, other));
    if (threadIdx.x % wb::kWarpSize == 0)
        s_largest[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    for (const float other : s_largest)
        value = fmaxf(value, other);
    return value;
}

// #region rows
/// Rounds kRows rows of one head to e4m3, with one scale.
///
/// Launch   grid (blocks of rows, heads), block kQuantizeThreads
/// Bytes    3 a number, the second reading from the cache
template <int kRows, int kDim>
__global__ void quantize_rows_kernel(const __nv_bfloat16* x,  // [heads, rows, kDim]
                                     __nv_fp8_e4m3* y,        // [heads, rows, kDim]
                                     float* scales,           // [heads, blocks of rows]
                                     int rows) {
    const int64_t head = blockIdx.y;
    const int first = static_cast<int>(blockIdx.x) * kRows;
    const int count = min(kRows, rows - first) * kDim;
    x += (head * rows + first) * kDim;
    y += (head * rows + first) * kDim;
    float largest = 0.0f;
    for (int i = threadIdx.x; i < count; i += kQuantizeThreads)
        largest = fmaxf(largest, fabsf(__bfloat162float(x[i])));
    const float scale = scale_of(block_largest(largest));
    for (int i = threadIdx.x; i < count; i += kQuantizeThreads)
        y[i] = __nv_fp8_e4m3(__bfloat162float(x[i]) / scale);
    if (threadIdx.x == 0) scales[head * gridDim.x + blockIdx.x] = scale;
}
// #endregion rows

/// The largest absolute value of each head, as the bits of a float, which are ordered
/// as floats are. `largest` is 0 before.
///
/// Launch   grid (any, heads), block kQuantizeThreads
__global__ void largest_of_head_kernel(const __nv_bfloat16* x,  // [heads, count]
                                       unsigned* largest,       // [heads]
                                       int64_t count) {
    x += blockIdx.y * count;
    float value = 0.0f;
    const int64_t stride = int64_t{gridDim.x} * kQuantizeThreads;
    for (int64_t i = int64_t{blockIdx.x} * kQuantizeThreads + threadIdx.x; i < count;
         i += stride)
        value = fmaxf(value, fabsf(__bfloat162float(x[i])));
    value = block_largest(value);
    if (threadIdx.x == 0) atomicMax(&largest[blockIdx.y], __float_as_uint(value));
}

// #region transpose
/// Transposes the values of a head, and rounds them to e4m3: of 8-bit types, wgmma
/// takes no matrix whose rows run along N.
///
/// Each 16 keys are permuted as the weights are: a thread has, of 16 columns of scores,
/// numbers 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 (t = lane % 4), and as an operand they
/// count as columns 4 t to 4 t + 3. It does not matter which key is which, as long as
/// weights and values agree.
///
/// Launch   grid (padded / 16, heads), block kDim
template <int kDim>
__global__ void transpose_values_kernel(const __nv_bfloat16* v,   // [heads, keys, kDim]
                                        const unsigned* largest,  // [heads]
                                        uint4* y,       // [heads, kDim, padded / 16]
                                        float* scales,  // [heads]
                                        int keys) {
    const int64_t head = blockIdx.y;
    const int dim = threadIdx.x;
    const float scale = scale_of(__uint_as_float(largest[head]));
    unsigned words[4] = {};
    for (int place = 0; place < 16; ++place) {
        const int t = place / 4;
        const int key =
            static_cast<int>(blockIdx.x) * 16 + 2 * t + place % 2 + place % 4 / 2 * 8;
        float value = 0.0f;
        if (key < keys) value = __bfloat162float(v[(head * keys + key) * kDim + dim]);
        const __nv_fp8_e4m3 rounded(value / scale);
        words[t] |= static_cast<unsigned>(rounded.__x) << (place % 4 * 8);
    }
    y[(head * kDim + dim) * gridDim.x + blockIdx.x] =
        make_uint4(words[0], words[1], words[2], words[3]);
    if (blockIdx.x == 0 && dim == 0) scales[head] = scale;
}
// #endregion transpose
