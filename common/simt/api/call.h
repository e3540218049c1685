#pragma once
// What every function of the API does on entry and on return.

#include "core/error.h"

namespace simt::detail {

/// Runs the body of an API call: once the context is destroyed, every call returns the
/// fault; a failure becomes the thread's last error.
template <class Body>
cudaError_t api_call(Body&& body) {
    if (const cudaError_t fault = sticky_error(); fault != cudaSuccess)
        return set_error(fault);
    const cudaError_t error = body();
    return error == cudaSuccess ? error : set_error(error);
}

/// One line on stderr that says why a call was refused; only the first few of a
/// process.
[[gnu::format(printf, 1, 2)]] void hint(const char* format, ...);

}  // namespace simt::detail
