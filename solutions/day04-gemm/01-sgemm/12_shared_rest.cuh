// 12_shared_rest.cuh: v12: what is left for a last round is shared by all blocks.
#pragma once

#include <wb/scratch.h>

// #region v12-rest
/// The tiles of a product, and how blocks share the last of them. Blocks 0 to whole - 1
/// have a tile each. The tiles behind these have `parts` blocks each, one behind the
/// other, and each of those has of_part elements of K, the last of a tile the rest.
struct Rest {
    int across;   // tiles beside each other in C
    int whole;    // tiles that one block has to itself
    int shared;   // tiles that several share
    int parts;    // blocks of each of those
    int of_part;  // a multiple of BK

    int64_t blocks() const { return whole + int64_t{shared} * parts; }
    __device__ bool has_part(int block) const { return block >= whole; }

    template <class Tiles>
    __device__ Work work_of(int block, int K) const {
        const int tile = has_part(block) ? whole + (block - whole) / parts : block;
        Work work{tile / across * Tiles::BM, tile % across * Tiles::BN, 0, K};
        if (has_part(block)) {
            work.k_begin = (block - whole) % parts * of_part;
            work.k_end = min(K, work.k_begin + of_part);
        }
        return work;
    }
};

/// How long the last round takes, in rounds, if `rest` tiles have `parts` blocks each.
/// The constants are those of a sweep on an H100: sums of parts are stored and added
/// in the time of 0.3 k of a tile for each block, and the second kernel takes 7 us, in
/// which a multiprocessor makes kSecondKernel products.
template <class Tiles>
constexpr double length_of_rest(int64_t rest,
                                int64_t parts,
                                int64_t K,
                                int64_t multiprocessors) {
    constexpr double kSecondKernel = 1.3e6;
    const auto blocks = static_cast<double>(rest * parts);
    const int64_t rounds = wb::ceil_div(rest * parts, multiprocessors);
    const double more = kSecondKernel / (Tiles::BM * Tiles::BN) + 0.3 * blocks;
    return static_cast<double>(rounds) / static_cast<double>(parts) +
           (parts == 1 ? 0.0 : more / static_cast<double>(K));
}

/// The number of parts with which the last round is shortest: at most 16, and at least
/// four tiles' k for each.
template <class Tiles>
constexpr int64_t best_parts(int64_t rest, int64_t K, int64_t multiprocessors) {
    int64_t best = 1;
    for (int64_t parts = 2; parts <= 16 && parts * 4 * Tiles::BK <= K; ++parts)
        if (length_of_rest<Tiles>(rest, parts, K, multiprocessors) <
            length_of_rest<Tiles>(rest, best, K, multiprocessors))
            best = parts;
    return best;
}

template <class Tiles>
static Rest rest_of(const wb::GemmShape& s, int64_t K) {
    const int64_t across = wb::ceil_div(s.N, int64_t{Tiles::BN});
    const int64_t tiles = wb::ceil_div(s.M, int64_t{Tiles::BM}) * across;
    const int64_t rest = tiles % wb::multiprocessors();
    const int64_t best = best_parts<Tiles>(rest, K, wb::multiprocessors());
    const int64_t of_part =
        wb::ceil_div(wb::ceil_div(K, best), int64_t{Tiles::BK}) * Tiles::BK;
    const int64_t parts = best == 1 ? 1 : wb::ceil_div(K, of_part);
    const int64_t shared = parts == 1 ? 0 : rest;
    return {static_cast<int>(across),
            static_cast<int>(tiles - shared),
            static_cast<int>(shared),
            static_cast<int>(parts),
            static_cast<int>(of_part)};
}
// #endregion v12-rest

// #region v12-kernel
/// sgemm_v12: v11, but a block may have a part of K only, whose sums go to a memory of
/// their own: sum after sum, those of neighbouring threads side by side. (As vectors
/// they would take as many turns, but a vector binds four sums to four neighbouring
/// registers, and then sums meet elements of B in the same bank.)
///
/// @param g_parts  [rest.shared * rest.parts, TM * TN, kNumThreads]
///
/// Launch   grid rest.blocks(), otherwise as v8
template <class Tiles, int kStages, int kBlocks, class SourceA, class SourceB>
__global__ void __launch_bounds__(Tiles::kNumThreads, kBlocks)
    sgemm_v12_kernel(Product p, Rest rest, float* g_parts) {
    extern __shared__ float4 s_memory[];
    auto& s_stages = *reinterpret_cast<Stage<Tiles>(*)[kStages]>(s_memory);
    const auto block = static_cast<int>(blockIdx.x);
    const Work work = rest.work_of<Tiles>(block, p.K);
    const Tiles mine;
    float r_c[Tiles::TM][Tiles::TN] = {};
    sums_of<BackAndForth>(SourceA(p.a), SourceB(p.b), work, mine, s_stages, r_c);
    if (!rest.has_part(block)) {
        write_sums<Tiles::kStepM, Tiles::kStepN>(
            p, work.row + mine.row, work.col + mine.col, r_c);
        return;
    }
    constexpr int64_t kOfPart = Tiles::BM * Tiles::BN;
    float* const g_part = g_parts + (block - rest.whole) * kOfPart + threadIdx.x;
#pragma unroll
    for (int m = 0; m < Tiles::TM; ++m)
#pragma unroll
        for (int n = 0; n < Tiles::TN; ++n)
            g_part[(m * Tiles::TN + n) * Tiles::kNumThreads] = r_c[m][n];
}
// #endregion v12-kernel

