// 02_gemv.cuh: v2 to v4: vectors of 32 weights a lane, and three ways to look them up.
#pragma once

#include "formats.h"

// #region v2-table
/// v2: a byte is looked up, both of its weights at once, in shared memory. Lanes have
/// different bytes, so that their entries are often in the same bank.
struct SharedTable {
    static constexpr int kEntries = 256;

    /// Fills the table, before a barrier.
    __device__ static void fill(__half2* s_pairs) {
        for (int i = threadIdx.x; i < kEntries; i += kThreads)
            s_pairs[i] = __floats2half2_rn(e2m1(i & 15), e2m1(i >> 4));
    }
    /// Eight weights of a word, in their order.
    __device__ __forceinline__ static void decode(__half2 (&w)[4],
                                                  uint32_t word,
                                                  const __half2* s_pairs) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            w[i] = s_pairs[word >> 8 * i & 255];
    }
};
// #endregion v2-table

// #region v3-shuffle
/// v3: lane i has the value of i % 16, and others ask it. All lanes must take part.
struct LaneTable {
    static constexpr int kEntries = 1;

    __device__ static void fill(__half2*) {}
    __device__ __forceinline__ static void decode(__half2 (&w)[4],
                                                  uint32_t word,
                                                  const __half2*) {
        const float mine = e2m1(threadIdx.x % 16);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int q = static_cast<int>(word >> 8 * i & 15);
            const int p = static_cast<int>(word >> (8 * i + 4) & 15);
            w[i] = __floats2half2_rn(__shfl_sync(wb::kAllLanes, mine, q),
                                     __shfl_sync(wb::kAllLanes, mine, p));
        }
    }
};
// #endregion v3-shuffle

// #region v4-prmt
/// v4: two registers have the table, and a byte permutation looks up four at once: see
/// decode_word(), the second stage's.
struct RegisterTable {
    static constexpr int kEntries = 1;

    __device__ static void fill(__half2*) {}
    __device__ __forceinline__ static void decode(__half2 (&w)[4],
                                                  uint32_t word,
                                                  const __half2*) {
        uint32_t bits[4];
        decode_word(bits, word);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            w[i] = reinterpret_cast<const __half2&>(bits[i]);
    }
};
// #endregion v4-prmt

// #region v2-kernel
/// Sixteen products of two words with two vectors of x, in float.
template <class Table>
__device__ __forceinline__ float sixteen_products(uint32_t first,
                                                  uint32_t second,
                                                  const uint4* x,
                                                  const __half2* s_pairs) {
    float sum = 0.0f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        __half2 w[4];
        Table::decode(w, half == 0 ? first : second, s_pairs);
        const uint4 pairs = x[half];
        const uint32_t bits[4] = {pairs.x, pairs.y, pairs.z, pairs.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float2 weight = __half22float2(w[i]);
            const float2 factor =
                __half22float2(reinterpret_cast<const __half2&>(bits[i]));
            sum += weight.x * factor.x;
            sum += weight.y * factor.y;
        }
    }
    return sum;
}

/// v2 to v4: a warp for each element of y, 32 weights a lane: 16 bytes of W.
///
/// Launch   grid M blocks_across, block kThreads
/// Traffic  reads all of W for each row of x
template <class Table>
__global__ void __launch_bounds__(kThreads)
    fp4_gemv_kernel(const Fp4View v,
                    Fp4Activation activation,
                    const __half* x,    // [M, K]
                    const float* bias,  // [N], or null
                    __half* y,          // [M, N]
                    unsigned blocks_across) {
    __shared__ __half2 s_pairs[Table::kEntries];
    Table::fill(s_pairs);
    __syncthreads();
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t m = blockIdx.x / blocks_across;
    const int64_t n =
        int64_t{blockIdx.x % blocks_across} * kWarps + threadIdx.x / wb::kWarpSize;
    const auto* const row = reinterpret_cast<const uint4*>(v.values + n * (v.K / 2));
    const auto* const x_row = reinterpret_cast<const uint4*>(x + m * v.K);
    const int64_t vectors = v.K / 32;
    float sum = 0.0f;
    // All lanes go round as often: a shuffle needs each of them.
    for (int64_t first = 0; first < vectors; first += wb::kWarpSize) {
        const bool has_vector = first + lane < vectors;
        const int64_t i = has_vector ? first + lane : 0;
        const uint4 words = row[i];
        const uint4* const pairs = x_row + 4 * i;
        const float low = sixteen_products<Table>(words.x, words.y, pairs, s_pairs);
        const float high =
            sixteen_products<Table>(words.z, words.w, pairs + 2, s_pairs);
        if (!has_vector) continue;
        sum += low * v.scale(n, 32 * i);
        sum += high * v.scale(n, 32 * i + 16);
    }
    for (int apart = wb::kWarpSize / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(wb::kAllLanes, sum, apart);
    if (lane > 0) return;
    const float z = bias != nullptr ? sum + bias[n] : sum;
    y[m * v.N + n] = __float2half(activate(z, activation));
}
// #endregion v2-kernel

// #region v2-launch
template <class Table>
void launch_gemv(const Fp4Shape& shape,
                 Fp4Activation activation,
                 const Fp4Weights& w,
                 const __half* x,
                 const float* bias,
                 __half* y,
                 cudaStream_t stream) {
    const unsigned across = wb::grid_size(shape.N, kWarps);
    fp4_gemv_kernel<Table><<<wb::grid_size(shape.M * across, 1), kThreads, 0, stream>>>(
        Fp4View::of(shape, w), activation, x, bias, y, across);
    CUDA_CHECK_LAUNCH();
}

static void fp4_linear_v2(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    launch_gemv<SharedTable>(shape, activation, w, x, bias, y, stream);
}

static void fp4_linear_v3(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    launch_gemv<LaneTable>(shape, activation, w, x, bias, y, stream);
}

static void fp4_linear_v4(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    launch_gemv<RegisterTable>(shape, activation, w, x, bias, y, stream);
}
// #endregion v2-launch
