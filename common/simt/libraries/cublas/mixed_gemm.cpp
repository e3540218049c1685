// GEMM in 16-bit and mixed types: the public functions and their checks.

#include "mixed_product.h"

using namespace simt::cublas;

namespace {

/// The checks that are the same for every multiplication of a batch.
void check_problem(Call& call, const Problem& p) {
    call.matrix(p.A, stored_rows(p.transa, p.m, p.k), stored_cols(p.transa, p.m, p.k),
                p.lda, size_of(p.ab_type), "A");
    call.matrix(p.B, stored_rows(p.transb, p.k, p.n), stored_cols(p.transb, p.k, p.n),
                p.ldb, size_of(p.ab_type), "B");
    call.matrix(p.C, p.m, p.n, p.ldc, size_of(p.c_type), "C");
    call.writes_matrix(p.C, p.m, p.n, p.ldc, size_of(p.c_type));
}

/// Runs all multiplications with scalars of type S and sums of type Sum.
template <class Sum, class S>
cublasStatus_t run_batch(Call& call, const std::vector<Problem>& batch,
                         const void* alpha, const void* beta) {
    const auto a = call.scalar(static_cast<const S*>(alpha), "alpha");
    const auto b = call.scalar(static_cast<const S*>(beta), "beta");
    return call.run([=] {
        for (const Problem& p : batch)
            multiply_as<Sum>(p, static_cast<Sum>(widen(a())),
                             static_cast<Sum>(widen(b())));
    });
}

/// Any number of multiplications: `place(problem, i)` sets the pointers of the i-th.
template <class Place>
cublasStatus_t gemm_batch(Call& call, Problem shape, cudaDataType b_type,
                          const void* alpha, const void* beta,
                          cublasComputeType_t compute_type, int batch_count,
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

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const void* alpha, const void* A, cudaDataType a_type, int lda,
    long long stride_a, const void* B, cudaDataType b_type, int ldb, long long stride_b,
    const void* beta, void* C, cudaDataType c_type, int ldc, long long stride_c,
    int batch_count, cublasComputeType_t compute_type, cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmStridedBatchedEx");
    const Problem shape = {transa, transb, m,      n,   k,   A,  B,
                           C,      a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call, shape, b_type, alpha, beta, compute_type, batch_count,
                      [&](Problem& p, int i) {
                          p.A = shifted(A, i * stride_a, a_type);
                          p.B = shifted(B, i * stride_b, b_type);
                          p.C = const_cast<void*>(shifted(C, i * stride_c, c_type));
                      });
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k,
                                   const void* alpha, const void* const A[],
                                   cudaDataType a_type, int lda, const void* const B[],
                                   cudaDataType b_type, int ldb, const void* beta,
                                   void* const C[], cudaDataType c_type, int ldc,
                                   int batch_count, cublasComputeType_t compute_type,
                                   cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmBatchedEx");
    call.vector(A, batch_count, 1, "Aarray");
    call.vector(B, batch_count, 1, "Barray");
    call.vector(C, batch_count, 1, "Carray");
    const Problem shape = {transa,  transb, m,      n,   k,   nullptr, nullptr,
                           nullptr, a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call, shape, b_type, alpha, beta, compute_type, batch_count,
                      [&](Problem& p, int i) {
                          p.A = A[i];
                          p.B = B[i];
                          p.C = C[i];
                      });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k,
                            const void* alpha, const void* A, cudaDataType a_type,
                            int lda, const void* B, cudaDataType b_type, int ldb,
                            const void* beta, void* C, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute_type, cublasGemmAlgo_t) {
    Call call(handle, "cublasGemmEx");
    const Problem shape = {transa, transb, m,      n,   k,   A,  B,
                           C,      a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call, shape, b_type, alpha, beta, compute_type, 1,
                      [](Problem&, int) {});
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k,
                             const float* alpha, const void* A, cudaDataType a_type,
                             int lda, const void* B, cudaDataType b_type, int ldb,
                             const float* beta, void* C, cudaDataType c_type, int ldc) {
    Call call(handle, "cublasSgemmEx");
    const Problem shape = {transa, transb, m,      n,   k,   A,  B,
                           C,      a_type, c_type, lda, ldb, ldc};
    return gemm_batch(call, shape, b_type, alpha, beta, CUBLAS_COMPUTE_32F, 1,
                      [](Problem&, int) {});
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const __half* alpha, const __half* A, int lda,
                           const __half* B, int ldb, const __half* beta, __half* C,
                           int ldc) {
    return cublasHgemmStridedBatched(handle, transa, transb, m, n, k, alpha, A, lda, 0,
                                     B, ldb, 0, beta, C, ldc, 0, 1);
}

cublasStatus_t cublasHgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const __half* alpha, const __half* A, int lda, long long stride_a,
    const __half* B, int ldb, long long stride_b, const __half* beta, __half* C,
    int ldc, long long stride_c, int batch_count) {
    Call call(handle, "cublasHgemm");
    const Problem shape = {transa, transb,     m,          n,   k,   A,  B,
                           C,      CUDA_R_16F, CUDA_R_16F, lda, ldb, ldc};
    return gemm_batch(call, shape, CUDA_R_16F, alpha, beta, CUBLAS_COMPUTE_16F,
                      batch_count, [&](Problem& p, int i) {
                          p.A = A + i * stride_a;
                          p.B = B + i * stride_b;
                          p.C = C + i * stride_c;
                      });
}