// #region v12-total
/// The sums of a shared tile: those of its parts, from the first elements of K to the
/// last ones, so that two calls give the same bits.
///
/// Launch   grid (rest.shared, TM * TN / kVector), block kNumThreads: a vector a thread
template <class Tiles>
__global__ void __launch_bounds__(Tiles::kNumThreads)
    sgemm_v12_total_kernel(Product p, Rest rest, const float* g_parts) {
    constexpr int64_t kOfPart = Tiles::BM * Tiles::BN;
    const int first = static_cast<int>(blockIdx.y) * kVector;  // of a thread's sums
    const int tile = static_cast<int>(blockIdx.x);             // of the shared ones
    const float* g_sum = g_parts + int64_t{tile} * rest.parts * kOfPart +
                         first * Tiles::kNumThreads + threadIdx.x;
    float sums[kVector] = {};
    for (int part = 0; part < rest.parts; ++part) {
#pragma unroll
        for (int i = 0; i < kVector; ++i)
            sums[i] += g_sum[i * Tiles::kNumThreads];
        g_sum += kOfPart;
    }
    const Work work = rest.work_of<Tiles>(rest.whole + tile * rest.parts, 0);
    const Tiles mine;
    const int m = first / Tiles::TN;
    const int n = first % Tiles::TN;
    p.write_vector(work.row + mine.row + m / kVector * Tiles::kStepM + m % kVector,
                   work.col + mine.col + n / kVector * Tiles::kStepN,
                   sums);
}
// #endregion v12-total

// #region v12-launch
/// Launches v12, unless the GPU has too little shared memory for a block: false then.
template <class Tiles, int kStages, int kBlocks>
static bool launch_with_rest(const Product& p,
                             const wb::GemmShape& s,
                             cudaStream_t stream) {
    constexpr size_t kBytes = kStages * sizeof(Stage<Tiles>);
    const Rest rest = rest_of<Tiles>(s, p.K);
    const int64_t sums = int64_t{rest.shared} * rest.parts * Tiles::BM * Tiles::BN;
    const wb::Scratch<float> g_parts(sums + 1, stream);  // there may be no sums
    bool has_room = false;
    const auto launch = [&](auto a, auto b) {
        const auto kernel =
            sgemm_v12_kernel<Tiles, kStages, kBlocks, decltype(a), decltype(b)>;
        has_room = wb::allow_shared(kernel, kBytes);
        if (!has_room) return;
        kernel<<<wb::grid_size(rest.blocks(), 1), Tiles::kNumThreads, kBytes, stream>>>(
            p, rest, g_parts.data());
        CUDA_CHECK_LAUNCH();
    };
    if (!with_sources(p, launch)) launch(p.a, p.b);
    if (!has_room || rest.shared == 0) return has_room;
    const dim3 grid(static_cast<unsigned>(rest.shared),
                    Tiles::TM * Tiles::TN / kVector);
    sgemm_v12_total_kernel<Tiles>
        <<<grid, Tiles::kNumThreads, 0, stream>>>(p, rest, g_parts.data());
    CUDA_CHECK_LAUNCH();
    return true;
}

/// 64 x 128 sums, 128 threads: 38 KB of shared memory.
using WideTiles = WarpTiles<64, 128, 16, 32, 64, 8, 8>;

/// sgemm_v12: tiles as v11's, or smaller ones on a GPU with too little shared memory.
static void sgemm_v12(const wb::GemmShape& s,
                      float alpha,
                      const float* A,
                      const float* B,
                      float beta,
                      float* C,
                      cudaStream_t stream) {
    const Product p = Product::of(s, alpha, A, B, beta, C);
    if (!launch_with_rest<DeepTiles, 2, 2>(p, s, stream))
        launch_with_rest<WideTiles, 3, 4>(p, s, stream);
}
// #endregion v12-launch
WB_RUNG(sgemm, sgemm_v12, "the last tiles shared");
