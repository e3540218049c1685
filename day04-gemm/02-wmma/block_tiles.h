/// block_tiles.h: given with the second stage: the sizes of a block's tile, how tiles
/// of A and B come to shared memory, and how sums leave the block. There is nothing to
/// write here.
#pragma once

#include <wb/ptx/cp_async.h>

#include <cstddef>

#include "tiles.h"

// #region sizes
/// A block of WARPS_M x WARPS_N warps computes BM x BN elements of C, a warp WM x WN of
/// them, in fragments of 16 x 16.
///
/// @tparam kPad  rows in shared memory are this many bytes further apart than they are
///               long
template <class T, int BM_, int BN_, int WM_, int WN_, int kPad>
struct Sizes {
    using Element = T;
    static constexpr int BM = BM_;
    static constexpr int BN = BN_;
    static constexpr int BK = 64 / int{sizeof(T)};  // a row of A is 64 bytes
    static constexpr int WM = WM_;
    static constexpr int WN = WN_;
    static constexpr int kFragmentsM = WM / kTile;
    static constexpr int kFragmentsN = WN / kTile;
    static constexpr int kWarpsAcross = BN / WN;
    static constexpr int kWarps = BM / WM * kWarpsAcross;
    static constexpr int kThreads = kWarps * wb::kWarpSize;
    /// Elements from one row to the next, in shared memory. Floats of a fragment of B
    /// are read one by one, down its columns: for them twice as much lies in between.
    static constexpr int kPitchA = BK + kPad / int{sizeof(T)};
    static constexpr int kPitchB = BN + kPad / 2;

    static_assert(BM % WM == 0 && BN % WN == 0, "whole warps");
    static_assert(WM % kTile == 0 && WN % kTile == 0, "whole fragments");
    static_assert(kPad % 16 == 0, "rows begin at multiples of 16 bytes");
};
// #endregion sizes

// #region stage
/// BK columns of A and BK rows of B, for a block.
template <class S>
struct Stage {
    using T = typename S::Element;
    alignas(128) T a[S::BM * S::kPitchA];  // [BM, BK], rows kPitchA apart
    alignas(128) T b[S::BK * S::kPitchB];  // [BK, BN], rows kPitchB apart
};

/// A warp's sums.
template <class S>
struct WarpSums {
    FragmentC<typename S::Element> at[S::kFragmentsM][S::kFragmentsN];
};
// #endregion stage

// #region place
/// Where in C this block and this warp work.
template <class S>
struct Place {
    int64_t row;  ///< the block's first, in C
    int64_t col;
    int warp_row;  ///< the warp's first, in the block's tile
    int warp_col;

    /// @param blocks_across  that share a row of C
    __device__ __forceinline__ explicit Place(int64_t blocks_across) {
        const int warp = threadIdx.x / wb::kWarpSize;
        row = blockIdx.x / blocks_across * S::BM;
        col = blockIdx.x % blocks_across * S::BN;
        warp_row = warp / S::kWarpsAcross * S::WM;
        warp_col = warp % S::kWarpsAcross * S::WN;
    }
};
// #endregion place

// #region copies
/// Copies 16 bytes to shared memory: now, or asynchronously.
template <bool kAsync>
__device__ __forceinline__ void copy_vector(void* s_vector, const void* g_vector) {
    if constexpr (kAsync)
        wb::ptx::cp_async<16>(s_vector, g_vector);
    else
        *static_cast<uint4*>(s_vector) = *static_cast<const uint4*>(g_vector);
}

/// The threads of a block bring a tile to shared memory, with zeros where the matrix
/// has no elements. With kAsync, whole vectors of 16 bytes are copied by cp.async, and
/// somebody has to commit and wait; all else is there for the next barrier.
///
/// @tparam kPitch        elements from one row to the next, in s_tile
/// @param s_tile         [kRows, kColumns]
/// @param g_tile         the tile's first element
/// @param ld             of the matrix
/// @param rows, columns  that the matrix has from g_tile on; <= 0: none
/// @param vectors        rows begin at multiples of 16 bytes
template <bool kAsync, int kRows, int kColumns, int kPitch, int kThreads, class T>
__device__ __forceinline__ void copy_tile(T* s_tile,
                                          const T* g_tile,
                                          int64_t ld,
                                          int64_t rows,
                                          int64_t columns,
                                          bool vectors) {
    constexpr int kVector = 16 / int{sizeof(T)};
    constexpr int kVectors = kColumns / kVector;  // of a row
    const int tid = threadIdx.x;
    if (vectors && rows >= kRows && columns >= kColumns) {
#pragma unroll
        for (int i = 0; i < kRows * kVectors; i += kThreads) {
            const int row = (i + tid) / kVectors;
            const int column = (i + tid) % kVectors * kVector;
            if (kRows * kVectors % kThreads == 0 || i + tid < kRows * kVectors)
                copy_vector<kAsync>(s_tile + row * kPitch + column,
                                    g_tile + row * ld + column);
        }
        return;
    }
#pragma unroll 1  // at the edges only: the kernel need not keep registers for it
    for (int i = tid; i < kRows * kVectors; i += kThreads) {
        const int row = i / kVectors;
        const int first = i % kVectors * kVector;
        T* const s_vector = s_tile + row * kPitch + first;
        const T* const g_vector = g_tile + row * ld + first;
        if (vectors && row < rows && first + kVector <= columns) {
            copy_vector<kAsync>(s_vector, g_vector);
            continue;
        }
#pragma unroll 1
        for (int e = 0; e < kVector; ++e) {
            const bool exists = row < rows && first + e < columns;
            s_vector[e] = exists ? g_vector[e] : static_cast<T>(0.0f);
        }
    }
}

