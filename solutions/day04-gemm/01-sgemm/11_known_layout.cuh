// 11_known_layout.cuh: v11: fewer instructions that are no products: the compiler knows
// how operands lie, and a tile is twice as deep.
#pragma once

#include <wb/shared_memory.h>

// #region v11-sources
/// An operand whose neighbours in memory are neighbours along k.
struct AlongK : Operand {
    static constexpr bool k_is_fast = true;
    static constexpr bool has_vectors = false;  // of k: they are turned one by one

    __host__ __device__ explicit AlongK(const Operand& x) : Operand(x) {}
    __device__ __forceinline__ const float* place(int row, int k) const {
        return data + row * ld + k;
    }
};

/// An operand whose rows are whole, aligned vectors of neighbours in memory.
struct AlongRows : Operand {
    static constexpr bool k_is_fast = false;
    static constexpr bool has_vectors = true;

    __host__ __device__ explicit AlongRows(const Operand& x) : Operand(x) {}
    __device__ __forceinline__ const float* place(int row, int k) const {
        return data + k * ld + row;
    }
};

/// Whether each operand is an AlongK or an AlongRows.
static bool are_known(const Product& p) {
    const auto is_known = [](const Operand& x) { return x.k_is_fast || x.has_vectors; };
    return is_known(p.a) && is_known(p.b);
}

/// function(a, b) with an AlongK or an AlongRows for each operand, of which only the
/// type matters. False, without a call, if one of them is neither.
template <class Function>
static bool with_sources(const Product& p, Function function) {
    const auto with_b = [&](const auto& a) {
        if (p.b.k_is_fast)
            function(a, AlongK(p.b));
        else
            function(a, AlongRows(p.b));
    };
    if (!are_known(p)) return false;
    if (p.a.k_is_fast)
        with_b(AlongK(p.a));
    else
        with_b(AlongRows(p.a));
    return true;
}
// #endregion v11-sources

// #region v11-kernel
/// sgemm_v11: v10, compiled for each way in which operands may lie. Its loop has no
/// branch that asks, no address that the other ways would need, and a barrier for 32 k.
///
/// Launch   as v8
template <class Tiles, int kStages, int kBlocks, class SourceA, class SourceB>
__global__ void __launch_bounds__(Tiles::kNumThreads, kBlocks)
    sgemm_v11_kernel(Product p) {
    extern __shared__ float4 s_memory[];
    auto& s_stages = *reinterpret_cast<Stage<Tiles>(*)[kStages]>(s_memory);
    const TileOfC<Tiles::BM, Tiles::BN> tile(p);
    const Tiles mine;
    float r_c[Tiles::TM][Tiles::TN] = {};
    sums_of<BackAndForth>(
        SourceA(p.a), SourceB(p.b), {tile.row, tile.col, 0, p.K}, mine, s_stages, r_c);
    write_sums<Tiles::kStepM, Tiles::kStepN>(
        p, tile.row + mine.row, tile.col + mine.col, r_c);
}
// #endregion v11-kernel

/// 128 x 128 sums, 32 k at a time.
using DeepTiles = WarpTiles<128, 128, 32, 32, 64, 8, 8>;

static void sgemm_v11(const wb::GemmShape& s,
                      float alpha,
                      const float* A,
                      const float* B,
                      float beta,
                      float* C,
                      cudaStream_t stream) {
    constexpr int kStages = 2;
    constexpr size_t kBytes = kStages * sizeof(Stage<DeepTiles>);
    const Product p = Product::of(s, alpha, A, B, beta, C);
    bool is_done = false;
    with_sources(p, [&](auto a, auto b) {
        const auto kernel =
            sgemm_v11_kernel<DeepTiles, kStages, 2, decltype(a), decltype(b)>;
        if (!wb::allow_shared(kernel, kBytes)) return;
        kernel<<<TileOfC<DeepTiles::BM, DeepTiles::BN>::count(s),
                 DeepTiles::kNumThreads,
                 kBytes,
                 stream>>>(p);
        CUDA_CHECK_LAUNCH();
        is_done = true;
    });
    if (!is_done) sgemm_v10(s, alpha, A, B, beta, C, stream);
}
WB_RUNG(sgemm, sgemm_v11, "layouts known, 32 k a tile");
