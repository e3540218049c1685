// Mutant: the scale is always 1 / sqrt(D), whatever the caller asks for
// Rejected by: the scale may be anything finite
#include "rest.h"

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
    scores[i] = sum / sqrtf(static_cast<float>(D));
}

void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_three(scores_kernel,
              right::softmax_kernel,
              right::output_kernel,
              shape,
              q,
              k,
              v,
              o,
              lse,
              stream);
}
