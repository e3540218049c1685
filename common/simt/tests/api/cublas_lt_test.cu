#define TEST_GROUP "cublas_lt"
#include <cublasLt.h>

#include <cmath>
#include <vector>

#include "check.h"
#include "cublas_fixture.h"

namespace {

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

constexpr int m = 16, n = 8, k = 24;
constexpr float kTwo = 2, kOne = 1, kMinus = -1, kZero = 0;

template <class T>
void product_in(const char* type) {
    const auto A = numbers<T>(k * m, 1), B = numbers<T>(k * n, 2),
               C = numbers<T>(m * n, 3);
    Product product;
    product.set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    const Matrix<T> a(A, k, m, k), b(B, k, n, k), c(C, m, n, m), d(C, m, n, m);
    BLAS_OK(product.run(a, b, c, d, &kTwo, &kMinus));
    check::verify(
        same(d.data.get(), reference(true, false, m, n, k, 2, A, k, B, k, -1, C, m)),
        __FILE__,
        __LINE__,
        type);
    EXPECT(c.data.get().size() == C.size());
}

}  // namespace

TEST(products_in_three_types) {
    product_in<float>("float");
    product_in<__half>("half");
    product_in<__nv_bfloat16>("bfloat16");
}

TEST(attributes_have_sizes) {
    const Matrix<float> a(std::vector<float>(20), 4, 5, 4);
    int32_t order = -1;
    int64_t wide = 0;
    size_t written = 0;
    const auto get = [&](void* to, size_t bytes) {
        return cublasLtMatrixLayoutGetAttribute(
            a.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, to, bytes, &written);
    };
    BLAS_OK(get(&order, sizeof order));
    EXPECT(order == CUBLASLT_ORDER_COL && written == 4);
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE, get(&wide, sizeof wide));
    written = 0;
    BLAS_OK(get(nullptr, 0));
    EXPECT(written == 4);
    EXPECT_STATUS(CUBLAS_STATUS_INVALID_VALUE,
                  cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    EXPECT(sizeof(cublasLtMatmulAlgo_t) == 64);
}

TEST(rows_in_place_of_columns) {
    // A, B and D by rows: the columns of their transposes.
    const auto A = numbers<float>(m * k, 4), B = numbers<float>(k * n, 5);
    const std::vector<float> zero(m * n);
    Product product;
    Matrix<float> a(A, m, k, k), b(B, k, n, n), d(zero, m, n, n);
    a.by_rows();
    b.by_rows();
    d.by_rows();
    BLAS_OK(product.run(a, b, d, d, &kOne, &kZero));
    EXPECT(same(d.data.get(),
                reference(false, false, n, m, k, 1, B, n, A, k, 0, zero, n)));
}

TEST(strided_batches) {
    const auto A = numbers<float>(m * k, 6), B = numbers<float>(3 * k * n, 7);
    Product product;
    Matrix<float> a(A, m, k, m), b(B, k, n, k);
    Matrix<float> d(std::vector<float>(3 * m * n), m, n, m);
    a.batch(3, 0);
    b.batch(3, k * n);
    d.batch(3, m * n);
    BLAS_OK(product.run(a, b, d, d, &kOne, &kZero));
    const auto all = d.data.get();
    for (int i = 0; i < 3; ++i) {
        const std::vector<float> one(B.begin() + i * k * n,
                                     B.begin() + (i + 1) * k * n);
        const std::vector<float> got(all.begin() + i * m * n,
                                     all.begin() + (i + 1) * m * n);
        EXPECT(same(got, reference(false, false, m, n, k, 1, A, m, one, k, 0, got, m)));
    }
}

TEST(scalars_in_device_memory) {
    const auto A = numbers<float>(m * k, 8), B = numbers<float>(k * n, 9),
               C = numbers<float>(m * n, 10);
    Product product;
    product.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
    const Device<float> scalars({3, 2});
    const Matrix<float> a(A, m, k, m), b(B, k, n, k), c(C, m, n, m), d(C, m, n, m);
    BLAS_OK(product.run(a, b, c, d, scalars.p, scalars.p + 1));
    EXPECT(
        same(d.data.get(), reference(false, false, m, n, k, 3, A, m, B, k, 2, C, m)));
}

TEST(epilogues) {
    const auto A = numbers<float>(m * k, 11), B = numbers<float>(k * n, 12),
               bias = numbers<float>(m, 13);
    const std::vector<float> zero(m * n);
    const Matrix<float> a(A, m, k, m), b(B, k, n, k), d(zero, m, n, m);
    const Device<float> device_bias(bias);
    auto sums = reference(false, false, m, n, k, 0.03125, A, m, B, k, 0, zero, m);
    const float alpha = 0.03125f;
    for (const auto e : {CUBLASLT_EPILOGUE_RELU,
                         CUBLASLT_EPILOGUE_BIAS,
                         CUBLASLT_EPILOGUE_RELU_BIAS,
                         CUBLASLT_EPILOGUE_GELU_BIAS}) {
        Product product;
        product.epilogue(e);
        if (e & CUBLASLT_EPILOGUE_BIAS)
            product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device_bias.p);
        BLAS_OK(product.run(a, b, d, d, &alpha, &kZero));
        const auto got = d.data.get();
        double worst = 0;
        for (int i = 0; i < m * n; ++i) {
            double x = sums[i];
            if (e & CUBLASLT_EPILOGUE_BIAS) x += bias[i % m];
            if (e & CUBLASLT_EPILOGUE_RELU) x = x < 0 ? 0 : x;
            if (e & CUBLASLT_EPILOGUE_GELU)
                x *= 0.5 *
                     (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
            worst = std::fmax(worst, std::isnan(got[i]) ? 1 : std::fabs(got[i] - x));
        }
        EXPECT(worst < 2e-3);  // a GPU's GELU takes an approximate tanh
        if (!(e & CUBLASLT_EPILOGUE_GELU)) EXPECT(worst == 0);
    }
}

TEST(refusals) {
    const auto A = numbers<float>(m * k, 14), B = numbers<float>(k * n, 15);
    const Matrix<float> a(A, m, k, m), b(B, k, n, k);
    const Matrix<float> d(std::vector<float>(m * n), m, n, m);
    Product product;
    product.set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);  // shapes that do not fit
    EXPECT(product.run(a, b, d, d, &kOne, &kZero) != kSuccess);
    EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED,
                  cublasLtMatmulAlgoGetHeuristic(nullptr,
                                                 product.p,
                                                 a.layout,
                                                 b.layout,
                                                 d.layout,
                                                 d.layout,
                                                 nullptr,
                                                 1,
                                                 nullptr,
                                                 nullptr));

    Product no_bias;  // found, but not run: nothing would read the bias
    no_bias.epilogue(CUBLASLT_EPILOGUE_RELU);
    no_bias.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, b.data.p);
    EXPECT(no_bias.run(a, b, d, d, &kOne, &kZero) != kSuccess);
}
