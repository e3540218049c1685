// fp4_linear_fast.cu: v5: tensor cores, for as many rows of x as a block has.
#include "fp4_linear.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/ptx/mma.h>

#include <algorithm>

#include "formats.h"
#include "quantize.cuh"

// #region v5-decode
/// Eight weights of a word as four registers of two halves, in their order, without
/// their scale.
__device__ __forceinline__ void decode_word(uint32_t (&w)[4], uint32_t word) {
    // TODO(learner): the halves of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 are 0x0000, 0x3800,
    // 0x3C00, 0x3E00, 0x4000, 0x4200, 0x4400, 0x4600: a table of eight bytes is enough,
    // two registers. __byte_perm(a, b, selectors) looks up four at once: nibble i of
    // the selectors, 0 to 7, is the byte of a and b that becomes byte i. Look up
    // nibbles 0 to 3 of the word, then 4 to 7, without their signs (bit 3 of a selector
    // means something else). Then put two bytes at a time into the upper bytes of two
    // halves, by another __byte_perm, and the signs, bits 3 and 7, into bits 15 and 31
    // (about 12 lines)
    // #solution
    constexpr uint32_t kFirst = 0x3E3C3800u;  // 0, 0.5, 1, 1.5
    constexpr uint32_t kLast = 0x46444240u;   // 2, 3, 4, 6
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const uint32_t four = __byte_perm(kFirst, kLast, word & 0x7777u);
        w[2 * half] = __byte_perm(four, 0u, 0x1404u) | (word << 12 & 0x8000u) |
                      (word << 24 & 0x80000000u);
        w[2 * half + 1] = __byte_perm(four, 0u, 0x3424u) | (word << 4 & 0x8000u) |
                          (word << 16 & 0x80000000u);
        word >>= 16;
    }
    // #end
}
// #endregion v5-decode

// #region v5-sizes
/// The tiles of a block, all of them one behind the other for its warps along K.
template <int M_TILES, int WARPS>
struct Fp4Sizes {
    static constexpr int MT = M_TILES;  ///< tiles of 8 rows of x
    static constexpr int NT = 2;        ///< tiles of 16 rows of W
    static constexpr int WK = WARPS;    ///< each takes every WK-th 128 columns
    static constexpr int BM = 8 * MT;
    static constexpr int BN = 16 * NT;
    static constexpr int kThreadsOf = WK * wb::kWarpSize;
};
constexpr int kColumns = 128;  // of W that a warp takes at a time: four of 32
// #endregion v5-sizes

// #region v5-place
/// What a lane reads and sums.
template <class S>
struct Fp4Lane {
    int64_t m;              ///< the block's first row of x
    int64_t n;              ///< and of W
    int q;                  ///< columns 8 q to 8 q + 7 of each 32 are the lane's
    int64_t row[S::NT][2];  ///< its rows of W: g and g + 8 of each tile; those that W
                            ///< does not have are its last one, and not stored
    int64_t x_row[S::MT];   ///< its row of x of each tile, g, in the same way

    __device__ Fp4Lane(const Fp4View& v, int64_t M, int64_t m0, int64_t n0)
        : m(m0), n(n0), q(threadIdx.x % 4) {
        const int g = threadIdx.x % wb::kWarpSize / 4;
        for (int t = 0; t < S::NT; ++t)
            for (int half = 0; half < 2; ++half)
                row[t][half] = min(n0 + 16 * t + 8 * half + g, v.N - 1);
        for (int t = 0; t < S::MT; ++t)
            x_row[t] = min(m0 + 8 * t + g, M - 1);
    }
};
// #endregion v5-place

// #region v5-scale
/// Multiplies eight weights by a scale of NVFP4, which is exact in half: 2 bits and 4
/// bits, and at most 6 * 448.
__device__ __forceinline__ void scale_in_half(uint32_t (&w)[4], uint8_t byte) {
    const __half2 scale = __float2half2_rn(e4m3(byte));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const __half2 scaled = __hmul2(reinterpret_cast<const __half2&>(w[i]), scale);
        w[i] = reinterpret_cast<const uint32_t&>(scaled);
    }
}
// #endregion v5-scale

