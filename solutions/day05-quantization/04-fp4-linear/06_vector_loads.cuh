// 06_vector_loads.cuh: v6: few rows of x: 16 bytes of W a load, everything that a warp
// needs for 128 columns asked for at once, and weights made by shifts.
#pragma once

// #region v6-decode
/// Eight weights of a word as four registers of two halves: nibbles p and p + 4 are
/// register p. Each is its weight times 2^-14.
///
/// A nibble is a sign, two bits of exponent and one of mantissa. Put three bits to the
/// right of where a half has its sign, they are the lowest bits of its exponent and the
/// highest of its mantissa: 2^(e - 15) * 1.m instead of 2^(e - 1) * 1.m; with e = 0 a
/// half below the normal ones, which the tensor core takes as it is.
__device__ __forceinline__ void shift_word(uint32_t (&w)[4], uint32_t word) {
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        const uint32_t first = word << (12 - 4 * p);
        w[p] = (first & 0x80008000u) | (first >> 3 & 0x0E000E00u);
    }
}

/// Scales such weights.
__device__ __forceinline__ void multiply_by(uint32_t (&w)[4], const __half2& scale) {
#pragma unroll
    for (uint32_t& pair : w) {
        const __half2 scaled = __hmul2(reinterpret_cast<const __half2&>(pair), scale);
        pair = reinterpret_cast<const uint32_t&>(scaled);
    }
}

/// x for such weights: numbers p and p + 4 of eight become register p.
__device__ __forceinline__ uint4 four_apart(const uint4& x) {
    return {__byte_perm(x.x, x.z, 0x5410),
            __byte_perm(x.x, x.z, 0x7632),
            __byte_perm(x.y, x.w, 0x5410),
            __byte_perm(x.y, x.w, 0x7632)};
}
// #endregion v6-decode

// #region v6-columns
/// What a lane needs of 128 columns of W: columns 32 q to 32 q + 31 of its rows, and of
/// their scales, two bytes.
template <class S>
struct Fp4Columns {
    uint4 words[S::NT][2];
    uint32_t scales[S::NT][2];

    template <Fp4Scales KIND>
    __device__ __forceinline__ void load(const Fp4View& v,
                                         const Fp4Lane<S>& at,
                                         int64_t k) {
        const bool exists = k < v.K;
#pragma unroll
        for (int t = 0; t < S::NT; ++t) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                words[t][half] = {0, 0, 0, 0};
                scales[t][half] = 0;
                if (!exists) continue;
                const int64_t row = at.row[t][half];
                words[t][half] = __ldcs(
                    reinterpret_cast<const uint4*>(v.values + (row * v.K + k) / 2));
                if (KIND == Fp4Scales::nvfp4)
                    scales[t][half] = *reinterpret_cast<const uint16_t*>(
                        static_cast<const uint8_t*>(v.scales) + (row * v.K + k) / 16);
            }
        }
    }
};
// #endregion v6-columns

// #region v6-multiply
/// A warp's part of all sums. Weights are 2^-14 of theirs, and their scales 2^7 of
/// theirs, so that both and their product are exact in half: the sums are to be
/// multiplied with wide_factor().
template <class S, Fp4Scales KIND>
__device__ __forceinline__ void multiply_columns(float (&sum)[S::NT][S::MT][4],
                                                 const Fp4View& v,
                                                 const __half* x,
                                                 const Fp4Lane<S>& at) {
    const int warp = threadIdx.x / wb::kWarpSize;
    for (int64_t first = warp * kColumns; first < v.K; first += S::WK * kColumns) {
        const int64_t k = first + 32 * at.q;
        Fp4Columns<S> columns;
        columns.template load<KIND>(v, at, k);
        uint4 eight[S::MT][4];
#pragma unroll
        for (int t = 0; t < S::MT; ++t) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                eight[t][j] = {0, 0, 0, 0};
                if (k < v.K)
                    eight[t][j] = *reinterpret_cast<const uint4*>(
                        x + at.x_row[t] * v.K + k + 8 * j);
            }
        }
        __half2 scale[S::NT][2][2];
        if (KIND == Fp4Scales::nvfp4)
            for (int i = 0; i < 4 * S::NT; ++i)
                scale[i / 4][i / 2 % 2][i % 2] = __float2half2_rn(
                    128.0f * e4m3(static_cast<uint8_t>(
                                 columns.scales[i / 4][i / 2 % 2] >> i % 2 * 8)));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            uint4 b[S::MT];
