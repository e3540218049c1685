#pragma once
// Handles, device buffers and a reference for the tests of cuBLAS.

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "check.h"

namespace check {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;

/// The call must return just this status.
#define EXPECT_STATUS(expected, ...) \
    check::verify((__VA_ARGS__) == (expected), __FILE__, __LINE__, #__VA_ARGS__)
#define BLAS_OK(...) EXPECT_STATUS(kSuccess, __VA_ARGS__)

struct BlasHandle {
    cublasHandle_t h = nullptr;
    BlasHandle() { cublasCreate(&h); }
    ~BlasHandle() { cublasDestroy(h); }
    operator cublasHandle_t() const { return h; }
};

/// Values in device memory.
template <class T>
struct Device {
    T* p = nullptr;
    size_t size;
    explicit Device(const std::vector<T>& values) : size(values.size()) {
        cudaMalloc(&p, size * sizeof(T));
        cudaMemcpy(p, values.data(), size * sizeof(T), cudaMemcpyHostToDevice);
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(p); }
    std::vector<T> get() const {
        std::vector<T> values(size);
        cudaMemcpy(values.data(), p, size * sizeof(T), cudaMemcpyDeviceToHost);
        return values;
    }
};

/// Small whole numbers, so that every order of summation is exact.
template <class T>
std::vector<T> numbers(int n, int seed) {
    std::vector<T> values(n);
    unsigned state = static_cast<unsigned>(seed) * 2654435761u + 1;
    for (auto& value : values) {
        state = state * 1664525u + 1013904223u;
        value =
            static_cast<T>(static_cast<float>(static_cast<int>(state >> 24) % 9 - 4));
    }
    return values;
}

template <class T>
double as_double(T value) {
    return static_cast<double>(static_cast<float>(value));
}

/// alpha op(A) op(B) + beta C in double, column-major.
template <class TA, class TC>
std::vector<double> reference(bool ta,
                              bool tb,
                              int m,
                              int n,
                              int k,
                              double alpha,
                              const std::vector<TA>& A,
                              int lda,
                              const std::vector<TA>& B,
                              int ldb,
                              double beta,
                              const std::vector<TC>& C,
                              int ldc) {
    std::vector<double> result(C.size());
    for (size_t i = 0; i < C.size(); ++i)
        result[i] = as_double(C[i]);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            double sum = 0;
            for (int l = 0; l < k; ++l)
                sum += as_double(ta ? A[i * lda + l] : A[l * lda + i]) *
                       as_double(tb ? B[l * ldb + j] : B[j * ldb + l]);
            result[j * ldc + i] = alpha * sum + beta * result[j * ldc + i];
        }
    return result;
}

template <class T>
bool same(const std::vector<T>& got, const std::vector<double>& expected) {
    for (size_t i = 0; i < got.size(); ++i)
        if (!(as_double(got[i]) == expected[i])) return false;
    return true;
}

}  // namespace check

using check::as_double;
using check::Device;
using check::kSuccess;
using check::numbers;
using check::reference;
using check::same;
using Handle = check::BlasHandle;
