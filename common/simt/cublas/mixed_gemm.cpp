// GEMM in 16-bit and mixed types: the operands are converted to the type in which the sums
// are kept, multiplied by the CPU's BLAS, and the result is rounded once.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "call.h"
#include "cuda_bf16.h"
#include "product.h"

using namespace simt::cublas;

namespace {

/// How a compute type works: what sums are kept in, and what alpha and beta are.
enum class Arithmetic { f32, f16, f64, i32, unknown };

Arithmetic arithmetic_of(cublasComputeType_t type) {
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
bool is_supported(Arithmetic arithmetic, cudaDataType ab, cudaDataType c) {
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

size_t size_of(cudaDataType type) {
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
std::vector<Sum> unpack(const void* data, cudaDataType type, int rows, int cols, int ld) {
    std::vector<Sum> packed(static_cast<size_t>(rows) * static_cast<size_t>(cols));
    with_type(type, [&](auto* tag) {
        const auto* source = static_cast<decltype(tag)>(data);
        auto next = packed.begin();
        for (int j = 0; j < cols; ++j)
            for (int i = 0; i < rows; ++i)
                *next++ = static_cast<Sum>(
                    widen(source[static_cast<size_t>(j) * ld + i]));
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
    multiply(p.transa,
             p.transb,
             p.m,
             p.n,
             p.k,
             Sum(1),
             A.data(),
             std::max(1, a_rows),
             B.data(),
             std::max(1, b_rows),
             Sum(0),
             products.data(),
             p.m);
    store(p, products, alpha, beta);
}

/// The checks that are the same for every multiplication of a batch.
void check_problem(Call& call, const Problem& p) {
    call.matrix(p.A,
                stored_rows(p.transa, p.m, p.k),
                stored_cols(p.transa, p.m, p.k),
                p.lda,
                size_of(p.ab_type),
                "A");
    call.matrix(p.B,
                stored_rows(p.transb, p.k, p.n),
                stored_cols(p.transb, p.k, p.n),
                p.ldb,
                size_of(p.ab_type),
                "B");
    call.matrix(p.C, p.m, p.n, p.ldc, size_of(p.c_type), "C");
}

/// Runs all multiplications with scalars of type S and sums of type Sum.
template <class Sum, class S>
cublasStatus_t run_batch(Call& call,
                         const std::vector<Problem>& batch,
                         const void* alpha,
                         const void* beta) {
    const auto a = call.scalar(static_cast<const S*>(alpha), "alpha");
    const auto b = call.scalar(static_cast<const S*>(beta), "beta");
    return call.run([=] {
        for (const Problem& p : batch)
            multiply_as<Sum>(
                p, static_cast<Sum>(widen(a())), static_cast<Sum>(widen(b())));
    });
}

/// Any number of multiplications: `place(problem, i)` sets the pointers of the i-th.
template <class Place>
cublasStatus_t gemm_batch(Call& call,
                          Problem shape,
                          cudaDataType b_type,
                          const void* alpha,
                          const void* beta,
                          cublasComputeType_t compute_type,
                          int batch_count,
                          Place place) {
    const Arithmetic arithmetic = arithmetic_of(compute_type);
    call.sizes({shape.m, shape.n, shape.k, batch_count});
    call.operation(shape.transa);
    call.operation(shape.transb);
    const bool supported = shape.ab_type == b_type &&
                           is_supported(arithmetic, shape.ab_type, shape.c_type);
    if (!supported) call.fail(CUBLAS_STATUS_NOT_SUPPORTED);
    std::vector<Problem> batch;
    for (int i = 0; call.ok() && i < batch_count; ++i) {
        batch.push_back(shape);
        place(batch.back(), i);
        check_problem(call, batch.back());
    }
    switch (arithmetic) {
        case Arithmetic::f64:
            return run_batch<double, double>(call, batch, alpha, beta);
        case Arithmetic::i32:
            return run_batch<double, int32_t>(call, batch, alpha, beta);
        case Arithmetic::f16:
            return run_batch<float, __half>(call, batch, alpha, beta);
        default:
            return run_batch<float, float>(call, batch, alpha, beta);
    }
}

const void* shifted(const void* pointer, long long elements, cudaDataType type) {
    return static_cast<const char*>(pointer) +
           elements * static_cast<long long>(size_of(type));
}

}  // namespace

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle,
                                          cublasOperation_t transa,
                                          cublasOperation_t transb,
                                          int m,
                                          int n,
                                          int k,
                                          const void* alpha,
                                          const void* A,
                                          cudaDataType a_type,
                                          int lda,
                                          long long stride_a,
                                          const void* B,
                                          cudaDataType b_type,
                                          int ldb,
                                          long long stride_b,
                                          const void* beta,
                                          void* C,
                                          cudaDataType c_type,
                                          int ldc,
                                          long long stride_c,
                                          int batch_count,
                                          cublasComputeType_t compute_type,
                                          cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmStridedBatchedEx");
    const Problem shape = {
        transa, transb, m, n, k, A, B, C, a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call,
                      shape,
                      b_type,
                      alpha,
                      beta,
                      compute_type,
                      batch_count,
                      [&](Problem& p, int i) {
                          p.A = shifted(A, i * stride_a, a_type);
                          p.B = shifted(B, i * stride_b, b_type);
                          p.C = const_cast<void*>(shifted(C, i * stride_c, c_type));
                      });
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle,
                                   cublasOperation_t transa,
                                   cublasOperation_t transb,
                                   int m,
                                   int n,
                                   int k,
                                   const void* alpha,
                                   const void* const A[],
                                   cudaDataType a_type,
                                   int lda,
                                   const void* const B[],
                                   cudaDataType b_type,
                                   int ldb,
                                   const void* beta,
                                   void* const C[],
                                   cudaDataType c_type,
                                   int ldc,
                                   int batch_count,
                                   cublasComputeType_t compute_type,
                                   cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmBatchedEx");
    call.vector(A, batch_count, 1, "Aarray");
    call.vector(B, batch_count, 1, "Barray");
    call.vector(C, batch_count, 1, "Carray");
    const Problem shape = {
        transa, transb, m, n, k, nullptr, nullptr, nullptr, a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call,
                      shape,
                      b_type,
                      alpha,
                      beta,
                      compute_type,
                      batch_count,
                      [&](Problem& p, int i) {
                          p.A = A[i];
                          p.B = B[i];
                          p.C = C[i];
                      });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle,
                            cublasOperation_t transa,
                            cublasOperation_t transb,
                            int m,
                            int n,
                            int k,
                            const void* alpha,
                            const void* A,
                            cudaDataType a_type,
                            int lda,
                            const void* B,
                            cudaDataType b_type,
                            int ldb,
                            const void* beta,
                            void* C,
                            cudaDataType c_type,
                            int ldc,
                            cublasComputeType_t compute_type,
                            cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmEx");
    const Problem shape = {
        transa, transb, m, n, k, A, B, C, a_type, c_type, lda, ldb, ldc};
    return gemm_batch(
        call, shape, b_type, alpha, beta, compute_type, 1, [](Problem&, int) {});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle,
                             cublasOperation_t transa,
                             cublasOperation_t transb,
                             int m,
                             int n,
                             int k,
                             const float* alpha,
                             const void* A,
                             cudaDataType a_type,
                             int lda,
                             const void* B,
                             cudaDataType b_type,
                             int ldb,
                             const float* beta,
                             void* C,
                             cudaDataType c_type,
                             int ldc) {
    Call call(handle, "cublasSgemmEx");
    const Problem shape = {
        transa, transb, m, n, k, A, B, C, a_type, c_type, lda, ldb, ldc};
    return gemm_batch(
        call, shape, b_type, alpha, beta, CUBLAS_COMPUTE_32F, 1, [](Problem&, int) {});
}

cublasStatus_t cublasHgemm(cublasHandle_t handle,
                           cublasOperation_t transa,
                           cublasOperation_t transb,
                           int m,
                           int n,
                           int k,
                           const __half* alpha,
                           const __half* A,
                           int lda,
                           const __half* B,
                           int ldb,
                           const __half* beta,
                           __half* C,
                           int ldc) {
    return cublasHgemmStridedBatched(handle,
                                     transa,
                                     transb,
                                     m,
                                     n,
                                     k,
                                     alpha,
                                     A,
                                     lda,
                                     0,
                                     B,
                                     ldb,
                                     0,
                                     beta,
                                     C,
                                     ldc,
                                     0,
                                     1);
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle,
                                         cublasOperation_t transa,
                                         cublasOperation_t transb,
                                         int m,
                                         int n,
                                         int k,
                                         const __half* alpha,
                                         const __half* A,
                                         int lda,
                                         long long stride_a,
                                         const __half* B,
                                         int ldb,
                                         long long stride_b,
                                         const __half* beta,
                                         __half* C,
                                         int ldc,
                                         long long stride_c,
                                         int batch_count) {
    Call call(handle, "cublasHgemm");
    const Problem shape = {
        transa, transb, m, n, k, A, B, C, CUDA_R_16F, CUDA_R_16F, lda, ldb, ldc};
    return gemm_batch(call,
                      shape,
                      CUDA_R_16F,
                      alpha,
                      beta,
                      CUBLAS_COMPUTE_16F,
                      batch_count,
                      [&](Problem& p, int i) {
                          p.A = A + i * stride_a;
                          p.B = B + i * stride_b;
                          p.C = C + i * stride_c;
                      });
}