/// Both tiles of a stage.
/// @param k  the first of its columns of A, and rows of B
template <bool kAsync, class S, class T>
__device__ __forceinline__ void copy_stage(Stage<S>& stage,
                                           const Problem<T>& p,
                                           const Place<S>& at,
                                           int64_t k) {
    copy_tile<kAsync, S::BM, S::BK, S::kPitchA, S::kThreads>(
        stage.a, p.A + at.row * p.lda + k, p.lda, p.M - at.row, p.K - k, p.direct_a);
    copy_tile<kAsync, S::BK, S::BN, S::kPitchB, S::kThreads>(
        stage.b, p.B + k * p.ldb + at.col, p.ldb, p.K - k, p.N - at.col, p.direct_b);
}
// #endregion copies

// #region shared-load
/// The instruction behind load_matrix_sync(): a constant text, so that it takes a macro
/// to write it once.
#define WB_WMMA_LOAD(which, shape, type)                                       \
    asm volatile("wmma.load." which ".sync.aligned.row." shape ".shared." type \
                 " {%0, %1, %2, %3}, [%4], %5;"                                \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])              \
                 : "r"(from), "r"(ld)                                          \
                 : "memory")

/// Loads of fragments from shared memory.
struct Shared {
    /// load_matrix_sync(), for a tile in shared memory, in words of PTX. nvcc 13.0 sees
    /// by itself that a tile of fp16 is there, and takes ldmatrix. For bf16 and TF32 it
    /// does not: each lane then loads by words, from addresses that could be anywhere.
    ///
    /// @param s_tile  at a multiple of 32 bytes
    /// @param ld      elements from one row to the next
    template <class Use, int K, class Element, class T>
    static __device__ __forceinline__ void load(
        wmma::fragment<Use, kTile, kTile, K, Element, wmma::row_major>& fragment,
        const T* s_tile,
        unsigned ld) {
#if !defined(SIMT_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if constexpr (!std::is_same_v<T, __half>) {
            constexpr bool kIsA = std::is_same_v<Use, wmma::matrix_a>;
            static_assert(sizeof fragment.x == 16, "four registers a lane");
            const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(s_tile));
            auto* const r = reinterpret_cast<uint32_t*>(fragment.x);
            if constexpr (std::is_same_v<T, float> && kIsA)
                WB_WMMA_LOAD("a", "m16n16k8", "tf32");
            else if constexpr (std::is_same_v<T, float>)
                WB_WMMA_LOAD("b", "m16n16k8", "tf32");
            else if constexpr (kIsA)
                WB_WMMA_LOAD("a", "m16n16k16", "bf16");
            else
                WB_WMMA_LOAD("b", "m16n16k16", "bf16");
            return;
        }
#endif
        wmma::load_matrix_sync(fragment, s_tile, ld);
    }
};
#undef WB_WMMA_LOAD
// #endregion shared-load

// #region sums
template <class S>
__device__ __forceinline__ void clear(WarpSums<S>& sums) {
#pragma unroll
    for (auto& row : sums.at)
#pragma unroll
        for (auto& fragment : row)
            wmma::fill_fragment(fragment, 0.0f);
}

/// Stores a warp's sums: whole fragments directly, others by way of shared memory.
///
/// @param s_tile  [kTile, kTile] of this warp, which nobody else uses any more
template <class S, class T>
__device__ __forceinline__ void store_sums(const WarpSums<S>& sums,
                                           float* s_tile,
                                           const Problem<T>& p,
                                           const Place<S>& at) {
#pragma unroll
    for (int i = 0; i < S::kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kFragmentsN; ++j) {
            const int64_t row = at.row + at.warp_row + i * kTile;
            const int64_t col = at.col + at.warp_col + j * kTile;
            if (row >= p.M || col >= p.N) continue;  // all lanes of the warp
            float* const g_tile = p.C + row * p.ldc + col;
            if (p.direct_c && p.M - row >= kTile && p.N - col >= kTile) {
                wmma::store_matrix_sync(g_tile,
                                        sums.at[i][j],
                                        static_cast<unsigned>(p.ldc),
                                        wmma::mem_row_major);
            } else {
                wmma::store_matrix_sync(
                    s_tile, sums.at[i][j], kTile, wmma::mem_row_major);
                __syncwarp();  // the tile is there
                Edge::copy_out(s_tile, g_tile, p.ldc, p.M - row, p.N - col);
                __syncwarp();  // all have read it: the next one may overwrite it
            }
        }
    }
}
// #endregion sums

/// Blocks that share a row of C.
template <class S>
int64_t blocks_across(const wb::GemmShape& shape) {
    return wb::ceil_div(shape.N, int64_t{S::BN});
}

/// Blocks of a launch.
template <class S>
unsigned count_blocks(const wb::GemmShape& shape) {
    return wb::grid_size(
        wb::ceil_div(shape.M, int64_t{S::BM}) * blocks_across<S>(shape), 1);
}