// #region v5-multiply
/// Multiplies 16 rows of W, 32 columns of them, with all of the block's rows of x.
///
/// @param word   of rows g and g + 8: the lane's eight weights of each
/// @param x      of each tile of rows of x: the lane's eight numbers
/// @param k      the first of the 32 columns
template <class S, Fp4Scales KIND>
__device__ __forceinline__ void multiply_words(float (&sum)[S::MT][4],
                                               const uint32_t (&word)[2],
                                               const uint4 (&x)[S::MT],
                                               const Fp4View& v,
                                               const int64_t (&row)[2],
                                               int64_t k) {
    [[maybe_unused]] const auto* const bytes = static_cast<const uint8_t*>(v.scales);
    // TODO(learner): decode both words, left and right. For nvfp4 multiply each with
    // its row's byte of the scale of column k + 8 (threadIdx.x % 4): scale_in_half().
    // Then for each tile of x two products: weights 0 to 3 with x and y of its vector,
    // 4 to 7 with z and w. a[0] and a[2] are the left row's, a[1] and a[3] the right
    // one's. For mx the products go into four floats of their own, whose first two are
    // then multiplied with e8m0() of the left row's scale of column k and the last two
    // with the right one's, and added to the sums (about 25 lines)
    // #solution
    uint32_t left[4];
    uint32_t right[4];
    decode_word(left, word[0]);
    decode_word(right, word[1]);
    float scales[2] = {1.0f, 1.0f};
    if (KIND == Fp4Scales::nvfp4) {
        const int64_t place = (k + threadIdx.x % 4 * 8) / 16;
        scale_in_half(left, bytes[row[0] * (v.K / 16) + place]);
        scale_in_half(right, bytes[row[1] * (v.K / 16) + place]);
    }
    if (KIND == Fp4Scales::mx)
        for (int i = 0; i < 2; ++i)
            scales[i] = e8m0(bytes[row[i] * (v.K / 32) + k / 32]);
#pragma unroll
    for (int t = 0; t < S::MT; ++t) {
        float products[4] = {};
        float(&to)[4] = KIND == Fp4Scales::mx ? products : sum[t];
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            const uint32_t a[4] = {left[2 * step],
                                   right[2 * step],
                                   left[2 * step + 1],
                                   right[2 * step + 1]};
            const uint32_t b[2] = {step == 0 ? x[t].x : x[t].z,
                                   step == 0 ? x[t].y : x[t].w};
            wb::ptx::mma_m16n8k16_f16(to, a, b);
        }
        if (KIND == Fp4Scales::mx)
            for (int i = 0; i < 4; ++i)
                sum[t][i] += products[i] * scales[i / 2];
    }
    // #end
}
// #endregion v5-multiply

// #region v5-rows
/// A warp's part of all sums: 128 columns at a time, whose words are loaded before the
/// first of them is used.
template <class S, Fp4Scales KIND>
__device__ __forceinline__ void multiply_rows(float (&sum)[S::NT][S::MT][4],
                                              const Fp4View& v,
                                              const __half* x,
                                              const Fp4Lane<S>& at) {
    const int warp = threadIdx.x / wb::kWarpSize;
    for (int64_t k = warp * kColumns; k < v.K; k += S::WK * kColumns) {
        uint32_t word[4][S::NT][2];
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int t = 0; t < S::NT; ++t)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    if (k + 32 * j < v.K)
                        word[j][t][half] = *reinterpret_cast<const uint32_t*>(
                            v.values + at.row[t][half] * (v.K / 2) + k / 2 + 16 * j +
                            4 * at.q);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            if (k + 32 * j >= v.K) break;
            uint4 factors[S::MT];
#pragma unroll
            for (int t = 0; t < S::MT; ++t)
                factors[t] = *reinterpret_cast<const uint4*>(x + at.x_row[t] * v.K + k +
                                                             32 * j + 8 * at.q);
#pragma unroll
            for (int t = 0; t < S::NT; ++t)
                multiply_words<S, KIND>(
                    sum[t], word[j][t], factors, v, at.row[t], k + 32 * j);
        }
    }
}
// #endregion v5-rows

