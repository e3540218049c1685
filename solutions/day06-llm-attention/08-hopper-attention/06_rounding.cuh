// 06_rounding.cuh: q, k and v as e4m3 numbers, with their scales, for 06_fp8.cuh. What
// limits it: the speed of memory; v is read twice, for it has one scale a head.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cstdint>

#include "tiles.h"

/// One panel of 128 columns is a row of q and k, and 128 keys are a row of v
/// transposed.
inline constexpr Tiling kTilingFp8 = {.head_dim = 128,
                                      .block_rows = 192,
                                      .block_keys = 128,
                                      .stages = 4,
                                      .query_stages = 2};
using SizesFp8 = TileSizes<__nv_fp8_e4m3, kTilingFp8>;
static_assert(SizesFp8::BN == SizesFp8::D, "copies of k and of v have as many rows");

/// The largest e4m3 number.
inline constexpr float kLargestE4m3 = 448.0f;

/// Threads of a block of the kernels below.
inline constexpr int kQuantizeThreads = 256;

/// What to divide by, so that the largest number becomes the largest e4m3 number. Not
/// less than 2^-100 / 448, or its inverse would be infinite.
__device__ __forceinline__ float scale_of(float largest) {
    return fmaxf(largest, 0x1p-100f) / kLargestE4m3;
}

/// The largest absolute value among those of a block of threads. All get it.
__device__ __forceinline__ float block_largest(float value) {
    __shared__ float s_largest[kQuantizeThreads / wb::kWarpSize];
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(wb::kAllLanes, value, other));
    if (threadIdx.x % wb::kWarpSize == 0)
        s_largest[threadIdx.x / wb::kWarpSize] = value;
    __syncthreads();
    for (const float other : s_largest)
        value = fmaxf(value, other);
    return value;
}

/// Four numbers, rounded, in one register.
__device__ __forceinline__ uint32_t pack_fp8(float a, float b, float c, float d) {
    const unsigned low =
        __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
    const unsigned high =
        __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, __NV_E4M3);
    return low | high << 16;
}

/// Eight numbers, as one load brings them.
struct Pack {
    uint4 bits;

    __device__ __forceinline__ float operator[](int i) const {
        const unsigned pair = i < 2 ? bits.x : i < 4 ? bits.y : i < 6 ? bits.z : bits.w;
        // A bfloat16 is the upper half of a float.
        return __uint_as_float(i % 2 == 0 ? pair << 16 : pair & 0xffff0000u);
    }

    __device__ __forceinline__ float largest() const {
        float value = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            value = fmaxf(value, fabsf((*this)[i]));
        return value;
    }

    /// All eight, times `factor`, in e4m3.
    __device__ __forceinline__ uint2 rounded(float factor) const {
        unsigned words[2];
#pragma unroll
        for (int i = 0; i < 8; i += 4) {
            words[i / 4] = pack_fp8((*this)[i] * factor,
                                    (*this)[i + 1] * factor,
                                    (*this)[i + 2] * factor,
                                    (*this)[i + 3] * factor);
        }
        return make_uint2(words[0], words[1]);
    }
};

// #region rows
/// Rounds kRows rows of one head to e4m3, with one scale. All numbers are in registers
/// before the largest of them is known, so that each is loaded once.
///
/// Launch   grid (blocks of rows, heads), block kQuantizeThreads
/// Bytes    3 a number
template <int kRows, int kDim>
__global__ void __launch_bounds__(kQuantizeThreads)
    quantize_rows_kernel(const uint4* x,  // [heads, rows, kDim / 8] of bfloat16
                         uint2* y,        // [heads, rows, kDim / 8] of e4m3
                         float* scales,   // [heads, blocks of rows]
                         int rows) {
    constexpr int kRowPacks = kDim / 8;
    constexpr int kPacks = kRows * kRowPacks / kQuantizeThreads;
    static_assert(kPacks * kQuantizeThreads == kRows * kRowPacks, "all have as many");
    const int64_t head = blockIdx.y;
    const int first = static_cast<int>(blockIdx.x) * kRows;
    const int count = min(kRows, rows - first) * kRowPacks;
    x += (head * rows + first) * kRowPacks;
    y += (head * rows + first) * kRowPacks;
    Pack packs[kPacks];
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int at = i * kQuantizeThreads + static_cast<int>(threadIdx.x);
        packs[i].bits = at < count ? x[at] : make_uint4(0, 0, 0, 0);
    }
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < kPacks; ++i)
        largest = fmaxf(largest, packs[i].largest());
    const float scale = scale_of(block_largest(largest));
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
        const int at = i * kQuantizeThreads + static_cast<int>(threadIdx.x);
        if (at < count) y[at] = packs[i].rounded(1.0f / scale);
    }
    if (threadIdx.x == 0) scales[head * gridDim.x + blockIdx.x] = scale;
}
// #endregion rows

