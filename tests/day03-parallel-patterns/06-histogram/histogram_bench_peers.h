// What CUB does with the sizes of the benchmark: it needs nvcc.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace histogram_peers {

/// Bytes of device memory that the calls below need.
size_t scratch_bytes(int64_t n, int64_t bins);

/// cub::DeviceHistogram::HistogramEven: bins of width 1 from 0 on.
///
/// @param scratch  `bytes` bytes of device memory, scratch_bytes(n, bins) at least
void even(void* scratch,
          size_t bytes,
          const int32_t* values,
          uint32_t* counts,
          int64_t n,
          int64_t bins,
          cudaStream_t stream);
void even(void* scratch,
          size_t bytes,
          const uint8_t* values,
          uint32_t* counts,
          int64_t n,
          int64_t bins,
          cudaStream_t stream);

}  // namespace histogram_peers
