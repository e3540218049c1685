// cublasLtMatmul: the product in the type of the sums, its epilogue, rounding.

#include <cmath>

#include "api/call.h"
#include "lt_batch.h"

using namespace simt::cublas;

namespace {

/// Refuses a batch of matrices that is not in device memory.
void check_batch(Call& call, const void* data, const LtLayout& layout,
                 const char* name) {
    const bool by_columns = layout.order == CUBLASLT_ORDER_COL;
    const int rows = static_cast<int>(by_columns ? layout.rows : layout.cols);
    const int cols = static_cast<int>(by_columns ? layout.cols : layout.rows);
    const size_t element = size_of(type_of(layout));
    for (int i = 0; i < layout.batch_count; ++i)
        call.matrix(static_cast<const char*>(data) +
                        i * layout.batch_stride * static_cast<int64_t>(element),
                    rows, cols, static_cast<int>(layout.ld), element, name);
}

/// Element (row, col) of matrix `index` of a batch.
template <class T>
T& at(T* data, const LtLayout& layout, int index, int row, int col) {
    const int64_t inside = layout.order == CUBLASLT_ORDER_COL ? col * layout.ld + row
                                                              : row * layout.ld + col;
    return data[index * layout.batch_stride + inside];
}

/// The operand's matrix `index` as columns without gaps, op() applied.
template <class Sum>
std::vector<Sum> operand(const void* data, const LtLayout& layout, int index,
                         bool transposed) {
    const int rows = static_cast<int>(transposed ? layout.cols : layout.rows);
    const int cols = static_cast<int>(transposed ? layout.rows : layout.cols);
    std::vector<Sum> packed(static_cast<size_t>(rows) * static_cast<size_t>(cols));
    with_type(type_of(layout), [&](auto* tag) {
        const auto* source = static_cast<decltype(tag)>(data);
        auto next = packed.begin();
        for (int j = 0; j < cols; ++j)
            for (int i = 0; i < rows; ++i)
                *next++ = static_cast<Sum>(widen(
                    at(source, layout, index, transposed ? j : i, transposed ? i : j)));
    });
    return packed;
}

/// tanh's argument in the approximation of GELU, and its derivative.
constexpr double kGelu = 0.7978845608028654, kCube = 0.044715;
double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(kGelu * (x + kCube * x * x * x)));
}
double gelu_slope(double x) {
    const double t = std::tanh(kGelu * (x + kCube * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kGelu * (1 + 3 * kCube * x * x);
}

/// The aux matrix of one product: what went into GELU, or which elements RELU let pass.
template <class T>
struct Aux {
    T* values = nullptr;
    uint8_t* bits = nullptr;  // the first element in the lowest bit

    Aux(const LtProduct& p, int index) {
        const int64_t skipped = index * p.aux_batch_stride;
        if (has_bit_mask(p))
            bits = static_cast<uint8_t*>(p.aux) + skipped / 8;
        else if (uses_aux(p))
            values = static_cast<T*>(p.aux) + skipped;
    }
    bool bit(int64_t at) const { return bits[at / 8] >> (at % 8) & 1; }
    void set_bit(int64_t at, bool value) {
        const auto mask = static_cast<uint8_t>(1u << (at % 8));
        bits[at / 8] =
            static_cast<uint8_t>(value ? bits[at / 8] | mask : bits[at / 8] & ~mask);
    }
};

/// One sum on its way to D; its element of the aux matrix is number `at`.
template <class Sum, class T>
Sum finish(const LtProduct& p, Sum x, Sum bias, Aux<T>& aux, int64_t at) {
    if (has(p, CUBLASLT_EPILOGUE_BIAS)) x += bias;
    if (has(p, kEpilogueDrelu)) return aux.bit(at) ? x : Sum(0);
    if (has(p, CUBLASLT_EPILOGUE_DGELU))
        return static_cast<Sum>(x * gelu_slope(widen(aux.values[at])));
    if (aux.values) aux.values[at] = static_cast<T>(x);
    if (aux.bits) aux.set_bit(at, x > 0);
    if (has(p, CUBLASLT_EPILOGUE_GELU)) return static_cast<Sum>(gelu(x));
    if (has(p, CUBLASLT_EPILOGUE_RELU)) return x < 0 ? Sum(0) : x;
    return x;
}

/// The sums of A's rows or B's columns: the gradient of a bias.
template <class Sum, class T>
void store_bias_gradient(const LtBatch& x, T* bias, const std::vector<Sum>& A,
                         const std::vector<Sum>& B) {
    const bool of_a = x.product.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    const int m = x.m(), k = x.k();
    for (int i = 0; i < (of_a ? m : x.n()); ++i) {
        Sum sum{};
        for (int l = 0; l < k; ++l)
            sum += of_a ? A[static_cast<size_t>(l) * m + i]
                        : B[static_cast<size_t>(i) * k + l];
        bias[i] = static_cast<T>(sum);
    }
}

template <class Sum>
void multiply_one(const LtBatch& x, int index, Sum alpha, Sum beta) {
    const LtProduct& p = x.product;
    const int m = x.m(), n = x.n(), k = x.k();
    const auto A = operand<Sum>(x.A, x.a, index, p.trans_a != CUBLAS_OP_N);
    const auto B = operand<Sum>(x.B, x.b, index, p.trans_b != CUBLAS_OP_N);
    std::vector<Sum> products(static_cast<size_t>(m) * static_cast<size_t>(n));
    multiply(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, Sum(1), A.data(), m, B.data(), k,
             Sum(0), products.data(), m);
    with_type(type_of(x.d), [&](auto* tag) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(tag)>>;
        const T* C = static_cast<const T*>(x.C);
        T* D = static_cast<T*>(x.D);
        T* bias = static_cast<T*>(const_cast<void*>(p.bias));
        if (bias) bias += index * p.bias_batch_stride;
        Aux<T> aux(p, index);
        std::vector<Sum> row_sums(static_cast<size_t>(m));
        auto product = products.begin();
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                Sum sum = alpha * *product++;
                if (beta != Sum())
                    sum += beta * static_cast<Sum>(widen(at(C, x.c, index, i, j)));
                const Sum shift = has(p, CUBLASLT_EPILOGUE_BIAS)
                                      ? static_cast<Sum>(widen(bias[i]))
                                      : Sum();
                sum = finish(p, sum, shift, aux, j * p.aux_ld + i);
                row_sums[static_cast<size_t>(i)] += sum;
                if constexpr (std::is_same_v<T, int32_t>)
                    at(D, x.d, index, i, j) = static_cast<T>(static_cast<int64_t>(sum));
                else
                    at(D, x.d, index, i, j) = static_cast<T>(sum);
            }
        if (sums_operand(p)) store_bias_gradient(x, bias, A, B);
        if (has(p, kEpilogueBgrad))
            for (int i = 0; i < m; ++i)
                bias[i] = static_cast<T>(row_sums[static_cast<size_t>(i)]);
    });
}

