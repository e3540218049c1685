// Mutant: query i sees the keys 0 to i, even where there are more keys than queries
// Rejected by: causal: the last query sees the last key, however many there are
#include "rest.h"

__global__ void softmax_kernel(float* scores,
                               float* lse,
                               int64_t rows,
                               int64_t queries,
                               int64_t keys,
                               bool causal) {
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int64_t visible = causal ? min(r % queries + 1, keys) : keys;
    float* const row = scores + r * keys;
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int64_t j = 0; j < visible; ++j)
        maximum = fmaxf(maximum, row[j]);
    for (int64_t j = 0; j < visible; ++j)
        sum += expf(row[j] - maximum);
    for (int64_t j = 0; j < keys; ++j)
        row[j] = j < visible ? expf(row[j] - maximum) / sum : 0.0f;
    if (lse != nullptr) lse[r] = maximum + logf(sum);
}

void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_three(right::scores_kernel,
              softmax_kernel,
              right::output_kernel,
              shape,
              q,
              k,
              v,
              o,
              lse,
              stream);
}
