// Asynchronous copies.
#include "planted.h"

#include <cuda_pipeline.h>

using planted::numbered;
using planted::zeros;

constexpr int kThreads = 64;

__global__ void without_wait(const float* x, float* out) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    out[t] = s[t];  // copy_without_wait
}
PLANTED(race, copy_without_wait) {
    without_wait<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(kThreads));
}

__global__ void without_barrier(const float* x, float* out) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[kThreads - 1 - t];  // copy_without_barrier
}
PLANTED(race, copy_without_barrier) {
    without_barrier<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(kThreads));
}

// Two stages, but the wait lets one copy too many stay in flight.
__global__ void wait_too_short(const float* x, float* out, int tiles) {
    __shared__ float s[2][kThreads];
    const int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &x[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(
                &s[(i + 1) % 2][t], &x[(i + 1) * kThreads + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        sum += s[i % 2][kThreads - 1 - t];  // copy_waited_for_too_little
        __syncthreads();
    }
    out[t] = sum;
}
PLANTED(race, copy_waited_for_too_little) {
    wait_too_short<<<1, kThreads>>>(
        numbered<float>(4 * kThreads), zeros<float>(kThreads), 4);
}

// The stage is filled again while other threads still read it.
__global__ void refilled_too_early(const float* x, float* out, int tiles) {
    __shared__ float s[2][kThreads];
    const int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][t], &x[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[0][kThreads - 1 - t];  // copy_over_data_in_use
        if (i + 1 < tiles)
            __pipeline_memcpy_async(  // copy_over_data_in_use
                &s[0][t],
                &x[(i + 1) * kThreads + t],
                sizeof(float));
        __pipeline_commit();
    }
    out[t] = sum;
}
PLANTED(race, copy_over_data_in_use) {
    refilled_too_early<<<1, kThreads>>>(
        numbered<float>(4 * kThreads), zeros<float>(kThreads), 4);
}

// A copy that nobody needs, or so it seems: it may land on what is written later.
template <int kPending>
__device__ float written_over(const float* x) {
    __shared__ float s[kThreads];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], sizeof(float));  // copy_lands_on_results
    __pipeline_commit();
    __pipeline_wait_prior(kPending);
    __syncthreads();
    s[kThreads - 1 - t] = 2.0f * x[t];  // copy_lands_on_results
    __syncthreads();
    return s[t];
}
__global__ void copy_in_flight(const float* x, float* out) {
    out[threadIdx.x] = written_over<1>(x);
}
PLANTED(race, copy_lands_on_results) {
    copy_in_flight<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(kThreads));
}
__global__ void copy_awaited(const float* x, float* out) {
    out[threadIdx.x] = written_over<0>(x);
}
PLANTED(none, results_after_a_copy) {
    copy_awaited<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(kThreads));
}
