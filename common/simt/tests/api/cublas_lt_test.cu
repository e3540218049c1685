#define TEST_GROUP "cublas_lt"
#include <cmath>
#include <vector>

#include "cublas_lt_fixture.h"

namespace {

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

/// Whether cuBLAS can run it: that depends on the GPU and on the version.
bool runs(cublasStatus_t status) {
#ifdef SIMT_CPU
    BLAS_OK(status);
#endif
    return status == kSuccess;
}

TEST(relu_leaves_a_mask_that_its_gradient_reads) {
    const auto A = numbers<__half>(m * k, 16), B = numbers<__half>(k * n, 17),
               bias = numbers<__half>(m, 18);
    const std::vector<__half> zero(m * n);
    const Matrix<__half> a(A, m, k, m), b(B, k, n, k), d(zero, m, n, m);
    const Device<__half> device_bias(bias);
    constexpr int64_t kMaskLd = 128;  // bits
    const Device<uint8_t> mask(std::vector<uint8_t>(kMaskLd * n / 8, 0xff));
    const auto sums = reference(false, false, m, n, k, 1, A, m, B, k, 0, zero, m);
    const auto with_bias = [&](int i) { return sums[i] + float(bias[i % m]); };
    Product forward;
    forward.epilogue(CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
    forward.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device_bias.p);
    forward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.p);
    forward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, kMaskLd);
    if (!runs(forward.run(a, b, d, d, &kOne, &kZero))) return;
    const auto bits = mask.get();
    const auto passed = [&](int i) {
        const int at = i / m * kMaskLd + i % m;
        return (bits[at / 8] >> (at % 8) & 1) != 0;
    };
    auto got = d.data.get();
    for (int i = 0; i < m * n; ++i) {
        EXPECT(float(got[i]) == std::fmax(with_bias(i), 0.0));
        EXPECT(passed(i) == (with_bias(i) > 0) || with_bias(i) == 0);
    }
    Product backward;
    backward.epilogue(CUBLASLT_EPILOGUE_DRELU_BGRAD);
    backward.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, device_bias.p);
    backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.p);
    backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, kMaskLd);
    if (!runs(backward.run(a, b, d, d, &kMinus, &kZero))) return;
    got = d.data.get();
    std::vector<double> gradient(m);
    for (int i = 0; i < m * n; ++i) {
        const double expected = passed(i) ? -sums[i] : 0;
        EXPECT(float(got[i]) == expected);
        gradient[i % m] += expected;
    }
    const auto row_sums = device_bias.get();
    for (int i = 0; i < m; ++i)
        EXPECT(float(row_sums[i]) == float(__half(float(gradient[i]))));
}

TEST(gelu_leaves_its_input_for_its_gradient) {
    const auto A = numbers<__half>(m * k, 19), B = numbers<__half>(k * n, 20);
    const std::vector<__half> zero(m * n);
    const Matrix<__half> a(A, m, k, m), b(B, k, n, k), d(zero, m, n, m);
    const Device<__half> aux(zero);
    const float alpha = 0.03125f;
    const auto sums = reference(false, false, m, n, k, alpha, A, m, B, k, 0, zero, m);
    Product product;
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.p);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{m});
    product.epilogue(CUBLASLT_EPILOGUE_GELU_AUX);
    if (!runs(product.run(a, b, d, d, &alpha, &kZero))) return;
    const auto inputs = aux.get();
    for (int i = 0; i < m * n; ++i)
        EXPECT(float(inputs[i]) == float(__half(float(sums[i]))));
    product.epilogue(CUBLASLT_EPILOGUE_DGELU);
    if (!runs(product.run(a, b, d, d, &kOne, &kZero))) return;
    const auto got = d.data.get();
    const auto gelu = [](double x) {
        return 0.5 * x *
               (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    };
    for (int i = 0; i < m * n; ++i) {
        const double x = float(inputs[i]), step = 1e-4;
        const double slope = (gelu(x + step) - gelu(x - step)) / (2 * step);
        const double expected = sums[i] / alpha * slope;
        EXPECT(std::fabs(float(got[i]) - expected) < 2e-3 * (1 + std::fabs(expected)));
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
