/// tiles.h: given with this exercise: the instruction, what a kernel is told, and what
/// the contract refuses. There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/device.h>
#include <wb/gemm.h>
#include <wb/launch.h>
#include <wb/ptx/mma.h>

#include <cstdint>
#include <type_traits>

// #region mma
/// One mma.sync multiplies 16 x 16 numbers of A with 16 x 8 numbers of B.
inline constexpr int kTileM = 16;
inline constexpr int kTileN = 8;
inline constexpr int kTileK = 16;

/// c += a * b, by the 32 lanes of a warp together.
///
/// @tparam T  __half or __nv_bfloat16
/// @param c   4 of the 16 x 8 sums
/// @param a   8 of the 16 x 16 numbers of A, two a register
/// @param b   4 of the 16 x 8 numbers of B
template <class T>
__device__ __forceinline__ void multiply_add(float (&c)[4],
                                             const uint32_t (&a)[4],
                                             const uint32_t (&b)[2]) {
    if constexpr (std::is_same_v<T, __half>)
        wb::ptx::mma_m16n8k16_f16(c, a, b);
    else
        wb::ptx::mma_m16n8k16_bf16(c, a, b);
}
// #endregion mma

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
    bool vectors_a;  ///< all rows of A begin at multiples of 16 bytes
    bool vectors_b;  ///< of B
    bool pairs_c;    ///< all rows of C begin at multiples of 8 bytes
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
                rows_begin_at<16>(A, s.lda),
                rows_begin_at<16>(B, s.ldb),
                rows_begin_at<8>(C, s.ldc)};
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
        arguments.require(wb::compute_capability() >= 80,
                          "the GPU's compute capability, times 10",
                          wb::compute_capability(),
                          "must be 80 or more: mma.m16n8k16 came with sm_80");
        return true;
    }

 private:
    /// Whether a matrix begins at a multiple of kBytes bytes, and each row as well.
    template <int kBytes, class Element>
    static bool rows_begin_at(const Element* first, int64_t ld) {
        return reinterpret_cast<uintptr_t>(first) % kBytes == 0 &&
               ld % int64_t{kBytes / sizeof(Element)} == 0;
    }
};