/// The largest absolute value of each head, as the bits of a float, which are ordered
/// as floats are. `largest` is 0 before.
///
/// Launch   grid (any, heads), block kQuantizeThreads
/// Bytes    2 a number
__global__ void largest_of_head_kernel(const uint4* x,     // [heads, packs] of bfloat16
                                       unsigned* largest,  // [heads]
                                       int64_t packs) {
    x += blockIdx.y * packs;
    float value = 0.0f;
    const int64_t stride = int64_t{gridDim.x} * kQuantizeThreads;
    for (int64_t i = int64_t{blockIdx.x} * kQuantizeThreads + threadIdx.x; i < packs;
         i += stride)
        value = fmaxf(value, Pack{x[i]}.largest());
    value = block_largest(value);
    if (threadIdx.x == 0) atomicMax(&largest[blockIdx.y], __float_as_uint(value));
}

/// Keys of a block of transpose_values_kernel, 16 of which are a group.
inline constexpr int kTransposeKeys = 128;
inline constexpr int kTransposeGroups = kTransposeKeys / 16;

/// Four words of four bytes, transposed: byte i of word j becomes byte j of word i.
__device__ __forceinline__ void transpose_bytes(unsigned (&words)[4]) {
    const unsigned low01 = __byte_perm(words[0], words[1], 0x5140);
    const unsigned low23 = __byte_perm(words[2], words[3], 0x5140);
    const unsigned high01 = __byte_perm(words[0], words[1], 0x7362);
    const unsigned high23 = __byte_perm(words[2], words[3], 0x7362);
    words[0] = __byte_perm(low01, low23, 0x5410);
    words[1] = __byte_perm(low01, low23, 0x7632);
    words[2] = __byte_perm(high01, high23, 0x5410);
    words[3] = __byte_perm(high01, high23, 0x7632);
}

// #region transpose
/// Transposes the values of a head, and rounds them to e4m3: of 8-bit types, wgmma
/// takes no matrix whose rows run along N. A block rounds 128 keys into shared memory;
/// then a thread takes 16 keys of four columns, and turns them four by four.
///
/// Each 16 keys are permuted as the weights are: a thread has, of 16 columns of scores,
/// numbers 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 (t = lane % 4), and as an operand they
/// count as columns 4 t to 4 t + 3. It does not matter which key is which, as long as
/// weights and values agree.
///
/// Launch   grid (ceil(keys / kTransposeKeys), heads), block kQuantizeThreads
/// Bytes    3 a number
template <int kDim>
__global__ void __launch_bounds__(kQuantizeThreads)
    transpose_values_kernel(const uint4* v,           // [heads, keys, kDim / 8]
                            const unsigned* largest,  // [heads]
                            uint4* y,                 // [heads, kDim, groups]
                            float* scales,            // [heads]
                            int keys,
                            int groups) {  // of 16 keys; the last may be filled up
    constexpr int kRowPacks = kDim / 8;
    constexpr int kQuads = kDim / 4;
    // One word more a row, so that the groups of a warp meet different banks.
    __shared__ unsigned s_rounded[kTransposeKeys][kQuads + 1];
    const int64_t head = blockIdx.y;
    const int first = static_cast<int>(blockIdx.x) * kTransposeKeys;
    const float scale = scale_of(__uint_as_float(largest[head]));
    for (int i = static_cast<int>(threadIdx.x); i < kTransposeKeys * kRowPacks;
         i += kQuantizeThreads) {
        const int key = i / kRowPacks;
        const int pack = i % kRowPacks;
        uint2 rounded = make_uint2(0, 0);
        if (first + key < keys) {
            const Pack loaded{v[(head * keys + first + key) * kRowPacks + pack]};
            rounded = loaded.rounded(1.0f / scale);
        }
        s_rounded[key][2 * pack] = rounded.x;
        s_rounded[key][2 * pack + 1] = rounded.y;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kTransposeGroups * kQuads;
         i += kQuantizeThreads) {
        const int group = i % kTransposeGroups;
        const int quad = i / kTransposeGroups;
        const int to = static_cast<int>(blockIdx.x) * kTransposeGroups + group;
        if (to >= groups) continue;
        unsigned words[4][4];  // [four keys][column]
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const int key = group * 16 + 2 * t;
            words[t][0] = s_rounded[key][quad];
            words[t][1] = s_rounded[key + 1][quad];
            words[t][2] = s_rounded[key + 8][quad];
            words[t][3] = s_rounded[key + 9][quad];
            transpose_bytes(words[t]);
        }
#pragma unroll
        for (int d = 0; d < 4; ++d)
            y[(head * kDim + quad * 4 + d) * groups + to] =
                make_uint4(words[0][d], words[1][d], words[2][d], words[3][d]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) scales[head] = scale;
}
// #endregion transpose

