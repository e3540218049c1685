/// wb/check_nccl.h: NCCL_CHECK, the twin of CUDA_CHECK for NCCL calls. What it throws
/// is in <wb/nccl_error.h>, which kernels do not need.
#pragma once

#include <nccl.h>

namespace wb::detail {

/// Throws NcclError.
///
/// @param name, said  NCCL's words for the code, and about its last error, or null
[[noreturn]] void throw_nccl(int code,
                             const char* name,
                             const char* said,
                             const char* expression,
                             const char* file,
                             int line);

inline void check_nccl(ncclResult_t code,
                       const char* expression,
                       const char* file,
                       int line) {
    if (code == ncclSuccess) return;
    throw_nccl(code,
               ncclGetErrorString(code),
               ncclGetLastError(nullptr),
               expression,
               file,
               line);
}

}  // namespace wb::detail

/// Evaluates an NCCL call once and throws wb::NcclError if it failed.
#define NCCL_CHECK(expression)                                                   \
    do {                                                                         \
        ::wb::detail::check_nccl((expression), #expression, __FILE__, __LINE__); \
    } while (0)
