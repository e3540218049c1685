// 13_tiles_by_shape.cuh: v13: v12 with tiles of 64 x 128 or of 128 x 128.
#pragma once

// #region v13-choice
/// How long a product takes, in sums of one multiprocessor.
template <class Tiles>
constexpr double cost_of_tiles(const Rest& rest, int64_t K, int64_t multiprocessors) {
    const int64_t tiles = rest.whole + rest.shared;
    const int64_t rounds = tiles / multiprocessors;
    const int64_t left = tiles % multiprocessors;
    const double of_left = length_of_rest<Tiles>(left, rest.parts, K, multiprocessors);
    return (static_cast<double>(rounds) + of_left) * Tiles::BM * Tiles::BN;
}

/// How long a sum of a wide tile takes, by one of a deep tile. On an H100 wide tiles
/// are faster, but they read 1.5 times as many bytes from L2. At 8192^3 that made its
/// clock sink; 2^38 products are between that and 4096^3, where it did not. And they
/// are slower where layouts are not known when the kernel is compiled.
constexpr double weight_of_wide(const wb::GemmShape& s, int64_t K, bool known) {
    constexpr double kManyProducts = 0x1p38;
    const auto outputs = static_cast<double>(s.M) * static_cast<double>(s.N);
    const bool is_long = outputs * static_cast<double>(K) >= kManyProducts;
    return is_long || !known ? 1.03 : 0.97;
}

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
    const double deep =
        cost_of_tiles<DeepTiles>(rest_of<DeepTiles>(s, p.K), p.K, count);
    const double wide =
        cost_of_tiles<WideTiles>(rest_of<WideTiles>(s, p.K), p.K, count) *
        weight_of_wide(s, p.K, are_known(p));
    if (deep <= wide && launch_with_rest<DeepTiles, 2, 2>(p, s, stream)) return;
    launch_with_rest<WideTiles, 3, 4>(p, s, stream);
}
// #endregion v13-choice
WB_RUNG(sgemm, sgemm_v13, "64 x 128 or 128 x 128 sums");
