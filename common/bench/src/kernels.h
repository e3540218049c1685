// The harness's own kernels: random inputs, and memory traffic of known kinds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb::bench {

/// x[i] = a standard normal number that depends on (seed, i) alone.
void launch_fill_normal(float* x, int64_t n, uint64_t seed, cudaStream_t stream);

/// narrow[i] = wide[i] rounded to half, or to bfloat16.
/// @param narrow  room for n 16-bit numbers
void launch_narrow(
    const float* wide, void* narrow, int64_t n, bool bfloat16, cudaStream_t stream);

/// An empty kernel, one block of one warp.
void launch_nothing(cudaStream_t stream);

/// What a kernel does with each element.
enum class Traffic { read, write, copy, read2_write1 };

/// Arrays of `n` float4 each; which of them are touched follows from the traffic.
struct TrafficArrays {
    const float4* a;
    const float4* b;
    float4* c;
    float* sink;  ///< one float, written only if a sum has an impossible value
    int64_t n;
};

/// Moves the arrays once through the memory system, with next to no arithmetic.
/// @param unroll  float4s a thread has in flight: 1, 2 or 4
void launch_traffic(Traffic traffic,
                    int unroll,
                    const TrafficArrays& arrays,
                    cudaStream_t stream);

}  // namespace wb::bench