// #region v5-kernel
/// Adds up what the warps of a block have, brings the scales that are left, the bias
/// and the activation, and stores. By the whole block.
///
/// @param sum     of this warp, for its part of K
/// @param factor  of all sums, exact: what weights were made too small by
template <class S, Fp4Scales KIND>
__device__ __forceinline__ void add_and_store(const float (&sum)[S::NT][S::MT][4],
                                              const Fp4View& v,
                                              const Fp4Lane<S>& at,
                                              float factor,
                                              const float* bias,
                                              Fp4Activation activation,
                                              __half* y,
                                              int64_t M) {
    __shared__ float s_sums[S::WK][S::BM][S::BN + 4];
    const int warp = threadIdx.x / wb::kWarpSize;
    const int g = threadIdx.x % wb::kWarpSize / 4;
    for (int t = 0; t < S::NT; ++t)
        for (int u = 0; u < S::MT; ++u)
            for (int i = 0; i < 4; ++i)
                s_sums[warp][8 * u + 2 * at.q + i % 2][16 * t + 8 * (i / 2) + g] =
                    sum[t][u][i];
    __syncthreads();
    for (int i = threadIdx.x; i < S::BM * S::BN; i += S::kThreadsOf) {
        const int64_t m = at.m + i / S::BN;
        const int64_t n = at.n + i % S::BN;
        if (m >= M || n >= v.N) continue;
        float total = 0.0f;
        for (int w = 0; w < S::WK; ++w)
            total += s_sums[w][i / S::BN][i % S::BN];
        total *= factor;
        if (KIND == Fp4Scales::channel && v.K > 0)
            total *= static_cast<const float*>(v.scales)[n];
        if (KIND == Fp4Scales::nvfp4 && v.K > 0) total *= *v.global_scale;
        if (bias != nullptr) total += bias[n];
        y[m * v.N + n] = __float2half(activate(total, activation));
    }
}

/// v5: tensor cores multiply W, decoded in registers, with rows of x.
///
/// Launch   grid blocks_down ceil_div(N, BN), block kThreadsOf. Blocks of the same rows
///          of W follow each other: they share them in L2
/// Traffic  reads W once for BM rows of x; x once for BN rows of W, from L2
template <class S, Fp4Scales KIND>
__global__ void __launch_bounds__(S::kThreadsOf)
    fp4_v5_kernel(const Fp4View v,
                  Fp4Activation activation,
                  const __half* x,    // [M, K]
                  const float* bias,  // [N], or null
                  __half* y,          // [M, N]
                  int64_t M,
                  unsigned blocks_down) {
    const Fp4Lane<S> at(v,
                        M,
                        int64_t{blockIdx.x % blocks_down} * S::BM,
                        int64_t{blockIdx.x / blocks_down} * S::BN);
    float sum[S::NT][S::MT][4] = {};
    multiply_rows<S, KIND>(sum, v, x, at);
    add_and_store<S, KIND>(sum, v, at, 1.0f, bias, activation, y, M);
}
// #endregion v5-kernel

// #region v5-launch
template <class S>
void launch_v5(const Fp4Shape& shape,
               Fp4Activation activation,
               const Fp4Weights& w,
               const __half* x,
               const float* bias,
               __half* y,
               cudaStream_t stream) {
    const int64_t down = wb::ceil_div(shape.M, int64_t{S::BM});
    const int64_t across = wb::ceil_div(shape.N, int64_t{S::BN});
    const auto start = [&](auto kernel) {
        kernel<<<wb::grid_size(down * across, 1), S::kThreadsOf, 0, stream>>>(
            Fp4View::of(shape, w),
            activation,
            x,
            bias,
            y,
            shape.M,
            static_cast<unsigned>(down));
        CUDA_CHECK_LAUNCH();
    };
    if (shape.scales == Fp4Scales::channel)
        start(fp4_v5_kernel<S, Fp4Scales::channel>);
    else if (shape.scales == Fp4Scales::mx)
        start(fp4_v5_kernel<S, Fp4Scales::mx>);
    else
        start(fp4_v5_kernel<S, Fp4Scales::nvfp4>);
}

static void fp4_linear_v5(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    if (shape.M <= 8)
        launch_v5<Fp4Sizes<1, 8>>(shape, activation, w, x, bias, y, stream);
    else if (shape.M <= 16)
        launch_v5<Fp4Sizes<2, 8>>(shape, activation, w, x, bias, y, stream);
    else
        launch_v5<Fp4Sizes<8, 4>>(shape, activation, w, x, bias, y, stream);
}
// #endregion v5-launch

// #solution
#ifndef WB_VERSION_ONLY  // fp4_linear.cu has all versions, and the contract
// #end
// #region contract
void fp4_quantize(const Fp4Shape& shape,
                  const float* weights,
                  const Fp4Weights& w,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line, too: quantising is given here
    if (!quantize_has_work(shape, weights, w)) return;
    fp4_quantize_v2(shape, weights, w, stream);
}

void fp4_linear(const Fp4Shape& shape,
                Fp4Activation activation,
                const Fp4Weights& w,
                const __half* x,
                const float* bias,
                __half* y,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when both are written
    if (!linear_has_work(shape, activation, w, x, bias, y)) return;
    fp4_linear_v5(shape, activation, w, x, bias, y, stream);
}
// #endregion contract
// #solution
#endif
// #end
