// Mutant: exponentials of the scores themselves, without subtracting the maximum
// Rejected by: logits from -10000 to 10000 neither overflow nor vanish
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
    float sum = 0.0f;
    for (int64_t j = 0; j < visible; ++j)
        sum += expf(row[j]);
    for (int64_t j = 0; j < keys; ++j)
        row[j] = j < visible ? expf(row[j]) / sum : 0.0f;
    if (lse != nullptr) lse[r] = logf(sum);
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
