// 08_stages.cuh: v8: the next tiles are copied while a block computes.
#pragma once

#include <wb/launch_kernel.h>
#include <wb/ptx/cp_async.h>

// #region v8-copies
/// One thread's copies of the tiles of an operand. It keeps the address of the first
/// one; all others of a tile are the same step apart.
///
/// Rows that are whole vectors are copied 16 bytes at a time. Neighbours along k have
/// rows of their own in the tile, so each is a copy of 4 bytes: a warp has 8 of each of
/// 4 rows, which are whole sectors in global memory, and 32 banks in the tile.
template <int kRows, int BK, int kNumThreads>
struct Copies {
    using Tile = float[BK][kRows + kPad];  // [k, row]
    static constexpr int kFast = 8;        // neighbours along k that a warp copies
    static_assert(BK % kFast == 0 && kRows * BK % kNumThreads == 0, "whole warps");

    const float* g_first;

    /// From the first tile on.
    __device__ __forceinline__ Copies(const Operand& x, int first) {
        g_first = x.place(first + row_of(x), k_of(x));
    }

    /// Starts those of the next tile, that from k0 on.
    ///
    /// @tparam kIsCut  the tile may reach beyond the matrix, where it gets zeros
    template <bool kIsCut>
    __device__ __forceinline__ void start(const Operand& x,
                                          int first,
                                          int k0,
                                          Tile& s_tile) {
        const int rows = x.rows - first - row_of(x);  // that exist from this one on
        const int ks = x.K - k0 - k_of(x);
        float* const s_first = &s_tile[k_of(x)][row_of(x)];
        if (x.k_is_fast) {
            constexpr int kStep = kNumThreads / kFast;
            const float* g_from = g_first;
#pragma unroll
            for (int row = 0; row < kRows; row += kStep) {
#pragma unroll
                for (int k = 0; k < BK; k += kFast)
                    start_one<kIsCut, 4>(s_first + k * (kRows + kPad) + row,
                                         g_from + k,
                                         row < rows && k < ks);
                g_from += kStep * x.ld;
            }
            g_first += BK;
        } else if (x.has_vectors) {
            start_along<kIsCut, kVector>(x, s_first, rows, ks);
        } else {
            start_along<kIsCut, 1>(x, s_first, rows, ks);
        }
    }

 private:
    // This thread's first copy of a tile.
    static __device__ __forceinline__ int row_of(const Operand& x) {
        const int tid = static_cast<int>(threadIdx.x);
        if (x.k_is_fast) return tid / kFast;
        return x.has_vectors ? tid % (kRows / kVector) * kVector : tid % kRows;
    }
    static __device__ __forceinline__ int k_of(const Operand& x) {
        const int tid = static_cast<int>(threadIdx.x);
        if (x.k_is_fast) return tid % kFast;
        return x.has_vectors ? tid / (kRows / kVector) : tid / kRows;
    }

    /// Where neighbours in memory are neighbours in a row of the tile, too.
    template <bool kIsCut, int kFloats>
    __device__ __forceinline__ void start_along(const Operand& x,
                                                float* s_first,
                                                int rows,
                                                int ks) {
        constexpr int kStep = kNumThreads / (kRows / kFloats);
        const float* g_from = g_first;
#pragma unroll
        for (int k = 0; k < BK; k += kStep) {
            start_one<kIsCut, 4 * kFloats>(
                s_first + k * (kRows + kPad), g_from, 0 < rows && k < ks);
            g_from += kStep * x.ld;
        }
        g_first = g_from;
    }

    template <bool kIsCut, int kBytes>
    static __device__ __forceinline__ void start_one(float* s_to,
                                                     const float* g_from,
                                                     bool exists) {
        if constexpr (kIsCut)
            wb::ptx::cp_async_zfill<kBytes>(s_to, g_from, exists ? kBytes : 0);
        else
            wb::ptx::cp_async<kBytes>(s_to, g_from);
    }
};
// #endregion v8-copies

// #region v8-stage
/// A tile of A and one of B, in shared memory.
template <class Tiles>
struct Stage {
    float a[Tiles::BK][Tiles::BM + kPad];  // [k, row]
    float b[Tiles::BK][Tiles::BN + kPad];  // [k, col]

    /// What a thread needs of element k of all rows and columns.
    __device__ __forceinline__ void read(const Tiles& mine,
                                         int k,
                                         float (&r_a)[Tiles::TM],
                                         float (&r_b)[Tiles::TN]) const {
        read_vectors<Tiles::TM, Tiles::kStepM>(&a[k][mine.row], r_a);
        read_vectors<Tiles::TN, Tiles::kStepN>(&b[k][mine.col], r_b);
    }
};

/// Fills one stage behind the other.
template <class Tiles>
struct StageFiller {
    Copies<Tiles::BM, Tiles::BK, Tiles::kNumThreads> of_a;
    Copies<Tiles::BN, Tiles::BK, Tiles::kNumThreads> of_b;
    TileOfC<Tiles::BM, Tiles::BN> tile;

