#define TEST_GROUP "cublas"
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "cublas_fixture.h"

TEST(handles) {
    cublasHandle_t handle = nullptr;
    BLAS_OK(cublasCreate(&handle));
    int version = 0;
    BLAS_OK(cublasGetVersion(handle, &version));
    EXPECT(version >= 110000);
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    BLAS_OK(cublasSetStream(handle, stream));
    cudaStream_t got = nullptr;
    BLAS_OK(cublasGetStream(handle, &got));
    EXPECT(got == stream);
    cublasPointerMode_t mode;
    BLAS_OK(cublasGetPointerMode(handle, &mode));
    EXPECT(mode == CUBLAS_POINTER_MODE_HOST);
    BLAS_OK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    cublasMath_t math;
    BLAS_OK(cublasGetMathMode(handle, &math));
    EXPECT(math == CUBLAS_TF32_TENSOR_OP_MATH);
    BLAS_OK(cublasSetWorkspace(handle, nullptr, 0));
    BLAS_OK(cublasDestroy(handle));
    OK(cudaStreamDestroy(stream));
    EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasSetStream(nullptr, nullptr));
    EXPECT(std::string(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE)) ==
           "CUBLAS_STATUS_INVALID_VALUE");
    EXPECT(std::string(cublasGetStatusString(CUBLAS_STATUS_SUCCESS)) == "success");
}

TEST(vectors) {
    Handle h;
    const int n = 77;
    const auto x = numbers<float>(n, 1);
    const auto y = numbers<float>(n, 2);
    Device<float> dx(x);
    Device<float> dy(y);
    const float alpha = 3;
    BLAS_OK(cublasSaxpy(h, n, &alpha, dx.p, 1, dy.p, 1));
    bool right = true;
    const auto sum = dy.get();
    for (int i = 0; i < n; ++i)
        right &= sum[i] == 3 * x[i] + y[i];
    EXPECT(right);
    double dot = 0;
    double squares = 0;
    double absolute = 0;
    for (int i = 0; i < n; ++i) {
        dot += x[i] * sum[i];
        squares += x[i] * x[i];
        absolute += std::fabs(x[i]);
    }
    float result = 0;
    BLAS_OK(cublasSdot(h, n, dx.p, 1, dy.p, 1, &result));
    EXPECT(result == dot);
    BLAS_OK(cublasSnrm2(h, n, dx.p, 1, &result));
    EXPECT(std::fabs(result - std::sqrt(squares)) < 1e-4);
    BLAS_OK(cublasSasum(h, n, dx.p, 1, &result));
    EXPECT(result == absolute);
    BLAS_OK(cublasSscal(h, n, &alpha, dx.p, 1));
    EXPECT(dx.get()[5] == 3 * x[5]);
    BLAS_OK(cublasScopy(h, n, dy.p, 1, dx.p, 1));
    EXPECT(dx.get() == sum);
    Device<float> dz(y);
    BLAS_OK(cublasSswap(h, n, dx.p, 1, dz.p, 1));
    EXPECT(dx.get() == y && dz.get() == sum);
    // Strides: every second element.
    Device<float> even(x);
    const float zero = 0;
    BLAS_OK(cublasSscal(h, n / 2, &zero, even.p, 2));
    EXPECT(even.get()[0] == 0 && even.get()[1] == x[1]);
    // Nothing to do.
    BLAS_OK(cublasSaxpy(h, 0, &alpha, dx.p, 1, dy.p, 1));
    BLAS_OK(cublasSdot(h, 0, dx.p, 1, dy.p, 1, &result));
    EXPECT(result == 0);
}

TEST(indices_count_from_one) {
    Handle h;
    Device<double> x({1, -7, 3, 7, -0.5, 2});
    int index = -1;
    BLAS_OK(cublasIdamax(h, 6, x.p, 1, &index));
    EXPECT(index == 2);
    BLAS_OK(cublasIdamin(h, 6, x.p, 1, &index));
    EXPECT(index == 5);
    BLAS_OK(cublasIdamax(h, 3, x.p, 2, &index));
    EXPECT(index == 2);
    BLAS_OK(cublasIdamax(h, 0, x.p, 1, &index));
    EXPECT(index == 0);
}

