// 13_tiles_by_shape.cuh: v13: v12 with tiles of 64 x 128 or of 128 x 128.
#pragma once

// #region v13-choice
/// How long a product takes, in sums of one multiprocessor.
template <class Tiles>
constexpr double cost_of_tiles(int64_t M, int64_t N, int64_t K, int64_t count) {
    const int64_t tiles =
        wb::ceil_div(M, int64_t{Tiles::BM}) * wb::ceil_div(N, int64_t{Tiles::BN});
    const int64_t left = tiles % count;
    const int64_t parts = best_parts<Tiles>(left, K, count);
    const double of_left = length_of_rest<Tiles>(left, parts, K, count);
    return (static_cast<double>(tiles / count) + of_left) * Tiles::BM * Tiles::BN;
}

/// Of deep tiles (128 x 128), and of wide ones (64 x 128). These read 1.5 times as many
/// bytes from L2, and in a long run the clock of an H100 sinks by that: at 4096^3 they
/// took up to 4.5 % more. So they have to save more than 5 %.
constexpr double cost_of_deep(int64_t M, int64_t N, int64_t K, int64_t count) {
    return cost_of_tiles<DeepTiles>(M, N, K, count);
}
constexpr double cost_of_wide(int64_t M, int64_t N, int64_t K, int64_t count) {
    return cost_of_tiles<WideTiles>(M, N, K, count) * 1.05;
}

/// Whether these are taken where an H100 was faster with them: with its 132
/// multiprocessors.
constexpr bool is_wide(int64_t M, int64_t N, int64_t K) {
    return cost_of_wide(M, N, K, 132) < cost_of_deep(M, N, K, 132);
}
static_assert(is_wide(1024, 1024, 1024) && is_wide(1000, 3000, 500));
static_assert(!is_wide(2048, 2048, 2048) && !is_wide(4095, 4095, 4095));
static_assert(!is_wide(4096, 4096, 4096) && !is_wide(8192, 8192, 8192));

/// sgemm_v13: deep or wide tiles, whichever take less; wide ones need less than 48 KB.
static void sgemm_v13(const wb::GemmShape& s,
                      float alpha,
                      const float* A,
                      const float* B,
                      float beta,
                      float* C,
                      cudaStream_t stream) {
    const Product p = Product::of(s, alpha, A, B, beta, C);
    const int count = wb::multiprocessors();
    const double deep = cost_of_deep(s.M, s.N, p.K, count);
    const double wide = cost_of_wide(s.M, s.N, p.K, count);
    if (deep <= wide && launch_with_rest<DeepTiles, 2, 2>(p, s, stream)) return;
    launch_with_rest<WideTiles, 3, 4>(p, s, stream);
}
// #endregion v13-choice
WB_RUNG(sgemm, sgemm_v13, "64 x 128 or 128 x 128 sums");
