#pragma once
// Matrices and products of cuBLASLt for the tests.

#include <cublasLt.h>

#include <vector>

#include "cublas_fixture.h"

namespace check {

struct LtHandle {
    cublasLtHandle_t h = nullptr;
    LtHandle() { cublasLtCreate(&h); }
    ~LtHandle() { cublasLtDestroy(h); }
};

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;

/// A matrix, or a batch of them, in device memory.
template <class T>
struct Matrix {
    cublasLtMatrixLayout_t layout = nullptr;
    Device<T> data;
    Matrix(const std::vector<T>& values, int rows, int cols, int ld) : data(values) {
        cublasLtMatrixLayoutCreate(&layout, kType<T>, rows, cols, ld);
    }
    ~Matrix() { cublasLtMatrixLayoutDestroy(layout); }
    void set(cublasLtMatrixLayoutAttribute_t attribute, auto value) {
        BLAS_OK(
            cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value));
    }
    void by_rows() { set(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_ROW); }
    void batch(int32_t count, int64_t stride) {
        set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
        set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    }
};

struct Product {
    LtHandle handle;
    cublasLtMatmulDesc_t p = nullptr;
    Product() { cublasLtMatmulDescCreate(&p, CUBLAS_COMPUTE_32F, CUDA_R_32F); }
    ~Product() { cublasLtMatmulDescDestroy(p); }
    void set(cublasLtMatmulDescAttributes_t attribute, auto value) {
        BLAS_OK(cublasLtMatmulDescSetAttribute(p, attribute, &value, sizeof value));
    }
    void epilogue(cublasLtEpilogue_t e) { set(CUBLASLT_MATMUL_DESC_EPILOGUE, e); }

    /// D = alpha A B + beta C, with the algorithm that the heuristic finds.
    template <class T>
    cublasStatus_t run(const Matrix<T>& A,
                       const Matrix<T>& B,
                       const Matrix<T>& C,
                       const Matrix<T>& D,
                       const float* alpha,
                       const float* beta) {
        cublasLtMatmulPreference_t preference = nullptr;
        BLAS_OK(cublasLtMatmulPreferenceCreate(&preference));
        cublasLtMatmulHeuristicResult_t found = {};
        int count = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle.h,
                                                                     p,
                                                                     A.layout,
                                                                     B.layout,
                                                                     C.layout,
                                                                     D.layout,
                                                                     preference,
                                                                     1,
                                                                     &found,
                                                                     &count);
        BLAS_OK(cublasLtMatmulPreferenceDestroy(preference));
        if (status != kSuccess) return status;
        EXPECT(count == 1);
        const cublasStatus_t done = cublasLtMatmul(handle.h,
                                                   p,
                                                   alpha,
                                                   A.data.p,
                                                   A.layout,
                                                   B.data.p,
                                                   B.layout,
                                                   beta,
                                                   C.data.p,
                                                   C.layout,
                                                   D.data.p,
                                                   D.layout,
                                                   &found.algo,
                                                   nullptr,
                                                   0,
                                                   nullptr);
        OK(cudaDeviceSynchronize());
        return done;
    }
};

}  // namespace check

using check::Matrix;
using check::Product;