TEST(device_pointer_mode) {
    Handle h;
    BLAS_OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    Device<float> x({1, 2, 3});
    Device<float> y({1, 1, 1});
    Device<float> alpha({2});
    Device<float> result({0});
    Device<int> index({0});
    BLAS_OK(cublasSaxpy(h, 3, alpha.p, x.p, 1, y.p, 1));
    EXPECT(y.get() == std::vector<float>({3, 5, 7}));
    BLAS_OK(cublasSdot(h, 3, x.p, 1, y.p, 1, result.p));
    EXPECT(result.get()[0] == 34);
    BLAS_OK(cublasIsamax(h, 3, x.p, 1, index.p));
    EXPECT(index.get()[0] == 3);
}

TEST(matrix_times_vector) {
    Handle h;
    const int m = 5;
    const int n = 3;
    const int lda = 7;
    const auto A = numbers<float>(lda * n, 3);
    const auto x = numbers<float>(8, 4);
    Device<float> dA(A);
    Device<float> dx(x);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Device<float> dy(std::vector<float>(m, nan));  // beta = 0: not read
    const float alpha = 2;
    const float zero = 0;
    BLAS_OK(
        cublasSgemv(h, CUBLAS_OP_N, m, n, &alpha, dA.p, lda, dx.p, 1, &zero, dy.p, 1));
    bool right = true;
    const auto y = dy.get();
    for (int i = 0; i < m; ++i) {
        float sum = 0;
        for (int j = 0; j < n; ++j)
            sum += A[j * lda + i] * x[j];
        right &= y[i] == 2 * sum;
    }
    EXPECT(right);
    Device<float> dt(std::vector<float>(n, 1.f));
    const float one = 1;
    BLAS_OK(
        cublasSgemv(h, CUBLAS_OP_T, m, n, &alpha, dA.p, lda, dx.p, 1, &one, dt.p, 1));
    float sum = 0;
    for (int i = 0; i < m; ++i)
        sum += A[2 * lda + i] * x[i];
    EXPECT(dt.get()[2] == 2 * sum + 1);
    BLAS_OK(cublasSger(h, m, n, &alpha, dy.p, 1, dx.p, 1, dA.p, lda));
    EXPECT(dA.get()[lda + 4] == A[lda + 4] + 2 * y[4] * x[1]);
}

TEST(symmetric_and_triangular_matrices) {
    Handle h;
    // Lower triangle of [[2, ., .], [1, 1, .], [3, 2, 4]], column-major.
    const std::vector<double> A = {2, 1, 3, 99, 1, 2, 99, 99, 4};
    Device<double> dA(A);
    Device<double> B({2, 3, 15, 4, 3, 14});
    const double one = 1;
    const double zero = 0;
    BLAS_OK(cublasDtrsm(h,
                        CUBLAS_SIDE_LEFT,
                        CUBLAS_FILL_MODE_LOWER,
                        CUBLAS_OP_N,
                        CUBLAS_DIAG_NON_UNIT,
                        3,
                        2,
                        &one,
                        dA.p,
                        3,
                        B.p,
                        3));
    EXPECT(B.get() == std::vector<double>({1, 2, 2, 2, 1, 1.5}));
    Device<double> C(std::vector<double>(6, 0));
    BLAS_OK(cublasDtrmm(h,
                        CUBLAS_SIDE_LEFT,
                        CUBLAS_FILL_MODE_LOWER,
                        CUBLAS_OP_N,
                        CUBLAS_DIAG_NON_UNIT,
                        3,
                        2,
                        &one,
                        dA.p,
                        3,
                        B.p,
                        3,
                        C.p,
                        3));
    EXPECT(C.get() == std::vector<double>({2, 3, 15, 4, 3, 14}));
    BLAS_OK(cublasDsymm(h,
                        CUBLAS_SIDE_LEFT,
                        CUBLAS_FILL_MODE_LOWER,
                        3,
                        2,
                        &one,
                        dA.p,
                        3,
                        B.p,
                        3,
                        &zero,
                        C.p,
                        3));
    // [[2, 1, 3], [1, 1, 2], [3, 2, 4]] times (1, 2, 2) is (10, 7, 15).
    EXPECT(C.get()[0] == 10 && C.get()[1] == 7 && C.get()[2] == 15);
    Device<double> S(std::vector<double>(9, -5));
    BLAS_OK(cublasDsyrk(
        h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 3, 2, &one, B.p, 3, &zero, S.p, 3));
    // Only the lower triangle is written.
    EXPECT(S.get()[0] == 5 && S.get()[1] == 4 && S.get()[3] == -5);
}

