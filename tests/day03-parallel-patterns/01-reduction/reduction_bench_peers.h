// What CUB does with the sizes of the benchmark: it needs nvcc.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace reduction_peers {

/// Bytes of device memory that each of the calls below needs for n elements.
size_t scratch_bytes(int64_t n);

/// cub::DeviceReduce::Sum; of bf16 a Reduce that adds in float, of integers one that
/// adds 64 bits.
///
/// @param scratch  `bytes` bytes of device memory, scratch_bytes(n) at least
void sum(void* scratch,
         size_t bytes,
         const float* x,
         float* result,
         int64_t n,
         cudaStream_t stream);
void sum(void* scratch,
         size_t bytes,
         const __nv_bfloat16* x,
         float* result,
         int64_t n,
         cudaStream_t stream);
void sum(void* scratch,
         size_t bytes,
         const int32_t* x,
         int64_t* result,
         int64_t n,
         cudaStream_t stream);

/// cub::DeviceReduce::Max. What it gives if an element is NaN is not ours.
void max(void* scratch,
         size_t bytes,
         const float* x,
         float* result,
         int64_t n,
         cudaStream_t stream);

}  // namespace reduction_peers
