#pragma once
// GEMM in half precision and with types chosen at run time. Products are added up in
// the compute type (16-bit compute types add up in float) and rounded once to the type
// of C.

#include "cuda_fp16.h"
#include "simt/api/types.h"
#include "types.h"

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const __half* alpha, const __half* A, int lda,
                           const __half* B, int ldb, const __half* beta, __half* C,
                           int ldc);
cublasStatus_t cublasHgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const __half* alpha, const __half* A, int lda, long long stride_a,
    const __half* B, int ldb, long long stride_b, const __half* beta, __half* C,
    int ldc, long long stride_c, int batch_count);

/// C = alpha op(A) op(B) + beta C. Types of A and B / C / alpha and beta:
///   COMPUTE_32F*  16F / 16F or 32F;  16BF / 16BF or 32F;  8I / 32F;  32F / 32F;  float
///   COMPUTE_16F*  16F / 16F;  half
///   COMPUTE_64F*  64F / 64F;  double
///   COMPUTE_32I*  8I / 32I;  int
/// @returns CUBLAS_STATUS_NOT_SUPPORTED for any other combination.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k,
                            const void* alpha, const void* A, cudaDataType a_type,
                            int lda, const void* B, cudaDataType b_type, int ldb,
                            const void* beta, void* C, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute_type,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k,
                                   const void* alpha, const void* const A[],
                                   cudaDataType a_type, int lda, const void* const B[],
                                   cudaDataType b_type, int ldb, const void* beta,
                                   void* const C[], cudaDataType c_type, int ldc,
                                   int batch_count, cublasComputeType_t compute_type,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const void* alpha, const void* A, cudaDataType a_type, int lda,
    long long stride_a, const void* B, cudaDataType b_type, int ldb, long long stride_b,
    const void* beta, void* C, cudaDataType c_type, int ldc, long long stride_c,
    int batch_count, cublasComputeType_t compute_type, cublasGemmAlgo_t algorithm);
/// float scalars, types of A, B and C at run time.
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k,
                             const float* alpha, const void* A, cudaDataType a_type,
                             int lda, const void* B, cudaDataType b_type, int ldb,
                             const float* beta, void* C, cudaDataType c_type, int ldc);

namespace simt::detail {
/// The compute type that old programs named by a data type.
inline cublasComputeType_t compute_type_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_64F:
            return CUBLAS_COMPUTE_64F;
        case CUDA_R_32I:
            return CUBLAS_COMPUTE_32I;
        case CUDA_R_16F:
            return CUBLAS_COMPUTE_16F;
        default:
            return CUBLAS_COMPUTE_32F;
    }
}
}  // namespace simt::detail

/// The form of CUDA 10 and older.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k,
                                   const void* alpha, const void* A,
                                   cudaDataType a_type, int lda, const void* B,
                                   cudaDataType b_type, int ldb, const void* beta,
                                   void* C, cudaDataType c_type, int ldc,
                                   cudaDataType compute_type,
                                   cublasGemmAlgo_t algorithm) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, a_type, lda, B,
                        b_type, ldb, beta, C, c_type, ldc,
                        simt::detail::compute_type_of(compute_type), algorithm);
}