#pragma unroll
            for (int t = 0; t < S::MT; ++t)
                b[t] = four_apart(eight[t][j]);
#pragma unroll
            for (int n = 0; n < S::NT; ++n) {
                uint32_t w[2][4];
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const uint4& four = columns.words[n][half];
                    const uint32_t word[4] = {four.x, four.y, four.z, four.w};
                    shift_word(w[half], word[j]);
                    if constexpr (KIND == Fp4Scales::nvfp4)
                        multiply_by(w[half], scale[n][half][j / 2]);
                }
#pragma unroll
                for (int t = 0; t < S::MT; ++t) {
                    const uint32_t a[2][4] = {{w[0][0], w[1][0], w[0][1], w[1][1]},
                                              {w[0][2], w[1][2], w[0][3], w[1][3]}};
                    const uint32_t low[2] = {b[t].x, b[t].y};
                    const uint32_t high[2] = {b[t].z, b[t].w};
                    wb::ptx::mma_m16n8k16_f16(sum[n][t], a[0], low);
                    wb::ptx::mma_m16n8k16_f16(sum[n][t], a[1], high);
                }
            }
        }
    }
}

/// What sums of multiply_columns() lack.
template <Fp4Scales KIND>
__host__ __device__ constexpr float wide_factor() {
    return KIND == Fp4Scales::nvfp4 ? 0x1p7f : 0x1p14f;
}
// #endregion v6-multiply

// #region v6-kernel
/// v6: v5 with all loads of a round under way at once.
///
/// Launch   grid blocks_down ceil_div(N, BN), block kThreadsOf
/// Traffic  as v5
template <class S, Fp4Scales KIND, int kBlocks>
__global__ void __launch_bounds__(S::kThreadsOf, kBlocks)
    fp4_v6_kernel(const Fp4View v,
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
    multiply_columns<S, KIND>(sum, v, x, at);
    add_and_store<S, KIND>(sum, v, at, wide_factor<KIND>(), bias, activation, y, M);
}
// #endregion v6-kernel

// #region v6-launch
template <class S, int kBlocks>
void launch_v6(const Fp4Shape& shape,
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
        start(fp4_v6_kernel<S, Fp4Scales::channel, kBlocks>);
    else
        start(fp4_v6_kernel<S, Fp4Scales::nvfp4, kBlocks>);
}

/// v6: at most 16 rows of x, and scales that are a row's or of 16 weights. Lanes with
/// columns of different groups of 32 could not scale their common sums: mx is v5, as
/// are more rows, and scales that begin at an odd byte: v6 reads two at once.
static void fp4_linear_v6(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    const bool in_pairs = reinterpret_cast<uintptr_t>(w.scales) % 2 == 0;
    if (shape.M > 16 || shape.scales == Fp4Scales::mx || !in_pairs)
        return fp4_linear_v5(shape, activation, w, x, bias, y, stream);
    if (shape.M <= 8)
        return launch_v6<Fp4Sizes<1, 8>, 3>(shape, activation, w, x, bias, y, stream);
    // Blocks of eight warps, if two a multiprocessor are all of them; else of four.
    using Eight = Fp4Sizes<2, 8>;
    const int64_t blocks = wb::ceil_div(shape.N, int64_t{Eight::BN});
    if (blocks <= 2 * wb::multiprocessors())
        launch_v6<Eight, 2>(shape, activation, w, x, bias, y, stream);
    else
        launch_v6<Fp4Sizes<2, 4>, 5>(shape, activation, w, x, bias, y, stream);
}
// #endregion v6-launch
