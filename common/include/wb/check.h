/// wb/check.h: every CUDA call is checked, and a failed one throws.
///
///     CUDA_CHECK(cudaMalloc(&p, bytes));
///     my_kernel<<<grid, block, 0, stream>>>(p);
///     CUDA_CHECK_LAUNCH();
///
/// The message holds the expression as written, the error's name, CUDA's description
/// and file:line, so that the first error is found where it happened and not where it
/// was noticed. cuBLAS has its own header, <wb/check_cublas.h>.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace wb {

/// A CUDA runtime call that did not return cudaSuccess.
class CudaError : public std::runtime_error {
 public:
    /// @param file, line  of the call, if they are known
    CudaError(cudaError_t code,
              const std::string& message,
              const char* file = "",
              int line = 0)
        : std::runtime_error(message), code_(code), file_(file), line_(line) {}

    /// The error code that the call returned.
    cudaError_t code() const { return code_; }
    const char* file() const { return file_; }
    int line() const { return line_; }

 private:
    cudaError_t code_;
    const char* file_;  // a literal: __FILE__
    int line_;
};

namespace detail {

/// Throws CudaError unless `code` is cudaSuccess. Also clears CUDA's "last error", so
/// that one failure is not reported a second time by an unrelated later check.
void check_cuda(cudaError_t code, const char* expression, const char* file, int line);

/// The text of a failed check: `expression` failed: NAME (description) at file:line.
std::string check_message(const char* expression,
                          const char* name,
                          const char* description,
                          const char* file,
                          int line);

}  // namespace detail
}  // namespace wb

/// Evaluates a CUDA runtime call once and throws wb::CudaError if it failed.
#define CUDA_CHECK(expression)                                                   \
    do {                                                                         \
        ::wb::detail::check_cuda((expression), #expression, __FILE__, __LINE__); \
    } while (0)

/// Throws if the launch just above was refused (wrong block size, too much shared
/// memory, ...). An error inside the running kernel shows only at the next
/// synchronisation: a launch is asynchronous.
#define CUDA_CHECK_LAUNCH()                                           \
    do {                                                              \
        ::wb::detail::check_cuda(                                     \
            cudaGetLastError(), "kernel launch", __FILE__, __LINE__); \
    } while (0)
