/// tiles.h: given with this exercise: what a kernel is told, the fragments of each
/// type, ways into and out of shared memory for tiles that the edge of a matrix cuts,
/// and what the contract refuses. There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <wb/arguments.h>
#include <wb/device.h>
#include <wb/gemm.h>
#include <wb/launch.h>

#include <cstdint>
#include <type_traits>

/// GPUs before sm_80 have fragments of fp16 alone. No kernel of this chapter is
/// launched there, but it has to compile: these are the names that <mma.h> leaves out.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
namespace nvcuda::wmma {
namespace precision {
struct tf32;
}
__device__ inline float __float_to_tf32(float value) {
    return value;
}
}  // namespace nvcuda::wmma
template <class T>
inline constexpr bool kHasFragments = std::is_same_v<T, __half>;
#else
template <class T>
inline constexpr bool kHasFragments = true;
#endif

namespace wmma = nvcuda::wmma;

// #region fragments
/// Rows and columns of the part of C that a fragment holds.
inline constexpr int kTile = 16;

/// Columns of A, and rows of B, that one mma_sync multiplies.
template <class T>
inline constexpr int kDepth = std::is_same_v<T, float> ? 8 : 16;

/// What tensor cores take the numbers of an array of T for.
template <class T>
using Factor = std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>;

/// 16 x kDepth numbers of A, kDepth x 16 of B, and 16 x 16 sums, spread over a warp.
template <class T>
using FragmentA =
    wmma::fragment<wmma::matrix_a, kTile, kTile, kDepth<T>, Factor<T>, wmma::row_major>;
template <class T>
using FragmentB =
    wmma::fragment<wmma::matrix_b, kTile, kTile, kDepth<T>, Factor<T>, wmma::row_major>;
template <class T>
using FragmentC = wmma::fragment<wmma::accumulator, kTile, kTile, kDepth<T>, float>;
// #endregion fragments

// #region round
/// The numbers of a fragment of A or B, as tensor cores take them.
struct Factors {
    /// Rounds floats to TF32. Numbers of other types stay as they are. Without it a
    /// tensor core takes the upper 19 bits of each float for a number of TF32: it cuts
    /// off where it should round.
    template <class Fragment>
    static __device__ __forceinline__ void round(Fragment& fragment) {
        using Element = typename Fragment::element_type;
        if constexpr (std::is_same_v<Element, wmma::precision::tf32>) {
#pragma unroll
            for (int i = 0; i < fragment.num_elements; ++i)
                fragment.x[i] = wmma::__float_to_tf32(fragment.x[i]);
        }
    }
};
// #endregion round

// #region problem
/// What a kernel is told.
template <class T>
struct Problem {
    const T* A;  ///< [M, K], rows lda apart
    const T* B;  ///< [K, N], rows ldb apart
    float* C;    ///< [M, N], rows ldc apart
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t lda;
    int64_t ldb;
    int64_t ldc;
    bool direct_a;  ///< tiles of A lie as load_matrix_sync wants them
    bool direct_b;  ///< tiles of B
    bool direct_c;  ///< tiles of C lie as store_matrix_sync wants them
    // #endregion problem

    /// What the kernels are told of a call.
    static Problem of(const wb::GemmShape& s, const T* A, const T* B, float* C) {
        return {A,
                B,
                C,
                s.M,
                s.N,
                s.K,
                s.lda,
                s.ldb,
                s.ldc,
                may_be_direct(A, s.lda),
                may_be_direct(B, s.ldb),
                may_be_direct(C, s.ldc)};
    }

    /// Refuses wrong arguments. False if there is nothing to do.
    /// @param function  of the contract
    static bool has_work(const char* function,
                         const wb::GemmShape& s,
                         const T* A,
                         const T* B,
                         float* C) {
        const wb::Arguments arguments(function);
        arguments.require(!s.transpose_a, "shape.transpose_a", 1, "must be false here")
            .require(!s.transpose_b, "shape.transpose_b", 1, "must be false here");
        if (!wb::check_gemm(arguments, s, 1.0f, A, B, C)) return false;
        arguments.require(
            wb::compute_capability() >= 80,
            "the GPU's compute capability, times 10",
            wb::compute_capability(),
            "must be 80 or more: fragments of bf16 and TF32 came with sm_80");
        return true;
    }

 private:
    /// Whether load_matrix_sync and store_matrix_sync may take tiles from an array, or
    /// bring them there: its first element at a multiple of 32 bytes, and rows that are
    /// multiples of 16 bytes apart. Rows that are very far apart go through shared
    /// memory, too: the two functions compute addresses within a tile in 32 bits.
    template <class Element>
    static bool may_be_direct(const Element* first, int64_t ld) {
        constexpr int64_t kMostApart = int64_t{1} << 24;
        return reinterpret_cast<uintptr_t>(first) % 32 == 0 &&
               ld % int64_t{16 / sizeof(Element)} == 0 && ld <= kMostApart;
    }
};

// #region cut
/// The way around, for tiles that the edge of a matrix cuts, or that begin anywhere.
struct Edge {
    /// A warp copies a tile of a matrix to shared memory, with zeros where the matrix
    /// has no elements.
    ///
    /// @param s_tile         [kRows, kColumns] row-major, without gaps
    /// @param g_tile         the tile's first element
    /// @param ld             of the matrix
    /// @param rows, columns  that the matrix has from g_tile on, > 0; may be more than
    ///                       kRows and kColumns
    template <int kRows, int kColumns, class T>
    static __device__ inline void copy_in(
        T* s_tile, const T* g_tile, int64_t ld, int64_t rows, int64_t columns) {
        const int lane = threadIdx.x % wb::kWarpSize;
        for (int e = lane; e < kRows * kColumns; e += wb::kWarpSize) {
            const int row = e / kColumns;
            const int column = e % kColumns;
            const bool exists = row < rows && column < columns;
            s_tile[e] = exists ? g_tile[row * ld + column] : static_cast<T>(0.0f);
        }
    }

    /// The way back: a warp copies those elements of a tile that the matrix has.
    ///
    /// @param s_tile  [kTile, kTile] row-major, without gaps
    static __device__ inline void copy_out(
        const float* s_tile, float* g_tile, int64_t ld, int64_t rows, int64_t columns) {
        const int lane = threadIdx.x % wb::kWarpSize;
        for (int e = lane; e < kTile * kTile; e += wb::kWarpSize) {
            const int row = e / kTile;
            const int column = e % kTile;
            if (row < rows && column < columns) g_tile[row * ld + column] = s_tile[e];
        }
    }
};
// #endregion cut
