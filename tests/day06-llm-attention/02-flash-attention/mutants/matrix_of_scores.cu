// Mutant: right, but with the whole matrix of scores in memory
// Rejected by: no memory that grows with queries times keys
#include "rest.h"

#include <wb/scratch.h>

/// One thread a row, which keeps its scores in memory.
__global__ void attention_kernel(const float* q,
                                 const float* k,
                                 const float* v,
                                 float* scores,  // [rows, keys]
                                 float* o,
                                 float* lse,
                                 int64_t rows,
                                 int64_t queries,
                                 int64_t keys,
                                 int64_t D,
                                 bool causal,
                                 float scale) {
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int64_t visible = wb::visible_keys(queries, keys, causal, r % queries);
    float* const row = scores + r * keys;
    float maximum = -INFINITY;
    for (int64_t j = 0; j < visible; ++j) {
        float sum = 0.0f;
        for (int64_t d = 0; d < D; ++d)
            sum += q[r * D + d] * k[(r / queries * keys + j) * D + d];
        row[j] = scale * sum;
        maximum = fmaxf(maximum, row[j]);
    }
    float sum = 0.0f;
    for (int64_t j = 0; j < visible; ++j)
        sum += expf(row[j] - maximum);
    for (int64_t d = 0; d < D; ++d) {
        float result = 0.0f;
        for (int64_t j = 0; j < visible; ++j) {
            const float weight = expf(row[j] - maximum) / sum;
            result += weight * v[(r / queries * keys + j) * D + d];
        }
        o[r * D + d] = result;
    }
    if (lse != nullptr) lse[r] = maximum + logf(sum);
}

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    if (!check_arguments(shape, q, k, v, o, lse)) return;
    const wb::Scratch<float> scores(shape.rows() * shape.keys + 1, stream);
    const unsigned blocks = wb::grid_size(shape.rows(), kThreads);
    attention_kernel<<<blocks, kThreads, 0, stream>>>(q,
                                                      k,
                                                      v,
                                                      scores.data(),
                                                      o,
                                                      lse,
                                                      shape.rows(),
                                                      shape.queries,
                                                      shape.keys,
                                                      shape.head_dim,
                                                      shape.causal,
                                                      shape.scale);
    CUDA_CHECK_LAUNCH();
}