/// Runs the batch with scalars of type S and sums of type Sum.
template <class Sum, class S>
cublasStatus_t run(Call& call, const LtBatch& x, const void* alpha, const void* beta) {
    const auto a = call.scalar(static_cast<const S*>(alpha), "alpha");
    const auto b = call.scalar(static_cast<const S*>(beta), "beta");
    const bool reads_c = x.product.pointer_mode != CUBLASLT_POINTER_MODE_HOST ||
                         (call.ok() && widen(b()) != 0);
    if (reads_c) check_batch(call, x.C, x.c, "C");
    return call.run([=] {
        for (int i = 0; i < x.d.batch_count; ++i)
            multiply_one<Sum>(x, i, static_cast<Sum>(widen(a())),
                              static_cast<Sum>(widen(b())));
    });
}

/// Memory of the epilogue, which the checks of the matrices do not cover.
void check_epilogue_memory(Call& call, const LtBatch& x) {
    const LtProduct& p = x.product;
    const size_t element = size_of(type_of(x.d));
    const auto last = static_cast<size_t>(x.d.batch_count - 1);
    if (uses_bias(p)) {
        const bool columns = p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
        const auto length = static_cast<size_t>(columns ? x.n() : x.m());
        const auto stride = static_cast<size_t>(p.bias_batch_stride);
        call.memory(p.bias, (last * stride + length) * element, "bias");
    }
    if (has_bit_mask(p)) {
        const auto stride = static_cast<size_t>(p.aux_batch_stride);
        const auto columns = static_cast<size_t>(x.n() - 1);
        const size_t bits = last * stride + columns * static_cast<size_t>(p.aux_ld) +
                            static_cast<size_t>(x.m());
        call.memory(p.aux, (bits + 7) / 8, "aux");
    } else if (uses_aux(p)) {
        LtLayout aux = x.d;
        aux.ld = p.aux_ld;
        aux.batch_stride = p.aux_batch_stride;
        check_batch(call, p.aux, aux, "aux");
    }
}

}  // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* A,
                              cublasLtMatrixLayout_t a_layout, const void* B,
                              cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c_layout, void* D,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void*, size_t,
                              cudaStream_t stream) {
    if (!is_lt_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!description || !a_layout || !b_layout || !c_layout || !d_layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    const LtBatch x = {in(description),
                       in(a_layout),
                       in(b_layout),
                       in(c_layout),
                       in(d_layout),
                       A,
                       B,
                       C,
                       D};
    if (algorithm && algorithm->data[0] != kLtAlgorithm) {
        simt::detail::hint(
            "cublasLtMatmul: the algorithm was filled by no heuristic or AlgoInit");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (const cublasStatus_t status = check_shapes(x)) return status;
    Call call(stream, static_cast<cublasPointerMode_t>(x.product.pointer_mode),
              "cublasLtMatmul");
    check_batch(call, A, x.a, "A");
    check_batch(call, B, x.b, "B");
    check_batch(call, D, x.d, "D");
    check_epilogue_memory(call, x);
    switch (arithmetic_in(x.product)) {
        case Arithmetic::f64:
            return run<double, double>(call, x, alpha, beta);
        case Arithmetic::i32:
            return run<double, int32_t>(call, x, alpha, beta);
        case Arithmetic::f16:
            return run<float, __half>(call, x, alpha, beta);
        default:
            return run<float, float>(call, x, alpha, beta);
    }
}
