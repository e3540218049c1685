#pragma once
// Products of matrices whose element types are chosen at run time: the operands are
// converted to the type in which the sums are kept, multiplied by the CPU's BLAS, and
// the result is rounded once.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "call.h"
#include "cuda_bf16.h"
#include "product.h"

namespace simt::cublas {

/// How a compute type works: what sums are kept in, and what alpha and beta are.
enum class Arithmetic { f32, f16, f64, i32, unknown };

inline Arithmetic arithmetic_of(cublasComputeType_t type) {
    switch (type) {
        case CUBLAS_COMPUTE_32F:
        case CUBLAS_COMPUTE_32F_PEDANTIC:
        case CUBLAS_COMPUTE_32F_FAST_16F:
        case CUBLAS_COMPUTE_32F_FAST_16BF:
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            return Arithmetic::f32;
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return Arithmetic::f16;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return Arithmetic::f64;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return Arithmetic::i32;
    }
    return Arithmetic::unknown;
}

/// The rows of cuBLAS's table of combinations that are supported.
inline bool is_supported(Arithmetic arithmetic, cudaDataType ab, cudaDataType c) {
    switch (arithmetic) {
        case Arithmetic::f32:
            return (ab == CUDA_R_32F && c == CUDA_R_32F) ||
                   (ab == CUDA_R_16F && (c == CUDA_R_16F || c == CUDA_R_32F)) ||
                   (ab == CUDA_R_16BF && (c == CUDA_R_16BF || c == CUDA_R_32F)) ||
                   (ab == CUDA_R_8I && c == CUDA_R_32F);
        case Arithmetic::f16:
            return ab == CUDA_R_16F && c == CUDA_R_16F;
        case Arithmetic::f64:
            return ab == CUDA_R_64F && c == CUDA_R_64F;
        case Arithmetic::i32:
            return ab == CUDA_R_8I && c == CUDA_R_32I;
        case Arithmetic::unknown:
            break;
    }
    return false;
}

inline size_t size_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_8I:
            return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF:
            return 2;
        case CUDA_R_64F:
            return 8;
        default:
            return 4;
    }
}

/// Calls `body` with a null pointer of the C++ type behind `type`.
template <class Body>
void with_type(cudaDataType type, Body body) {
    switch (type) {
        case CUDA_R_8I:
            return body(static_cast<const int8_t*>(nullptr));
        case CUDA_R_16F:
            return body(static_cast<const __half*>(nullptr));
        case CUDA_R_16BF:
            return body(static_cast<const __nv_bfloat16*>(nullptr));
        case CUDA_R_32I:
            return body(static_cast<const int32_t*>(nullptr));
        case CUDA_R_64F:
            return body(static_cast<const double*>(nullptr));
        default:
            return body(static_cast<const float*>(nullptr));
    }
}

template <class T>
auto widen(T value) {
    if constexpr (std::is_arithmetic_v<T>)
        return value;
    else
        return static_cast<float>(value);
}

/// A matrix of rows x cols, copied without gaps and converted to Sum.
template <class Sum>
std::vector<Sum> unpack(const void* data, cudaDataType type, int rows, int cols,
                        int ld) {
    std::vector<Sum> packed(static_cast<size_t>(rows) * static_cast<size_t>(cols));
    with_type(type, [&](auto* tag) {
        const auto* source = static_cast<decltype(tag)>(data);
        auto next = packed.begin();
        for (int j = 0; j < cols; ++j)
            for (int i = 0; i < rows; ++i)
                *next++ =
                    static_cast<Sum>(widen(source[static_cast<size_t>(j) * ld + i]));
    });
    return packed;
}

/// Shape, types and place of one multiplication.
struct Problem {
    cublasOperation_t transa, transb;
    int m, n, k;
    const void* A;
    const void* B;
    void* C;
    cudaDataType ab_type, c_type;
    int lda, ldb, ldc;
};

/// C = alpha products + beta C, rounded to C's type.
template <class Sum>
void store(const Problem& p, const std::vector<Sum>& products, Sum alpha, Sum beta) {
    with_type(p.c_type, [&](auto* tag) {
        using Element = std::remove_const_t<std::remove_pointer_t<decltype(tag)>>;
        auto* C = static_cast<Element*>(p.C);
        auto product = products.begin();
        for (int j = 0; j < p.n; ++j)
            for (int i = 0; i < p.m; ++i) {
                Element& c = C[static_cast<size_t>(j) * p.ldc + i];
                Sum sum = alpha * *product++;
                if (beta != Sum()) sum += beta * static_cast<Sum>(widen(c));
                if constexpr (std::is_same_v<Element, int32_t>)
                    c = static_cast<int32_t>(static_cast<int64_t>(sum));
                else
                    c = static_cast<Element>(sum);
            }
    });
}

/// One multiplication with sums in Sum. Products of 8-bit integers are exact in double.
template <class Sum>
void multiply_as(const Problem& p, Sum alpha, Sum beta) {
    if (p.m == 0 || p.n == 0) return;
    const int a_rows = stored_rows(p.transa, p.m, p.k);
    const int a_cols = stored_cols(p.transa, p.m, p.k);
    const int b_rows = stored_rows(p.transb, p.k, p.n);
    const int b_cols = stored_cols(p.transb, p.k, p.n);
    const auto A = unpack<Sum>(p.A, p.ab_type, a_rows, a_cols, p.lda);
    const auto B = unpack<Sum>(p.B, p.ab_type, b_rows, b_cols, p.ldb);
    std::vector<Sum> products(static_cast<size_t>(p.m) * static_cast<size_t>(p.n));
    multiply(p.transa, p.transb, p.m, p.n, p.k, Sum(1), A.data(), std::max(1, a_rows),
             B.data(), std::max(1, b_rows), Sum(0), products.data(), p.m);
    store(p, products, alpha, beta);
}

}  // namespace simt::cublas
