// 04_register_columns.cuh: v4: a thread has eight sums of a column.
#pragma once

// #region v4-kernel
/// The tile of a block in v4.
struct ColumnTile {
    static constexpr int BM = 64;
    static constexpr int BN = 64;
    static constexpr int BK = 8;
    static constexpr int TM = 8;
    static constexpr int kThreads = BM * BN / TM;
};

/// sgemm_v4: a thread has TM neighbouring rows of one column: each element of B that it
/// reads from shared memory is used TM times.
///
/// Launch   grid TileOfC<64, 64>::count(), block 512
__global__ void __launch_bounds__(ColumnTile::kThreads) sgemm_v4_kernel(Product p) {
    constexpr int BM = ColumnTile::BM;
    constexpr int BN = ColumnTile::BN;
    constexpr int BK = ColumnTile::BK;
    constexpr int TM = ColumnTile::TM;
    __shared__ float s_a[BK][BM + kPad];  // [k, row]
    __shared__ float s_b[BK][BN + kPad];  // [k, col]
    const TileOfC<BM, BN> tile(p);
    const int row = static_cast<int>(threadIdx.x) / BN * TM;
    const int col = static_cast<int>(threadIdx.x) % BN;
    float r_c[TM] = {};
    for (int k0 = 0; k0 < p.K; k0 += BK) {
        load_tile<BM, BK, ColumnTile::kThreads>(p.a, tile.row, k0, s_a);
        load_tile<BN, BK, ColumnTile::kThreads>(p.b, tile.col, k0, s_b);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float r_b = s_b[k][col];
#pragma unroll
            for (int m = 0; m < TM; ++m)
                r_c[m] += s_a[k][row + m] * r_b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < TM; ++m)
        p.write(tile.row + row + m, tile.col + col, r_c[m]);
}
// #endregion v4-kernel

static void sgemm_v4(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    const unsigned blocks = TileOfC<ColumnTile::BM, ColumnTile::BN>::count(s);
    sgemm_v4_kernel<<<blocks, ColumnTile::kThreads, 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(sgemm, sgemm_v4, "8 sums a thread");
