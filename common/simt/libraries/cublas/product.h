#pragma once
// Products on the CPU as cuBLAS defines them. With beta = 0 the old contents of the
// result are not read, so that a NaN there does not survive: not every CPU library
// keeps that.

#include "blas.h"

namespace simt::cublas {

/// Sets a vector of n elements to zero.
template <class T>
void clear_vector(T* y, int n, int incy) {
    const size_t step = static_cast<size_t>(incy < 0 ? -incy : incy);
    for (int i = 0; i < n; ++i)
        y[static_cast<size_t>(i) * step] = T();
}

/// Sets a column-major matrix of m x n to zero.
template <class T>
void clear_matrix(T* C, int m, int n, int ldc) {
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
            C[static_cast<size_t>(j) * ldc + i] = T();
}

/// C = alpha op(A) op(B) + beta C, column-major.
template <class T>
void multiply(cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
              T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
              int ldc) {
    if (m == 0 || n == 0) return;
    if (beta == T()) clear_matrix(C, m, n, ldc);
    blas::Routines<T>::gemm(CblasColMajor, blas::cpu(transa), blas::cpu(transb), m, n,
                            k, alpha, A, lda, B, ldb, beta, C, ldc);
}

}  // namespace simt::cublas
