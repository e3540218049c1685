// Races between threads of one block.
#include "planted.h"

using planted::numbered;
using planted::zeros;

constexpr int kThreads = 128;

// The tree's levels must not overlap.
__global__ void sum_tree(const float* x, float* out) {
    __shared__ float partial[kThreads];
    const int t = threadIdx.x;
    partial[t] = x[t];
    __syncthreads();
    for (int s = kThreads / 2; s > 0; s /= 2) {
        if (t < s) partial[t] += partial[t + s];  // missing_barrier_in_reduction
    }
    if (t == 0) out[0] = partial[0];
}
PLANTED(race, missing_barrier_in_reduction) {
    sum_tree<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(1));
}

__global__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[16][17];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];  // missing_barrier_in_transpose
    const int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
    out[ty * n + tx] = tile[threadIdx.x][threadIdx.y];  // missing_barrier_in_transpose
}
PLANTED(race, missing_barrier_in_transpose) {
    transpose<<<dim3(2, 2), dim3(16, 16)>>>(
        numbered<float>(1024), zeros<float>(1024), 32);
}

// Lanes of a warp do not run in step.
__global__ void last_warp(const float* x, float* out) {
    __shared__ float partial[64];
    const int t = threadIdx.x;
    partial[t] = x[t];
    __syncthreads();
    if (t < 32) {
        for (int s = 32; s > 0; s /= 2)
            if (t < s) partial[t] += partial[t + s];  // missing_syncwarp
    }
    if (t == 0) out[0] = partial[0];
}
PLANTED(race, missing_syncwarp) {
    last_warp<<<1, 64>>>(numbered<float>(64), zeros<float>(1));
}

// The old idiom: `volatile` instead of __syncwarp().
__global__ void volatile_warp(const float* x, float* out) {
    __shared__ float partial[64];
    const int t = threadIdx.x;
    partial[t] = x[t];
    __syncthreads();
    volatile float* p = partial;
    for (int s = 16; s > 0; s /= 2)
        if (t < s) p[t] += p[t + s];  // volatile_instead_of_syncwarp
    if (t == 0) out[0] = p[0];
}
PLANTED(race, volatile_instead_of_syncwarp) {
    volatile_warp<<<1, 64>>>(numbered<float>(64), zeros<float>(1));
}

// One buffer is written while slower threads still read it.
__global__ void ping_pong(const float* x, float* out) {
    __shared__ float buffer[2][kThreads];
    const int t = threadIdx.x;
    buffer[0][t] = x[t];
    __syncthreads();
    for (int step = 0; step < 4; ++step) {
        const float left = buffer[0][(t + 1) % kThreads];  // write_after_read
        buffer[0][t] = left * 0.5f;                        // write_after_read
        __syncthreads();
    }
    out[t] = buffer[0][t];
}
PLANTED(race, write_after_read) {
    ping_pong<<<1, kThreads>>>(numbered<float>(kThreads), zeros<float>(kThreads));
}

// The next tile is loaded over one that is still in use.
__global__ void tiled_sum(const float* x, float* out, int n) {
    __shared__ float tile[kThreads];
    const int t = threadIdx.x;
    float sum = 0;
    for (int begin = 0; begin < n; begin += kThreads) {
        tile[t] = x[begin + t];  // missing_second_barrier_in_tile_loop
        __syncthreads();
        for (int i = 0; i < kThreads; ++i)
            sum += tile[i];  // missing_second_barrier_in_tile_loop
    }
    out[t] = sum;
}
PLANTED(race, missing_second_barrier_in_tile_loop) {
    tiled_sum<<<1, kThreads>>>(
        numbered<float>(2 * kThreads), zeros<float>(kThreads), 2 * kThreads);
}

// A flag for the block, read before it is there.
__global__ void broadcast(const int* x, int* out) {
    __shared__ int chosen;
    if (threadIdx.x == 40) chosen = x[0];  // missing_barrier_in_broadcast
    if (threadIdx.x < 32) __syncwarp();
    if (threadIdx.x >= 64) out[threadIdx.x] = chosen;  // missing_barrier_in_broadcast
}
PLANTED(race, missing_barrier_in_broadcast) {
    broadcast<<<1, kThreads>>>(numbered<int>(4), zeros<int>(kThreads));
}

__global__ void shared_histogram(const int* keys, int* out) {
    __shared__ int count[8];
    const int t = threadIdx.x;
    if (t < 8) count[t] = 0;
    __syncthreads();
    count[keys[t]]++;  // non_atomic_shared_histogram
    __syncthreads();
    if (t < 8) out[t] = count[t];
}
PLANTED(race, non_atomic_shared_histogram) {
    shared_histogram<<<1, kThreads>>>(numbered<int>(kThreads), zeros<int>(8));
}

// An atomic excludes atomics, nothing else.
__global__ void mixed(const int* x, int* out) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[threadIdx.x]);     // atomic_mixed_with_plain_read
    if (threadIdx.x == 0) out[0] = total;  // atomic_mixed_with_plain_read
}
PLANTED(race, atomic_mixed_with_plain_read) {
    mixed<<<1, kThreads>>>(numbered<int>(kThreads), zeros<int>(1));
}

// Half the lanes synchronise with the wrong half.
__global__ void half_warps(const float* x, float* out) {
    __shared__ float s[32];
    const int lane = threadIdx.x;
    s[lane] = x[lane];  // syncwarp_of_the_wrong_lanes
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    out[lane] = s[31 - lane];  // syncwarp_of_the_wrong_lanes
}
PLANTED(race, syncwarp_of_the_wrong_lanes) {
    half_warps<<<1, 32>>>(numbered<float>(32), zeros<float>(32));
}

// A shuffle gives values, not order.
__global__ void shuffle_as_barrier(const float* x, float* out) {
    __shared__ float s[32];
    const int lane = threadIdx.x;
    s[lane] = x[lane];  // shuffle_taken_for_a_barrier
    const float mine = __shfl_xor_sync(~0u, x[lane], 1);
    out[lane] = mine + s[lane ^ 1];  // shuffle_taken_for_a_barrier
}
PLANTED(race, shuffle_taken_for_a_barrier) {
    shuffle_as_barrier<<<1, 32>>>(numbered<float>(32), zeros<float>(32));
}

// Two halves of a word, written by two threads, read as one.
__global__ void half_words(const unsigned short* x, unsigned* out) {
    __shared__ alignas(4) unsigned short s[64];
    const int t = threadIdx.x;
    s[t] = x[t];                                                  // race_on_half_a_word
    if (t < 32) out[t] = reinterpret_cast<unsigned*>(s)[31 - t];  // race_on_half_a_word
}
PLANTED(race, race_on_half_a_word) {
    half_words<<<1, 64>>>(numbered<unsigned short>(64), zeros<unsigned>(32));
}

// A warp waits for another one's flag in shared memory; the fence is for the block.
template <bool kFence>
__global__ void flag_of_a_warp(const float* x, float* out) {
    __shared__ float value;
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 2 * x[0];  // shared_flag_without_second_fence
        __threadfence_block();
        atomicExch_block(&ready, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(&ready, 0) == 0) {
        }
        if (kFence) __threadfence_block();
        out[0] = value;  // shared_flag_without_second_fence
    }
}
PLANTED(race, shared_flag_without_second_fence) {
    flag_of_a_warp<false><<<1, 64>>>(numbered<float>(1), zeros<float>(1));
}
PLANTED(none, shared_flag_with_fences) {
    flag_of_a_warp<true><<<1, 64>>>(numbered<float>(1), zeros<float>(1));
}
