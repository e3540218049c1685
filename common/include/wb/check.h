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

namespace wb {
namespace detail {

/// Throws CudaError (<wb/errors.h>) unless `code` is cudaSuccess. Also clears CUDA's
/// "last error", so that one failure is not reported a second time by an unrelated
/// later check.
void check_cuda(cudaError_t code, const char* expression, const char* file, int line);

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
