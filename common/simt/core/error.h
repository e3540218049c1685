/// core/error.h: CUDA's two kinds of errors. A refused call leaves its code behind as
/// the host thread's last error; a fault in a kernel leaves a sticky one for the
/// process.
#pragma once

#include "simt/error.h"

namespace simt::detail {

/// Makes `error` the host thread's last error unless it is cudaSuccess; returns it.
cudaError_t set_error(cudaError_t error);

/// The host thread's last error.
cudaError_t last_error();

/// The host thread's last error, which is then reset.
cudaError_t take_error();

/// The error that destroyed the context, or cudaSuccess.
cudaError_t sticky_error();

/// Destroys the context; the first error stays.
void set_sticky_error(cudaError_t error);

/// A new context, as after cudaDeviceReset.
void clear_sticky_error();

}  // namespace simt::detail
