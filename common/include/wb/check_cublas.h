/// wb/check_cublas.h: CUBLAS_CHECK, the twin of CUDA_CHECK for cuBLAS calls.
#pragma once

#include <cublas_v2.h>
#include <wb/errors.h>

namespace wb {

/// A cuBLAS call that did not return CUBLAS_STATUS_SUCCESS.
class CublasError : public std::runtime_error {
 public:
    CublasError(cublasStatus_t code, const std::string& message)
        : std::runtime_error(message), code_(code) {}

    /// The status that the call returned.
    cublasStatus_t code() const { return code_; }

 private:
    cublasStatus_t code_;
};

namespace detail {

inline void check_cublas(cublasStatus_t code,
                         const char* expression,
                         const char* file,
                         int line) {
    if (code == CUBLAS_STATUS_SUCCESS) return;
    throw CublasError(code,
                      check_message(expression,
                                    cublasGetStatusName(code),
                                    cublasGetStatusString(code),
                                    file,
                                    line));
}

}  // namespace detail
}  // namespace wb

/// Evaluates a cuBLAS call once and throws wb::CublasError if it failed.
#define CUBLAS_CHECK(expression)                                                   \
    do {                                                                           \
        ::wb::detail::check_cublas((expression), #expression, __FILE__, __LINE__); \
    } while (0)
