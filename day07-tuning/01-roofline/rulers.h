/// rulers.h: kernels that do one thing only. What they reach are the roofs.
#pragma once

#include <wb/check.h>

#include "given.h"

// #region fma-ruler
/// kRulerUnroll independent chains of FMAs in registers: nothing to wait for.
///
/// Launch   grid any, block kRulerThreads; several blocks for each multiprocessor
__global__ void fma_ruler_kernel(int steps, float x, float c, float* sink) {
    float chain[kRulerUnroll];
#pragma unroll
    for (int j = 0; j < kRulerUnroll; ++j)
        chain[j] = x + static_cast<float>(threadIdx.x + j);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int j = 0; j < kRulerUnroll; ++j)
            chain[j] = fmaf(chain[j], x, c);
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kRulerUnroll; ++j)
        sum += chain[j];
    if (sum < 0.0f) *sink = sum;  // never, for x and c are not negative
}
// #endregion fma-ruler

// #region shared-ruler
/// kRulerUnroll loads from shared memory a step, without bank conflicts.
///
/// Launch   grid any, block kRulerThreads; several blocks for each multiprocessor
__global__ void shared_ruler_kernel(int steps, float* sink) {
    // volatile: each load is executed, none is remembered from the step before.
    __shared__ volatile float s_numbers[kRulerThreads + 32 * kRulerUnroll];
    for (int i = static_cast<int>(threadIdx.x); i < kRulerThreads + 32 * kRulerUnroll;
         i += kRulerThreads) {
        s_numbers[i] = 1.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int j = 0; j < kRulerUnroll; ++j)
            sum += s_numbers[threadIdx.x + 32 * j];
    }
    if (sum < 0.0f) *sink = sum;  // never: it is a sum of ones
}
// #endregion shared-ruler

/// Launch   one block of one thread
__global__ void nothing_kernel() {}

void launch_fma_ruler(int blocks, int steps, float* sink, cudaStream_t stream) {
    fma_ruler_kernel<<<blocks, kRulerThreads, 0, stream>>>(steps, 0.5f, 0.25f, sink);
    CUDA_CHECK_LAUNCH();
}

void launch_shared_ruler(int blocks, int steps, float* sink, cudaStream_t stream) {
    shared_ruler_kernel<<<blocks, kRulerThreads, 0, stream>>>(steps, sink);
    CUDA_CHECK_LAUNCH();
}

void launch_nothing(cudaStream_t stream) {
    nothing_kernel<<<1, 1, 0, stream>>>();
    CUDA_CHECK_LAUNCH();
}
