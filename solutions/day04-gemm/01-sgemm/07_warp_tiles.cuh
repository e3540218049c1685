// 07_warp_tiles.cuh: v7: the 32 threads of a warp have a tile that is nearly a square.
#pragma once

// #region v7-place
/// Who computes what: a block BM x BN, each of its warps WM x WN, a thread TM x TN.
///
/// @tparam BM, BN  tile of a block
/// @tparam BK      elements of each row and column at a time
/// @tparam WM, WN  tile of a warp: 4 x 8 lanes
/// @tparam TM, TN  sums of a thread: groups of 4 x 4
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_>
struct WarpTiles {
    static constexpr int BM = BM_;
    static constexpr int BN = BN_;
    static constexpr int BK = BK_;
    static constexpr int TM = TM_;
    static constexpr int TN = TN_;
    static constexpr int kWarpM = WM_;
    static constexpr int kWarpN = WN_;
    static constexpr int kWarpsN = BN / kWarpN;
    static constexpr int kNumThreads = BM / kWarpM * kWarpsN * wb::kWarpSize;
    static constexpr int kLanesM = kWarpM / TM;
    static constexpr int kLanesN = kWarpN / TN;
    static constexpr int kStepM = kLanesM * kVector;  // between two groups of rows
    static constexpr int kStepN = kLanesN * kVector;
    static_assert(kLanesM == 4 && kLanesN == 8, "4 x 8 lanes");
    static_assert(BM % kWarpM == 0 && BN % kWarpN == 0, "whole warps");

    int row;  // of this thread's first group, in the block's tile
    int col;

    /// Lanes 0 and 1 have neighbouring rows, lanes 0 and 2 neighbouring columns: each
    /// eight lanes, which a load of 16 bytes serves at one time, are 2 x 4.
    __device__ WarpTiles() {
        const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
        const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
        const int lane_m = lane / 16 * 2 + lane % 2;
        const int lane_n = lane / 2 % kLanesN;
        row = warp / kWarpsN * kWarpM + lane_m * kVector;
        col = warp % kWarpsN * kWarpN + lane_n * kVector;
    }
};
// #endregion v7-place

// #region v7-kernel
/// sgemm_v7: v6, in which a warp has 32 x 64 sums instead of 16 x 128: for each k it
/// reads 96 floats of shared memory instead of 144.
///
/// Launch   as v5
template <class Tiles>
__global__ void __launch_bounds__(Tiles::kNumThreads) sgemm_v7_kernel(Product p) {
    constexpr int BK = Tiles::BK;
    __shared__ alignas(16) float s_a[BK][Tiles::BM + kPad];  // [k, row]
    __shared__ alignas(16) float s_b[BK][Tiles::BN + kPad];  // [k, col]
    const TileOfC<Tiles::BM, Tiles::BN> tile(p);
    const Tiles mine;
    float r_c[Tiles::TM][Tiles::TN] = {};
    for (int k0 = 0; k0 < p.K; k0 += BK) {
        load_tile_vectors<Tiles::BM, BK, Tiles::kNumThreads>(p.a, tile.row, k0, s_a);
        load_tile_vectors<Tiles::BN, BK, Tiles::kNumThreads>(p.b, tile.col, k0, s_b);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float r_a[Tiles::TM];
            float r_b[Tiles::TN];
            read_vectors<Tiles::TM, Tiles::kStepM>(&s_a[k][mine.row], r_a);
            read_vectors<Tiles::TN, Tiles::kStepN>(&s_b[k][mine.col], r_b);
            add_products(r_c, r_a, r_b);
        }
        __syncthreads();
    }
    write_sums<Tiles::kStepM, Tiles::kStepN>(
        p, tile.row + mine.row, tile.col + mine.col, r_c);
}
// #endregion v7-kernel

static void sgemm_v7(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    using Tiles = WarpTiles<128, 128, 8, 32, 64, 8, 8>;
    const unsigned blocks = TileOfC<Tiles::BM, Tiles::BN>::count(s);
    sgemm_v7_kernel<Tiles><<<blocks, Tiles::kNumThreads, 0, stream>>>(
        Product::of(s, alpha, A, B, beta, C));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(sgemm, sgemm_v7, "a warp's tile nearly square");
