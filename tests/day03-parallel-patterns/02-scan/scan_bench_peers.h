// What CUB does with the sizes of the benchmark: it needs nvcc.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace scan_peers {

/// Bytes of device memory that a scan of n elements needs.
size_t scratch_bytes(int64_t n);

/// cub::DeviceScan::InclusiveSum.
///
/// @param scratch  `bytes` bytes of device memory, scratch_bytes(n) at least
void inclusive(void* scratch,
               size_t bytes,
               const int32_t* x,
               int32_t* y,
               int64_t n,
               cudaStream_t stream);
void inclusive(void* scratch,
               size_t bytes,
               const float* x,
               float* y,
               int64_t n,
               cudaStream_t stream);

}  // namespace scan_peers