    __device__ __forceinline__ explicit StageFiller(const Product& p)
        : of_a(p.a, TileOfC<Tiles::BM, Tiles::BN>(p).row),
          of_b(p.b, TileOfC<Tiles::BM, Tiles::BN>(p).col),
          tile(p) {}

    /// Starts the copies of the tiles from k0 on, if there are such, and closes them
    /// into a group, an empty one if there are none.
    __device__ __forceinline__ void start(const Product& p,
                                          int k0,
                                          Stage<Tiles>& s_stage) {
        const bool is_whole = k0 + Tiles::BK <= p.K &&
                              tile.row + Tiles::BM <= p.a.rows &&
                              tile.col + Tiles::BN <= p.b.rows;
        if (is_whole)
            start_both<false>(p, k0, s_stage);
        else if (k0 < p.K)
            start_both<true>(p, k0, s_stage);
        wb::ptx::cp_async_commit();
    }

 private:
    template <bool kIsCut>
    __device__ __forceinline__ void start_both(const Product& p,
                                               int k0,
                                               Stage<Tiles>& s_stage) {
        of_a.template start<kIsCut>(p.a, tile.row, k0, s_stage.a);
        of_b.template start<kIsCut>(p.b, tile.col, k0, s_stage.b);
    }
};
// #endregion v8-stage

// #region v8-kernel
/// sgemm_v8: kStages - 1 tiles of each operand are under way, and what is read from
/// shared memory for the next k is under way, too, while the products of this one are
/// made: the first of the next tile behind the barrier, which all threads reach before
/// the last products of this one.
///
/// @tparam kBlocks  of a multiprocessor, so that a thread may have 65,536 / (kBlocks *
///                  kNumThreads) registers
///
/// Launch   grid TileOfC::count(), block kNumThreads, kStages stages of shared memory
template <class Tiles, int kStages, int kBlocks>
__global__ void __launch_bounds__(Tiles::kNumThreads, kBlocks)
    sgemm_v8_kernel(Product p) {
    static_assert(Tiles::BK % 2 == 0, "a tile begins with the registers of an even k");
    extern __shared__ float4 s_memory[];
    auto* const s_stages = reinterpret_cast<Stage<Tiles>*>(s_memory);
    StageFiller<Tiles> filler(p);
    const Tiles mine;
    float r_c[Tiles::TM][Tiles::TN] = {};
    float r_a[2][Tiles::TM];
    float r_b[2][Tiles::TN];
    if (p.K > 0) {
#pragma unroll
        for (int stage = 0; stage < kStages - 1; ++stage)
            filler.start(p, stage * Tiles::BK, s_stages[stage]);
        wb::ptx::cp_async_wait<kStages - 2>();
        __syncthreads();
        s_stages[0].read(mine, 0, r_a[0], r_b[0]);
    }
    int used = 0;            // the stage of the tile at hand
    int free = kStages - 1;  // that of the tile before
    for (int k0 = 0; k0 < p.K; k0 += Tiles::BK) {
        filler.start(p, k0 + (kStages - 1) * Tiles::BK, s_stages[free]);
        const int next = used + 1 == kStages ? 0 : used + 1;
#pragma unroll
        for (int k = 0; k < Tiles::BK; ++k) {
            const int now = k % 2;
            if (k + 1 < Tiles::BK) {
                s_stages[used].read(mine, k + 1, r_a[1 - now], r_b[1 - now]);
            } else if (k0 + Tiles::BK < p.K) {
                wb::ptx::cp_async_wait<kStages - 2>();
                __syncthreads();
                s_stages[next].read(mine, 0, r_a[1 - now], r_b[1 - now]);
            }
            add_products(r_c, r_a[now], r_b[now]);
        }
        free = used;
        used = next;
    }
    write_sums<Tiles::kStepM, Tiles::kStepN>(
        p, filler.tile.row + mine.row, filler.tile.col + mine.col, r_c);
}
// #endregion v8-kernel

template <class Tiles, int kStages, int kBlocks>
static void launch_v8(const Product& p, const wb::GemmShape& s, cudaStream_t stream) {
    wb::launch_kernel(sgemm_v8_kernel<Tiles, kStages, kBlocks>,
                      TileOfC<Tiles::BM, Tiles::BN>::count(s),
                      Tiles::kNumThreads,
                      kStages * sizeof(Stage<Tiles>),
                      stream,
                      p);
}

static void sgemm_v8(const wb::GemmShape& s,
                     float alpha,
                     const float* A,
                     const float* B,
                     float beta,
                     float* C,
                     cudaStream_t stream) {
    const Product p = Product::of(s, alpha, A, B, beta, C);
    launch_v8<WarpTiles<128, 128, 16, 32, 64, 8, 8>, 3, 2>(p, s, stream);
}
WB_RUNG(sgemm, sgemm_v8, "three stages of cp.async");