/// The inputs in e4m3, with their scales, for one call.
struct Fp8Inputs {
    int64_t heads, kv_heads;  ///< of all sequences
    int q_blocks, k_blocks;
    int64_t padded;  ///< keys, rounded up to whole groups of 16
    wb::Scratch<__nv_fp8_e4m3> q, k, v;
    wb::Scratch<float> q_scales, k_scales, v_scales;
    wb::Scratch<unsigned> largest;

    explicit Fp8Inputs(const wb::AttentionShape& shape, cudaStream_t stream)
        : heads(shape.batch * shape.query_heads),
          kv_heads(shape.batch * shape.kv_heads),
          q_blocks(static_cast<int>(wb::ceil_div<int64_t>(shape.queries, kGroupRows))),
          k_blocks(static_cast<int>(wb::ceil_div<int64_t>(shape.keys, SizesFp8::BN))),
          padded(wb::ceil_div<int64_t>(shape.keys, 16) * 16),
          q(shape.query_elements(), stream),
          k(shape.kv_elements(), stream),
          v(kv_heads * padded * SizesFp8::D, stream),
          q_scales(heads * q_blocks, stream),
          k_scales(kv_heads * k_blocks, stream),
          v_scales(kv_heads, stream),
          largest(kv_heads, stream) {}
};

// #region quantize
/// Rounds q, k and v, and transposes v.
inline void quantize(const wb::AttentionShape& shape,
                     const Call& call,
                     const Fp8Inputs& to) {
    const cudaStream_t stream = call.stream;
    constexpr int kDim = SizesFp8::D;
    const auto grid = [](int64_t blocks, int64_t heads) {
        return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(heads));
    };
    const auto of = [](const wb::AttentionRows& rows) {
        return static_cast<const uint4*>(rows.base);
    };
    const auto packs = [](const wb::Scratch<__nv_fp8_e4m3>& rounded) {
        return reinterpret_cast<uint2*>(rounded.data());
    };
    const int queries = static_cast<int>(shape.queries);
    const int keys = static_cast<int>(shape.keys);
    quantize_rows_kernel<kGroupRows, kDim>
        <<<grid(to.q_blocks, to.heads), kQuantizeThreads, 0, stream>>>(
            of(call.q), packs(to.q), to.q_scales.data(), queries);
    CUDA_CHECK_LAUNCH();
    quantize_rows_kernel<SizesFp8::BN, kDim>
        <<<grid(to.k_blocks, to.kv_heads), kQuantizeThreads, 0, stream>>>(
            of(call.k), packs(to.k), to.k_scales.data(), keys);
    CUDA_CHECK_LAUNCH();
    const auto bytes = static_cast<size_t>(to.kv_heads) * sizeof(unsigned);
    CUDA_CHECK(cudaMemsetAsync(to.largest.data(), 0, bytes, stream));
    largest_of_head_kernel<<<grid(wb::ceil_div(keys, 256), to.kv_heads),
                             kQuantizeThreads,
                             0,
                             stream>>>(
        of(call.v), to.largest.data(), shape.keys * kDim / 8);
    CUDA_CHECK_LAUNCH();
    transpose_values_kernel<kDim>
        <<<grid(wb::ceil_div(keys, kTransposeKeys), to.kv_heads),
           kQuantizeThreads,
           0,
           stream>>>(of(call.v),
                     to.largest.data(),
                     reinterpret_cast<uint4*>(to.v.data()),
                     to.v_scales.data(),
                     keys,
                     static_cast<int>(to.padded / 16));
    CUDA_CHECK_LAUNCH();
}
// #endregion quantize
