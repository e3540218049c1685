// The right naive_attention that the .diff files edit: three kernels.
#include "naive_attention.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <algorithm>
#include <cmath>

__global__ void scores_kernel(const float* q,
                              const float* k,
                              float* scores,
                              int64_t rows,
                              int64_t queries,
                              int64_t keys,
                              int64_t D,
                              float scale) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= rows * keys) return;
    const int64_t r = i / keys;
    const float* const key = k + (r / queries * keys + i % keys) * D;
    float sum = 0.0f;
    for (int64_t d = 0; d < D; ++d)
        sum += q[r * D + d] * key[d];
    scores[i] = scale * sum;
}

/// One thread a row: slow, and short.
__global__ void softmax_kernel(float* scores,
                               float* lse,
                               int64_t rows,
                               int64_t queries,
                               int64_t keys,
                               bool causal) {
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int64_t visible = wb::visible_keys(queries, keys, causal, r % queries);
    float* const row = scores + r * keys;
    float maximum = -INFINITY;
    for (int64_t j = 0; j < visible; ++j)
        maximum = fmaxf(maximum, row[j]);
    float sum = 0.0f;
    for (int64_t j = 0; j < visible; ++j)
        sum += expf(row[j] - maximum);
    for (int64_t j = 0; j < keys; ++j)
        row[j] = j < visible ? expf(row[j] - maximum) / sum : 0.0f;
    if (lse != nullptr) lse[r] = maximum + logf(sum);
}

__global__ void output_kernel(const float* weights,
                              const float* v,
                              float* o,
                              int64_t rows,
                              int64_t queries,
                              int64_t keys,
                              int64_t D) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= rows * D) return;
    const int64_t r = i / D;
    float sum = 0.0f;
    for (int64_t j = 0; j < keys; ++j)
        sum += weights[r * keys + j] * v[(r / queries * keys + j) * D + i % D];
    o[i] = sum;
}

void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    constexpr int kThreads = 128;
    const wb::Arguments arguments("naive_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads");
    arguments.product("batch * query_heads * queries * keys",
                      {shape.batch, shape.query_heads, shape.queries, shape.keys});
    if (shape.rows() == 0) return;
    arguments.device("q", q, shape.query_elements())
        .device("k", k, shape.kv_elements())
        .device("v", v, shape.kv_elements())
        .device("o", o, shape.query_elements());
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const int64_t rows = shape.rows();
    const int64_t count = rows * shape.keys;
    const int64_t D = shape.head_dim;
    const wb::Scratch<float> scores(std::max(count, int64_t{1}), stream);
    if (count > 0) {
        scores_kernel<<<wb::grid_size(count, kThreads), kThreads, 0, stream>>>(
            q, k, scores.data(), rows, shape.queries, shape.keys, D, shape.scale);
    }
    softmax_kernel<<<wb::grid_size(rows, kThreads), kThreads, 0, stream>>>(
        scores.data(), lse, rows, shape.queries, shape.keys, shape.causal);
    output_kernel<<<wb::grid_size(rows * D, kThreads), kThreads, 0, stream>>>(
        scores.data(), v, o, rows, shape.queries, shape.keys, D);
    CUDA_CHECK_LAUNCH();
}
