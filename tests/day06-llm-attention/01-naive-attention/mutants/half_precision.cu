// Mutant: multiplies weights and values in half precision
// Rejected by: as many queries as keys, from one to odd primes
#include "rest.h"

#include <cuda_fp16.h>

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
    for (int64_t j = 0; j < keys; ++j) {
        const __half weight = __float2half(weights[r * keys + j]);
        const __half value = __float2half(v[(r / queries * keys + j) * D + i % D]);
        sum += __half2float(__hmul(weight, value));
    }
    o[i] = sum;
}

void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_three(right::scores_kernel,
              right::softmax_kernel,
              output_kernel,
              shape,
              q,
              k,
              v,
              o,
              lse,
              stream);
}
