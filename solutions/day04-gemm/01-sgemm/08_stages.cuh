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
///
/// @tparam Source  Operand, or one like it
template <int kRows, int BK, int kNumThreads, class Source>
struct Copies {
    using Tile = float[BK][kRows + kPad];  // [k, row]
    static constexpr int kFast = 8;        // neighbours along k that a warp copies
    static_assert(BK % kFast == 0 && kRows * BK % kNumThreads == 0, "whole warps");

    const float* g_first;

    /// From the first tile on, that of row `first` and element k_begin.
    __device__ __forceinline__ Copies(const Source& x, int first, int k_begin) {
        g_first = x.place(first + row_of(x), k_begin + k_of(x));
    }

    /// Starts those of the next tile, that from k0 on.
    ///
    /// @tparam kIsCut  the tile may reach beyond the matrix, or k_end: zeros there
    template <bool kIsCut>
    __device__ __forceinline__ void start(
        const Source& x, int first, int k0, int k_end, Tile& s_tile) {
        const int rows = x.rows - first - row_of(x);  // that exist from this one on
        const int ks = k_end - k0 - k_of(x);
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
    static __device__ __forceinline__ int row_of(const Source& x) {
        const int tid = static_cast<int>(threadIdx.x);
        if (x.k_is_fast) return tid / kFast;
        return x.has_vectors ? tid % (kRows / kVector) * kVector : tid % kRows;
    }
    static __device__ __forceinline__ int k_of(const Source& x) {
        const int tid = static_cast<int>(threadIdx.x);
        if (x.k_is_fast) return tid % kFast;
        return x.has_vectors ? tid / (kRows / kVector) : tid / kRows;
    }

    /// Where neighbours in memory are neighbours in a row of the tile, too.
    template <bool kIsCut, int kFloats>
    __device__ __forceinline__ void start_along(const Source& x,
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

/// What a block computes: a tile of C, or what the columns k_begin to k_end - 1 of A
/// add to it.
struct Work {
    int row;  // of C, the tile's first
    int col;
    int k_begin;  // a multiple of BK
    int k_end;
};

/// Fills one stage behind the other.
template <class Tiles, class SourceA, class SourceB>
struct StageFiller {
    Copies<Tiles::BM, Tiles::BK, Tiles::kNumThreads, SourceA> of_a;
    Copies<Tiles::BN, Tiles::BK, Tiles::kNumThreads, SourceB> of_b;
    int last_whole;  // k where the last tiles begin that are not cut; below 0: none

    __device__ __forceinline__ StageFiller(const SourceA& a,
                                           const SourceB& b,
                                           const Work& work)
        : of_a(a, work.row, work.k_begin),
          of_b(b, work.col, work.k_begin),
          last_whole(work.row + Tiles::BM <= a.rows && work.col + Tiles::BN <= b.rows
                         ? work.k_end - Tiles::BK
                         : -1) {}

    /// Starts the copies of the tiles from k0 on, if there are such, and closes them
    /// into a group, an empty one if there are none.
    __device__ __forceinline__ void start(const SourceA& a,
                                          const SourceB& b,
                                          const Work& work,
                                          int k0,
                                          Stage<Tiles>& s_stage) {
        if (k0 <= last_whole)
            start_both<false>(a, b, work, k0, s_stage);
        else if (k0 < work.k_end)
            start_both<true>(a, b, work, k0, s_stage);
        wb::ptx::cp_async_commit();
    }

 private:
    template <bool kIsCut>
    __device__ __forceinline__ void start_both(const SourceA& a,
                                               const SourceB& b,
                                               const Work& work,
                                               int k0,
                                               Stage<Tiles>& s_stage) {
        of_a.template start<kIsCut>(a, work.row, k0, work.k_end, s_stage.a);
        of_b.template start<kIsCut>(b, work.col, k0, work.k_end, s_stage.b);
    }
};
// #endregion v8-stage

// #region v8-sums
/// Makes the products of a k row by row, each row from its left end.
struct RowByRow {
    template <int TM, int TN>
    static __device__ __forceinline__ void add(float (&r_c)[TM][TN],
                                               const float (&r_a)[TM],
                                               const float (&r_b)[TN]) {
        add_products(r_c, r_a, r_b);
    }
};

/// A thread's sums, beginning at zero. kStages - 1 tiles of each operand are under way,
/// and what is read from shared memory for the next k is under way, too, while the
/// products of this one are made: the first of the next tile behind the barrier, which
/// all threads reach before the last products of this one.
///
/// @tparam Order  of the products of a k
/// @param a, b    operands, whose k from work.k_begin to work.k_end - 1 count
template <class Order, class Tiles, int kStages, class SourceA, class SourceB>
__device__ __forceinline__ void sums_of(const SourceA& a,
                                        const SourceB& b,
                                        const Work& work,
                                        const Tiles& mine,
                                        Stage<Tiles> (&s_stages)[kStages],
                                        float (&r_c)[Tiles::TM][Tiles::TN]) {
    static_assert(Tiles::BK % 2 == 0, "a tile begins with the registers of an even k");
    StageFiller<Tiles, SourceA, SourceB> filler(a, b, work);
    float r_a[2][Tiles::TM];
    float r_b[2][Tiles::TN];
    if (work.k_begin < work.k_end) {
#pragma unroll
        for (int stage = 0; stage < kStages - 1; ++stage)
            filler.start(a, b, work, work.k_begin + stage * Tiles::BK, s_stages[stage]);
        wb::ptx::cp_async_wait<kStages - 2>();
        __syncthreads();
        s_stages[0].read(mine, 0, r_a[0], r_b[0]);
    }
    int used = 0;  // the stage of the tile at hand
    for (int k0 = work.k_begin; k0 < work.k_end; k0 += Tiles::BK) {
        const int free = used == 0 ? kStages - 1 : used - 1;  // that of the tile before
        filler.start(a, b, work, k0 + (kStages - 1) * Tiles::BK, s_stages[free]);
        const int next = used + 1 == kStages ? 0 : used + 1;
#pragma unroll
        for (int k = 0; k < Tiles::BK; ++k) {
            const int now = k % 2;
            if (k + 1 < Tiles::BK) {
                s_stages[used].read(mine, k + 1, r_a[1 - now], r_b[1 - now]);
            } else if (k0 + Tiles::BK < work.k_end) {
                wb::ptx::cp_async_wait<kStages - 2>();
                __syncthreads();
                s_stages[next].read(mine, 0, r_a[1 - now], r_b[1 - now]);
            }
            Order::add(r_c, r_a[now], r_b[now]);
        }
        used = next;
    }
}
// #endregion v8-sums

// #region v8-kernel
/// sgemm_v8: the next tiles are copied while a block computes.
///
/// @tparam kBlocks  of a multiprocessor, so that a thread may have 65,536 / (kBlocks *
///                  kNumThreads) registers
/// @tparam Order    RowByRow, or one like it
///
/// Launch   grid TileOfC::count(), block kNumThreads, kStages stages of shared memory
template <class Tiles, int kStages, int kBlocks, class Order = RowByRow>
__global__ void __launch_bounds__(Tiles::kNumThreads, kBlocks)
    sgemm_v8_kernel(Product p) {
    extern __shared__ float4 s_memory[];
    auto& s_stages = *reinterpret_cast<Stage<Tiles>(*)[kStages]>(s_memory);
    const TileOfC<Tiles::BM, Tiles::BN> tile(p);
    const Tiles mine;
    float r_c[Tiles::TM][Tiles::TN] = {};
    sums_of<Order>(p.a, p.b, {tile.row, tile.col, 0, p.K}, mine, s_stages, r_c);
    write_sums<Tiles::kStepM, Tiles::kStepN>(
        p, tile.row + mine.row, tile.col + mine.col, r_c);
}
// #endregion v8-kernel

template <class Tiles, int kStages, int kBlocks, class Order = RowByRow>
static void launch_v8(const Product& p, const wb::GemmShape& s, cudaStream_t stream) {
    wb::launch_kernel(sgemm_v8_kernel<Tiles, kStages, kBlocks, Order>,
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
