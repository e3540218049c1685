/// relax.h: the kernel of this chapter. It is given: the chapter is about what happens
/// around it. One source file of a program includes this.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "streams_and_memory.h"

/// x[i] = 1023/1024 x[i] + 1/1024, `rounds` times: as much work as one asks for on as
/// many bytes. Both numbers are floats exactly, and a round is one fma.
///
/// Launch   grid ceil_div(n, block), block 256; one thread an element
/// Traffic  reads n * 4 B, writes n * 4 B
static __global__ void relax_kernel(float* x,  // [n] updated in place
                                    int64_t n,
                                    int rounds) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int round = 0; round < rounds; ++round)
        value = fmaf(1023.0f / 1024.0f, value, 1.0f / 1024.0f);
    x[i] = value;
}

void launch_relax(float* x, int64_t n, int rounds, cudaStream_t stream) {
    constexpr int kThreads = 256;
    relax_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, n, rounds);
    CUDA_CHECK_LAUNCH();
}
