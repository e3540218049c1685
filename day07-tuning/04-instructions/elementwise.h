/// elementwise.h: kernels that call your functions, an element a thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "instructions.h"

/// Yours. What they do stands in instructions.cu.
__device__ uint32_t ulp_distance(float a, float b);
__device__ float quick_exp(float x);
__device__ uint32_t divide(uint32_t n, const Divider& divider);

/// Launch   a thread for each element, any block, no shared memory
static __global__ void ulp_kernel(const float* a,
                                  const float* b,
                                  uint32_t* distance,
                                  int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = ulp_distance(a[i], b[i]);
}

/// Launch   a thread for each element, any block, no shared memory
static __global__ void exp_kernel(const float* x, float* y, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = quick_exp(x[i]);
}

/// Launch   a thread for each element, any block, no shared memory
static __global__ void quotients_kernel(const uint32_t* n,
                                        uint32_t* quotient,
                                        int64_t count,
                                        Divider divider) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) quotient[i] = divide(n[i], divider);
}
