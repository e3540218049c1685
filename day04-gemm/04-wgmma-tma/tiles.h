/// tiles.h: given with this exercise: what the contract refuses, and the sizes of the
/// versions that you write. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/hopper_gemm/kernel.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "wgmma_tma.h"

using wb::hopper_gemm::LayoutB;
using wb::hopper_gemm::Operands;
using wb::hopper_gemm::Place;
using wb::hopper_gemm::PlainEpilogue;
using wb::hopper_gemm::Problem;
using wb::hopper_gemm::Product;
using wb::hopper_gemm::ScaleEpilogue;
using wb::hopper_gemm::SharedTiles;
using wb::hopper_gemm::Sums;
using wb::hopper_gemm::TensorMaps;
using wb::hopper_gemm::TileSizes;
using wb::hopper_gemm::Tiling;

/// Refuses GPUs that lack the instructions.
inline void require_hopper(const wb::Arguments& arguments) {
#if !defined(SIMT_CPU)
    const int capability = wb::compute_capability();
    arguments.require(capability == 90,
                      "the GPU's compute capability, times 10",
                      capability,
                      "must be 90 (H100, H200, GH200): wgmma exists on no other GPU; "
                      "chapter 03 runs here");
#else
    (void)arguments;
#endif
}

/// Refuses a matrix that the TMA unit cannot copy.
///
/// @param name   of the matrix
/// @param ld     its leading dimension, called ld_name
template <class T>
void require_rows_of_16_bytes(const wb::Arguments& arguments,
                              const char* name,
                              const T* matrix,
                              const char* ld_name,
                              int64_t ld) {
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(matrix) % 16);
    arguments
        .require(past == 0,
                 (std::string(name) + ": address % 16").c_str(),
                 past,
                 "must be 0 for the TMA unit")
        .require(ld % int64_t{16 / sizeof(T)} == 0,
                 ld_name,
                 ld,
                 "must be a multiple of 16 bytes for the TMA unit")
        .require(ld < (int64_t{1} << 40) / int64_t{sizeof(T)},
                 ld_name,
                 ld,
                 "must be less than 2^40 bytes for the TMA unit");
}

/// Refuses wrong arguments. False if C has no elements, so that there is nothing to do.
///
/// @param function  of the contract
template <class T, class CType>
bool has_work(
    const char* function, const wb::GemmShape& s, const T* A, const T* B, CType* C) {
    const wb::Arguments arguments(function);
    arguments.require(!s.transpose_a, "shape.transpose_a", 1, "must be false here")
        .require(s.transpose_b || sizeof(T) == 2,
                 "shape.transpose_b",
                 0,
                 "must be true: wgmma takes 8-bit factors along K only")
        .require(s.M % 8 == 0, "shape.M", s.M, "must be a multiple of 8")
        .require(s.N % 8 == 0, "shape.N", s.N, "must be a multiple of 8");
    if (!wb::check_gemm(arguments, s, 1.0f, A, B, C)) return false;
    if (s.K > 0) {
        require_rows_of_16_bytes(arguments, "A", A, "shape.lda", s.lda);
        require_rows_of_16_bytes(arguments, "B", B, "shape.ldb", s.ldb);
    }
    require_rows_of_16_bytes(arguments, "C", C, "shape.ldc", s.ldc);
    require_hopper(arguments);
    return true;
}

/// The same with the scales of FP8.
inline bool has_work(const char* function,
                     const wb::GemmShape& s,
                     const __nv_fp8_e4m3* A,
                     const __nv_fp8_e4m3* B,
                     const float* scale_a,
                     const float* scale_b,
                     __nv_bfloat16* C) {
    if (!has_work(function, s, A, B, C)) return false;
    if (s.K == 0) return true;
    const int64_t of_c = s.elements_of_c() * int64_t{sizeof(__nv_bfloat16)};
    wb::Arguments(function)
        .device("scale_a", scale_a, s.M)
        .device("scale_b", reinterpret_cast<const float2*>(scale_b), s.N / 2)
        .apart({{"scale_a", scale_a, s.M * int64_t{sizeof(float)}, false},
                {"scale_b", scale_b, s.N * int64_t{sizeof(float)}, false},
                {"C", C, of_c, true}});
    return true;
}

/// Calls launch(layout, product) with the layout of B as a std::integral_constant, and
/// with all matrices. Without K there is nothing to multiply: clears C instead, for of
/// a matrix without elements there is no tensor map.
template <class T, class CType, class Launch>
void with_product(const wb::GemmShape& s,
                  const T* A,
                  const T* B,
                  CType* C,
                  cudaStream_t stream,
                  Launch launch) {
    if (s.K == 0) {
        CUDA_CHECK(cudaMemset2DAsync(C,
                                     static_cast<size_t>(s.ldc) * sizeof(CType),
                                     0,
                                     static_cast<size_t>(s.N) * sizeof(CType),
                                     static_cast<size_t>(s.M),
                                     stream));
        return;
    }
    const auto product = Product<T, CType>::of(s, A, B, C, stream);
    if constexpr (sizeof(T) == 2) {
        if (!s.transpose_b)
            return launch(std::integral_constant<LayoutB, LayoutB::rows_of_k>(),
                          product);
    }
    launch(std::integral_constant<LayoutB, LayoutB::rows_of_n>(), product);
}

// #region sizes
/// v1: 128 x 128 sums by one warpgroup, and one stage.
inline constexpr Tiling kTilingV1 = {.block_rows = 128,
                                     .block_columns = 128,
                                     .stages = 1,
                                     .consumers = 1,
                                     .store_buffers = 0};
/// v2: the same tile, four stages.
inline constexpr Tiling kTilingV2 = {.block_rows = 128,
                                     .block_columns = 128,
                                     .stages = 4,
                                     .consumers = 1,
                                     .store_buffers = 0};
// #endregion sizes