TEST(sums_and_transposes_of_matrices) {
    Handle h;
    Device<float> A({1, 2, 3, 4, 5, 6});  // 2 x 3
    Device<float> C(std::vector<float>(6, 0.f));
    const float one = 1;
    const float zero = 0;
    BLAS_OK(cublasSgeam(
        h, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, A.p, 2, &zero, C.p, 3, C.p, 3));
    EXPECT(C.get() == std::vector<float>({1, 3, 5, 2, 4, 6}));
    Device<float> x({10, 100});
    BLAS_OK(cublasSdgmm(h, CUBLAS_SIDE_LEFT, 2, 3, A.p, 2, x.p, 1, C.p, 2));
    EXPECT(C.get() == std::vector<float>({10, 200, 30, 400, 50, 600}));
}

TEST(host_copies) {
    Device<float> d(std::vector<float>(12, 0.f));
    const std::vector<float> x = {1, 2, 3, 4};
    BLAS_OK(cublasSetVector(4, sizeof(float), x.data(), 1, d.p, 3));
    EXPECT(d.get()[3] == 2 && d.get()[9] == 4 && d.get()[1] == 0);
    std::vector<float> y(4);
    BLAS_OK(cublasGetVector(4, sizeof(float), d.p, 3, y.data(), 1));
    EXPECT(y == x);
    const std::vector<float> A = {1, 2, -1, 3, 4, -1};  // 2 x 2, ld 3
    BLAS_OK(cublasSetMatrix(2, 2, sizeof(float), A.data(), 3, d.p, 2));
    EXPECT(d.get()[2] == 3);
    std::vector<float> B(4);
    BLAS_OK(cublasGetMatrix(2, 2, sizeof(float), d.p, 2, B.data(), 2));
    EXPECT(B == x);
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE,
                  cublasSetVector(4, 0, x.data(), 1, d.p, 1));
}

TEST(bad_arguments) {
    Handle h;
    Device<float> d(std::vector<float>(64, 1.f));
    const float one = 1;
    EXPECT_STATUS(
        CUBLAS_STATUS_INVALID_VALUE,
        cublasSgemm(
            h, CUBLAS_OP_N, CUBLAS_OP_N, -1, 4, 4, &one, d.p, 4, d.p, 4, &one, d.p, 4));
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE,
                  cublasSgemm(h,
                              CUBLAS_OP_N,
                              CUBLAS_OP_N,
                              4,
                              4,
                              4,
                              &one,
                              d.p,
                              3,  // lda < m
                              d.p,
                              4,
                              &one,
                              d.p,
                              4));
    EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasSscal(nullptr, 4, &one, d.p, 1));
#ifdef SIMT_CPU  // on a GPU these are faults
    std::vector<float> host(64);
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE,
                  cublasSscal(h, 64, &one, host.data(), 1));
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, cublasSscal(h, 65, &one, d.p, 1));
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, cublasSscal(h, 64, d.p, d.p, 1));
#endif
}

TEST(gemm_is_captured_like_a_kernel) {
    Handle h;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    BLAS_OK(cublasSetStream(h, stream));
    Device<float> x({1, 2, 3});
    Device<float> workspace(std::vector<float>(1 << 20, 0.f));
    BLAS_OK(cublasSetWorkspace(h, workspace.p, sizeof(float) << 20));
    const float two = 2;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    BLAS_OK(cublasSscal(h, 3, &two, x.p, 1));
    OK(cudaStreamEndCapture(stream, &graph));
    EXPECT(x.get()[0] == 1);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(x.get() == std::vector<float>({8, 16, 24}));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}
