// 06_vectors.cuh: v6: four floats at a time, from global memory and from shared memory.
#pragma once

// #region v6-load
/// load_tile() with loads of 16 bytes, if the rows of the operand are whole vectors.
template <int kRows, int BK, int kNumThreads>
__device__ __forceinline__ void load_tile_vectors(const Operand& x,
                                                  int first,
                                                  int k0,
                                                  float (&s_tile)[BK][kRows + kPad]) {
    constexpr int kVectors = kRows * BK / kVector;
    static_assert(kVectors % kNumThreads == 0, "the same work for each thread");
    if (!x.has_vectors) {
        load_tile<kRows, BK, kNumThreads>(x, first, k0, s_tile);
        return;
    }
#pragma unroll
    for (int i = 0; i < kVectors / kNumThreads; ++i) {
        const int idx = static_cast<int>(threadIdx.x) + i * kNumThreads;
        const int row =
            x.k_is_fast ? idx / (BK / kVector) : idx % (kRows / kVector) * 4;
        const int k = x.k_is_fast ? idx % (BK / kVector) * 4 : idx / (kRows / kVector);
        float4 vector = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first + row < x.rows && k0 + k < x.K)
            vector = *reinterpret_cast<const float4*>(x.place(first + row, k0 + k));
        if (x.k_is_fast) {
            s_tile[k][row] = vector.x;
            s_tile[k + 1][row] = vector.y;
            s_tile[k + 2][row] = vector.z;
            s_tile[k + 3][row] = vector.w;
        } else {
            *reinterpret_cast<float4*>(&s_tile[k][row]) = vector;
        }
    }
}
// #endregion v6-load

// #region v6-fragment
/// Reads kCount floats of a row of a tile: vectors that are kStep apart.
template <int kCount, int kStep>
__device__ __forceinline__ void read_vectors(const float* s_row, float (&r_x)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; i += kVector) {
        const float4 vector =
            *reinterpret_cast<const float4*>(s_row + i / kVector * kStep);
        r_x[i] = vector.x;
        r_x[i + 1] = vector.y;
        r_x[i + 2] = vector.z;
        r_x[i + 3] = vector.w;
    }
}

/// r_c += r_a r_b, all products of a column and a row.
template <int TM, int TN>
__device__ __forceinline__ void add_products(float (&r_c)[TM][TN],
                                             const float (&r_a)[TM],
                                             const float (&r_b)[TN]) {
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n)
            r_c[m][n] += r_a[m] * r_b[n];
}

/// Writes a thread's sums, which are vectors: kStepM rows, kStepN columns apart.
template <int kStepM, int kStepN, int TM, int TN>
__device__ __forceinline__ void write_sums(const Product& p,
                                           int row,
                                           int col,
                                           const float (&r_c)[TM][TN]) {
#pragma unroll
    for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; n += kVector)
            p.write_vector(row + m / kVector * kStepM + m % kVector,
                           col + n / kVector * kStepN,
                           &r_c[m][n]);
}
// #endregion v6-fragment

// #region v6-kernel
/// sgemm_v6: v5 with vectors. A thread's rows and columns are two groups of four, half
/// a tile apart, so that neighbouring threads read neighbouring vectors.
///
/// Launch   as v5
__global__ void __launch_bounds__(kThreads) sgemm_v6_kernel(Product p) {
    __shared__ alignas(16) float s_a[BK][BM + kPad];  // [k, row]
    __shared__ alignas(16) float s_b[BK][BN + kPad];  // [k, col]
    const TileOfC<BM, BN> tile(p);
    const int row = static_cast<int>(threadIdx.x) / (BN / TN) * kVector;
    const int col = static_cast<int>(threadIdx.x) % (BN / TN) * kVector;
    float r_c[TM][TN] = {};
    for (int k0 = 0; k0 < p.K; k0 += BK) {
        load_tile_vectors<BM, BK, kThreads>(p.a, tile.row, k0, s_a);
        load_tile_vectors<BN, BK, kThreads>(p.b, tile.col, k0, s_b);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float r_a[TM];
            float r_b[TN];
            read_vectors<TM, BM / 2>(&s_a[k][row], r_a);
            read_vectors<TN, BN / 2>(&s_b[k][col], r_b);
            add_products(r_c, r_a, r_b);
        }
        __syncthreads();
    }
    write_sums<BM / 2, BN / 2>(p, tile.row + row, tile.col + col, r_c);
}
// #endregion v6-kernel

static void sgemm_v6(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    sgemm_v6_kernel<<<TileOfC<BM, BN>::count(s), kThreads, 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(sgemm, sgemm_v6, "16 bytes at a time");
