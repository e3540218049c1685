/// tiles.h: given with this exercise: the operands of a product, whichever way they lie
/// in memory, how a result is written, and how a tile comes to shared memory.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/launch.h>

#include <cstdint>

#include "sgemm.h"

/// Floats that one load moves: 16 bytes.
constexpr int kVector = 4;

/// Floats behind each row of a tile in shared memory, so that neighbours of a column
/// are four banks apart.
constexpr int kPad = 4;

/// Threads of a block with register tiles.
constexpr int kThreads = 256;

// #region operand
/// An operand as the result sees it. Element (row, k) is op(A)[row, k] or
/// op(B)[k, row]: `row` is a row of C for A, and a column of C for B.
struct Operand {
    const float* data;
    int64_t ld;
    int rows;  // M for A, N for B
    int K;
    bool k_is_fast;  // neighbours along k are neighbours in memory, else those of `row`
    bool has_vectors;  // each row in memory is whole, aligned vectors of 16 bytes

    __device__ const float* place(int row, int k) const {
        return data + (k_is_fast ? row * ld + k : k * ld + row);
    }
    __device__ float at(int row, int k) const { return *place(row, k); }
    __device__ float at_or_zero(int row, int k) const {
        return row < rows && k < K ? at(row, k) : 0.0f;
    }
};
// #endregion operand

/// A matrix product, as kernels get it.
struct Product {
    int K;  // 0 if A and B are not read
    Operand a;
    Operand b;
    float alpha;
    float beta;
    float* C;
    int64_t ldc;
    bool has_vectors;  // so has C

    static Product of(const wb::GemmShape& s,
                      float alpha,
                      const float* A,
                      const float* B,
                      float beta,
                      float* C) {
        const int K = alpha == 0.0f ? 0 : static_cast<int>(s.K);
        const auto vectors = [](const float* x, int64_t columns, int64_t ld) {
            return reinterpret_cast<uintptr_t>(x) % (kVector * sizeof(float)) == 0 &&
                   columns % kVector == 0 && ld % kVector == 0;
        };
        const int M = static_cast<int>(s.M);
        const int N = static_cast<int>(s.N);
        return {K,
                {A, s.lda, M, K, !s.transpose_a, vectors(A, s.columns_of_a(), s.lda)},
                {B, s.ldb, N, K, s.transpose_b, vectors(B, s.columns_of_b(), s.ldb)},
                alpha,
                beta,
                C,
                s.ldc,
                vectors(C, s.N, s.ldc)};
    }

    // #region write
    /// C[row, col] = alpha * sum + beta * C[row, col], if C has such an element.
    __device__ void write(int row, int col, float sum) const {
        if (row >= a.rows || col >= b.rows) return;
        float* const g_c = C + row * ldc + col;
        *g_c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *g_c;
    }
    // #endregion write

    /// The same for four neighbouring columns, the first one a multiple of four.
    __device__ void write_vector(int row, int col, const float* sums) const {
        if (!has_vectors) {
#pragma unroll
            for (int i = 0; i < kVector; ++i)
                write(row, col + i, sums[i]);
        } else if (row < a.rows && col < b.rows) {
            auto* const g_c = reinterpret_cast<float4*>(C + row * ldc + col);
            float4 result = make_float4(
                alpha * sums[0], alpha * sums[1], alpha * sums[2], alpha * sums[3]);
            if (beta != 0.0f) {
                const float4 old = *g_c;
                result.x += beta * old.x;
                result.y += beta * old.y;
                result.z += beta * old.z;
                result.w += beta * old.w;
            }
            *g_c = result;
        }
    }
};

// #region tile-of
/// The tile of C that this block computes: its first row and column. The grid has one
/// dimension, row by row.
template <int BM, int BN>
struct TileOfC {
    int row;
    int col;

    __device__ explicit TileOfC(const Product& p) {
        const unsigned tiles = (static_cast<unsigned>(p.b.rows) + BN - 1) / BN;
        row = static_cast<int>(blockIdx.x / tiles) * BM;
        col = static_cast<int>(blockIdx.x % tiles) * BN;
    }
    /// Blocks of a launch. Throws std::length_error above 2^31 - 1.
    static unsigned count(const wb::GemmShape& s) {
        return wb::grid_size(
            wb::ceil_div(s.M, int64_t{BM}) * wb::ceil_div(s.N, int64_t{BN}), 1);
    }
};
// #endregion tile-of

// #region load-tile
/// Brings a tile of an operand to shared memory, zeros for what does not exist. Lanes
/// that are neighbours read neighbours in memory, whichever way the operand lies there.
/// All threads of the block must call it; a barrier is the caller's.
///
/// @tparam kRows        of the tile
/// @tparam BK           elements of each row
/// @tparam kNumThreads  of the block
template <int kRows, int BK, int kNumThreads>
__device__ __forceinline__ void load_tile(const Operand& x,
                                          int first,
                                          int k0,
                                          float (&s_tile)[BK][kRows + kPad]) {
    static_assert(kRows * BK % kNumThreads == 0, "the same work for each thread");
#pragma unroll
    for (int i = 0; i < kRows * BK / kNumThreads; ++i) {
        const int idx = static_cast<int>(threadIdx.x) + i * kNumThreads;
        const int row = x.k_is_fast ? idx / BK : idx % kRows;
        const int k = x.k_is_fast ? idx % BK : idx / kRows;
        s_tile[k][row] = x.at_or_zero(first + row, k0 + k);
    }
}
// #endregion load-tile

/// Refuses wrong arguments of sgemm(). Returns false where there is nothing to do.
inline bool check_sgemm(const wb::GemmShape& shape,
                        float alpha,
                        const float* A,
                        const float* B,
                        const float* C) {
    return wb::check_gemm(wb::Arguments("sgemm"), shape, alpha, A, B, C);
}
