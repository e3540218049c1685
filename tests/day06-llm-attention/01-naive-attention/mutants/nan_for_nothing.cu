// Mutant: masked scores become -infinity, and a row of them -infinity - -infinity: NaN
// Rejected by: a query that sees no key gives zeros and minus infinity
#include "rest.h"

// #region bug
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
    for (int64_t j = visible; j < keys; ++j)
        row[j] = -INFINITY;
    float maximum = -INFINITY;
    for (int64_t j = 0; j < keys; ++j)
        maximum = fmaxf(maximum, row[j]);
    float sum = 0.0f;
    for (int64_t j = 0; j < keys; ++j)
        sum += expf(row[j] - maximum);
    for (int64_t j = 0; j < keys; ++j)
        row[j] = expf(row[j] - maximum) / sum;
    if (lse != nullptr) lse[r] = maximum + logf(sum);
}
// #endregion bug

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
