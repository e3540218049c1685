// Barriers and warp operations that not all threads reach.
#include "planted.h"

using planted::numbered;
using planted::zeros;

__global__ void barrier_in_branch(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    if (threadIdx.x < 32) {
        __syncthreads();  // barrier_in_a_branch
    } else {
        s[threadIdx.x] = 2;
        __syncthreads();  // barrier_in_a_branch
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
}
PLANTED(divergent_barrier, barrier_in_a_branch) {
    barrier_in_branch<<<1, 64>>>(zeros<float>(64));
}

__global__ void early_return(const float* x, float* out, int n) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t >= n) return;
    s[t] = x[t];
    __syncthreads();  // return_before_a_barrier
    out[t] = s[n - 1 - t];
}
PLANTED(divergent_barrier, return_before_a_barrier) {
    early_return<<<1, 64>>>(numbered<float>(64), zeros<float>(64), 50);
}

__global__ void some_wait_elsewhere(int* out) {
    if (threadIdx.x == 0) __syncwarp();  // barrier_against_syncwarp
    if (threadIdx.x != 0) __syncthreads();
    out[threadIdx.x] = 1;
}
PLANTED(missing_lanes, barrier_against_syncwarp) {
    some_wait_elsewhere<<<1, 32>>>(zeros<int>(32));
}

// The lanes that have left the loop are still named in the mask.
__global__ void warp_sum(const float* x, float* out, int n) {
    const int t = threadIdx.x;
    if (t >= n) return;
    float sum = x[t];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(~0u, sum, s);  // shuffle_with_missing_lanes
    if (t == 0) out[0] = sum;
}
PLANTED(missing_lanes, shuffle_with_missing_lanes) {
    warp_sum<<<1, 32>>>(numbered<float>(32), zeros<float>(1), 20);
}

__global__ void two_masks(const int* x, int* out) {
    const int t = threadIdx.x;
    if (t % 2)
        out[t] = __shfl_sync(0xffffffffu, x[t], 1);  // mask_names_absent_lanes
    else
        out[t] = __shfl_sync(0x55555555u, x[t], 0);
    __syncwarp();  // mask_names_absent_lanes
    out[t] += 1;
}
PLANTED(missing_lanes, mask_names_absent_lanes) {
    two_masks<<<1, 32>>>(numbered<int>(32), zeros<int>(32));
}

__global__ void not_in_mask(const int* x, int* out) {
    const int t = threadIdx.x;
    out[t] = __shfl_sync(0x0000ffffu, x[t], 0);  // mask_without_the_caller
}
PLANTED(missing_lanes, mask_without_the_caller) {
    not_in_mask<<<1, 32>>>(numbered<int>(32), zeros<int>(32));
}
