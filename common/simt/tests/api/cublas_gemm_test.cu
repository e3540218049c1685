#define TEST_GROUP "cublas_gemm"
#include <cstdint>
#include <limits>
#include <vector>

#include "check.h"
#include "cublas_fixture.h"

TEST(gemm_in_every_orientation) {
    Handle h;
    const int m = 7;
    const int n = 5;
    const int k = 6;
    const int ld = 9;
    const float alpha = 2;
    const float beta = -1;
    const auto A = numbers<float>(ld * 9, 5);
    const auto B = numbers<float>(ld * 9, 6);
    const auto C = numbers<float>(ld * n, 7);
    for (const auto ta : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (const auto tb : {CUBLAS_OP_N, CUBLAS_OP_C}) {
            Device<float> dA(A);
            Device<float> dB(B);
            Device<float> dC(C);
            BLAS_OK(cublasSgemm(
                h, ta, tb, m, n, k, &alpha, dA.p, ld, dB.p, ld, &beta, dC.p, ld));
            EXPECT(same(dC.get(),
                        reference(ta != CUBLAS_OP_N,
                                  tb != CUBLAS_OP_N,
                                  m,
                                  n,
                                  k,
                                  alpha,
                                  A,
                                  ld,
                                  B,
                                  ld,
                                  beta,
                                  C,
                                  ld)));
        }
}

TEST(gemm_with_beta_zero_does_not_read_c) {
    Handle h;
    const int n = 16;
    const auto A = numbers<double>(n * n, 8);
    Device<double> dA(A);
    Device<double> dC(
        std::vector<double>(n * n, std::numeric_limits<double>::quiet_NaN()));
    const double one = 1;
    const double zero = 0;
    BLAS_OK(cublasDgemm(
        h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, dA.p, n, dA.p, n, &zero, dC.p, n));
    const std::vector<double> empty(n * n);
    EXPECT(
        same(dC.get(), reference(false, false, n, n, n, 1, A, n, A, n, 0, empty, n)));
    // k = 0 leaves beta C.
    const double two = 2;
    const auto before = dC.get();
    BLAS_OK(cublasDgemm(
        h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, 0, &one, dA.p, n, dA.p, n, &two, dC.p, n));
    EXPECT(dC.get()[3] == 2 * before[3]);
}

TEST(batched_gemm) {
    Handle h;
    const int n = 4;
    const int batches = 3;
    const auto A = numbers<float>(n * n * batches, 9);
    const auto B = numbers<float>(n * n * batches, 10);
    Device<float> dA(A);
    Device<float> dB(B);
    Device<float> strided(std::vector<float>(n * n * batches, 0.f));
    Device<float> listed(std::vector<float>(n * n * batches, 0.f));
    const float one = 1;
    const float zero = 0;
    BLAS_OK(cublasSgemmStridedBatched(h,
                                      CUBLAS_OP_N,
                                      CUBLAS_OP_N,
                                      n,
                                      n,
                                      n,
                                      &one,
                                      dA.p,
                                      n,
                                      n * n,
                                      dB.p,
                                      n,
                                      n * n,
                                      &zero,
                                      strided.p,
                                      n,
                                      n * n,
                                      batches));
    std::vector<float*> a;
    std::vector<float*> b;
    std::vector<float*> c;
    for (int i = 0; i < batches; ++i) {
        a.push_back(dA.p + i * n * n);
        b.push_back(dB.p + i * n * n);
        c.push_back(listed.p + i * n * n);
    }
    Device<float*> pa(a);
    Device<float*> pb(b);
    Device<float*> pc(c);
    BLAS_OK(cublasSgemmBatched(h,
                               CUBLAS_OP_N,
                               CUBLAS_OP_N,
                               n,
                               n,
                               n,
                               &one,
                               pa.p,
                               n,
                               pb.p,
                               n,
                               &zero,
                               pc.p,
                               n,
                               batches));
    EXPECT(strided.get() == listed.get());
    const std::vector<float> A2(A.end() - n * n, A.end());
    const std::vector<float> B2(B.end() - n * n, B.end());
    const auto all = strided.get();
    const std::vector<float> last(all.end() - n * n, all.end());
    const std::vector<float> empty(n * n);
    EXPECT(same(last, reference(false, false, n, n, n, 1, A2, n, B2, n, 0, empty, n)));
}

namespace {

template <class TA, class TC, class S>
void check_mixed(cudaDataType ab_type,
                 cudaDataType c_type,
                 cublasComputeType_t compute_type,
                 int line) {
    Handle h;
    const int m = 8;
    const int n = 12;
    const int k = 16;
    const auto A = numbers<TA>(m * k, 11);
    const auto B = numbers<TA>(k * n, 12);
    const auto C = numbers<TC>(m * n, 13);
    Device<TA> dA(A);
    Device<TA> dB(B);
    Device<TC> dC(C);
    const S alpha = static_cast<S>(1.f);
    const S beta = static_cast<S>(2.f);
    const auto status = cublasGemmEx(h,
                                     CUBLAS_OP_N,
                                     CUBLAS_OP_N,
                                     m,
                                     n,
                                     k,
                                     &alpha,
                                     dA.p,
                                     ab_type,
                                     m,
                                     dB.p,
                                     ab_type,
                                     k,
                                     &beta,
                                     dC.p,
                                     c_type,
                                     m,
                                     compute_type,
                                     CUBLAS_GEMM_DEFAULT);
    check::verify(status == kSuccess, __FILE__, line, cublasGetStatusName(status));
    check::verify(
        same(dC.get(), reference(false, false, m, n, k, 1, A, m, B, k, 2, C, m)),
        __FILE__,
        line,
        "the product is exact");
}

}  // namespace

TEST(mixed_types) {
    check_mixed<__half, __half, float>(
        CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, __LINE__);
    check_mixed<__half, float, float>(
        CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, __LINE__);
    check_mixed<__half, __half, __half>(
        CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, __LINE__);
    check_mixed<__nv_bfloat16, float, float>(
        CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, __LINE__);
    check_mixed<float, float, float>(
        CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, __LINE__);
    check_mixed<float, float, float>(
        CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, __LINE__);
    check_mixed<double, double, double>(
        CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, __LINE__);
    check_mixed<int8_t, int32_t, int32_t>(
        CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, __LINE__);
}

TEST(half_gemm) {
    Handle h;
    const int n = 16;
    const auto A = numbers<__half>(n * n, 14);
    Device<__half> dA(A);
    Device<__half> dC(std::vector<__half>(n * n, __half(0.f)));
    const __half one = __half(1.f);
    const __half zero = __half(0.f);
    BLAS_OK(cublasHgemm(
        h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, dA.p, n, dA.p, n, &zero, dC.p, n));
    const std::vector<float> empty(n * n);
    EXPECT(same(dC.get(), reference(true, false, n, n, n, 1, A, n, A, n, 0, empty, n)));
}
