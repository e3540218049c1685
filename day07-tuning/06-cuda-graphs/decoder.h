/// decoder.h: the kernels of this chapter, which are given. They are as small as those
/// of a decoder that works on one token, so that launching them is what takes time.
/// One source file of a program includes this.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "cuda_graphs.h"

constexpr int kThreads = 256;

/// Which token of the sequence a step is for: a number that the launch brings along, or
/// one that lies in device memory.
struct Position {
    int value;
    const int* where;  ///< null: `value` counts
    __device__ int get() const { return where != nullptr ? *where : value; }
};

/// The sum over the lanes of a warp, for all of them.
static __device__ inline float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

/// The sum over the block's kThreads threads, for all of them. Ends with a barrier.
static __device__ inline float block_sum(float value) {
    __shared__ float s_sums[kThreads / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) s_sums[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < kThreads / 32; ++warp)
        sum += s_sums[warp];
    __syncthreads();
    return sum;
}

/// normed = x / sqrt(mean(x^2)). Launch: one block of kThreads.
static __global__ void norm_kernel(const float* x,  // [width]
                                   float* normed,   // [width]
                                   int width) {
    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += kThreads)
        squares += x[i] * x[i];
    const float scale = sqrtf(block_sum(squares) / static_cast<float>(width));
    for (int i = threadIdx.x; i < width; i += kThreads)
        normed[i] = x[i] / scale;
}

/// out = weights in, a warp for each row. Launch: block kThreads, grid
/// ceil_div(width, kThreads / 32).
static __global__ void project_kernel(const float* weights,  // [width, width]
                                      const float* in,       // [width]
                                      float* out,            // [width]
                                      int width) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (row >= width) return;
    float sum = 0.0f;
    for (int i = threadIdx.x % 32; i < width; i += 32)
        sum += weights[row * width + i] * in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[row] = sum;
}

/// cache[position] = key. Launch: block kThreads, grid ceil_div(width, kThreads).
static __global__ void append_kernel(const float* key,  // [width]
                                     float* cache,      // [positions, width]
                                     int width,
                                     Position position) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < width) cache[int64_t{position.get()} * width + i] = key[i];
}

/// mixed = the softmax-weighted mean of the cache up to position. Launch: one block of
/// kThreads, attend_shared_bytes() of dynamic shared
/// memory.
static __global__ void attend_kernel(const float* query,  // [width]
                                     const float* cache,  // [positions, width]
                                     float* mixed,        // [width]
                                     int width,
                                     Position position) {
    extern __shared__ float s_weights[];
    const int count = position.get() + 1;
    const float scale = 1.0f / sqrtf(static_cast<float>(width));
    for (int p = threadIdx.x / 32; p < count; p += kThreads / 32) {
        float score = 0.0f;
        for (int i = threadIdx.x % 32; i < width; i += 32)
            score += query[i] * cache[int64_t{p} * width + i];
        score = warp_sum(score);
        if (threadIdx.x % 32 == 0) s_weights[p] = score * scale;
    }
    __syncthreads();
    float largest = s_weights[0];
    for (int p = 1; p < count; ++p)
        largest = fmaxf(largest, s_weights[p]);
    __syncthreads();
    float part = 0.0f;
    for (int p = threadIdx.x; p < count; p += kThreads) {
        s_weights[p] = expf(s_weights[p] - largest);
        part += s_weights[p];
    }
    const float sum = block_sum(part);
    for (int i = threadIdx.x; i < width; i += kThreads) {
        float mean = 0.0f;
        for (int p = 0; p < count; ++p)
            mean += s_weights[p] * cache[int64_t{p} * width + i];
        mixed[i] = mean / sum;
    }
}

/// x = x + delta. Launch: block kThreads, grid ceil_div(width, kThreads).
static __global__ void add_kernel(const float* delta,  // [width]
                                  float* x,            // [width]
                                  int width) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < width) x[i] += delta[i];
}

// ---- One launcher for each line of launch_step()'s formula ------------------------

inline void launch_norm(const Decoder& d, cudaStream_t stream) {
    norm_kernel<<<1, kThreads, 0, stream>>>(d.x, d.normed, d.shape.width);
    CUDA_CHECK_LAUNCH();
}

/// out = the layer's matrix of `weights` times `in`.
inline void launch_project(const Decoder& d,
                           const float* weights,
                           int layer,
                           const float* in,
                           float* out,
                           cudaStream_t stream) {
    const int width = d.shape.width;
    project_kernel<<<wb::grid_size(width, kThreads / 32), kThreads, 0, stream>>>(
        weights + int64_t{layer} * width * width, in, out, width);
    CUDA_CHECK_LAUNCH();
}

/// The layer's part of the cache.
inline float* cache_of(const Decoder& d, int layer) {
    return d.cache + int64_t{layer} * d.shape.positions * d.shape.width;
}

inline void launch_append(const Decoder& d,
                          int layer,
                          Position p,
                          cudaStream_t stream) {
    const int width = d.shape.width;
    append_kernel<<<wb::grid_size(width, kThreads), kThreads, 0, stream>>>(
        d.key, cache_of(d, layer), width, p);
    CUDA_CHECK_LAUNCH();
}

/// What attend_kernel needs of dynamic shared memory: a float a position, in whole
/// pieces of 16 bytes. ptxas reads what is left of its unrolled loop over the positions
/// with one wide load, of which it may use less than it reads.
inline size_t attend_shared_bytes(const DecoderShape& shape) {
    return (static_cast<size_t>(shape.positions) * sizeof(float) + 15) / 16 * 16;
}

inline void launch_attend(const Decoder& d,
                          int layer,
                          Position p,
                          cudaStream_t stream) {
    attend_kernel<<<1, kThreads, attend_shared_bytes(d.shape), stream>>>(
        d.query, cache_of(d, layer), d.mixed, d.shape.width, p);
    CUDA_CHECK_LAUNCH();
}

inline void launch_add(const Decoder& d, cudaStream_t stream) {
    const int width = d.shape.width;
    add_kernel<<<wb::grid_size(width, kThreads), kThreads, 0, stream>>>(
        d.delta, d.x, width);
    CUDA_CHECK_LAUNCH();
}

void launch_step(const Decoder& d, int position, cudaStream_t stream) {
    const Position p = {position, nullptr};
    for (int layer = 0; layer < d.shape.layers; ++layer) {
        launch_norm(d, stream);
        launch_project(d, d.query_weights, layer, d.normed, d.query, stream);
        launch_project(d, d.key_weights, layer, d.normed, d.key, stream);
        launch_append(d, layer, p, stream);
        launch_attend(d, layer, p, stream);
        launch_project(d, d.output_weights, layer, d.mixed, d.delta, stream);
        launch_add(d, stream);
    }
}

/// Throws wb::InvalidArgument for a shape that the kernels do not support.
inline void check_shape(const DecoderShape& shape) {
    wb::Arguments("make_stepper")
        .positive("shape.layers", shape.layers)
        .require(shape.width >= 32 && shape.width <= 1024 && shape.width % 32 == 0,
                 "shape.width",
                 shape.width,
                 "must be a multiple of 32, at most 1024")
        .require(shape.positions >= 1 && shape.positions <= 8192,
                 "shape.positions",
                 shape.positions,
                 "must be from 1 to 8192");
}

/// Throws wb::InvalidArgument for a position that the cache has no room for.
inline void check_position(const Decoder& d, int position) {
    wb::Arguments("step").require(position >= 0 && position < d.shape.positions,
                                  "position",
                                  position,
                                  "must be >= 0 and below shape.positions");
}
