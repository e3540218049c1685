/// library.h: given with this exercise: the products of a step by cuBLAS, kind by kind,
/// to see what each is worth. There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/gemm.h>

/// Kinds of products, as bits. Of y = x w^T:
enum ProductKind : unsigned {
    kOutputs = 1,          ///< y; in bf16 never cuBLAS: a bias or a GELU follows it
    kInputGradients = 2,   ///< dx = dy w
    kWeightGradients = 4,  ///< dw = dy^T x
    kAllProducts = 7,
};

/// Whether this program has cuBLAS: where CUDA's toolkit has one. The simulator's
/// programs do not.
bool has_cublas();

/// Refuses kinds that are to be done by cuBLAS in a program that has none, and bits
/// that are no kind.
///
/// Throws wb::InvalidArgument
void check_cublas_kinds(const char* function, unsigned kinds);

/// C = op(A) op(B) + beta C by cuBLAS; arguments as of sgemm() in chapter 04/01, and as
/// of wgmma_tma_bf16() in chapter 04/04, but that A may be transposed. In float without
/// TF32, in bf16 with sums in float.
///
/// @param stream  where the work is queued
///
/// Throws wb::CublasError, and wb::InvalidArgument where there is no cuBLAS
void cublas_product(const wb::GemmShape& shape,
                    const float* A,
                    const float* B,
                    float beta,
                    float* C,
                    cudaStream_t stream);
void cublas_product(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream);
void cublas_product(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    float* C,
                    cudaStream_t stream);
