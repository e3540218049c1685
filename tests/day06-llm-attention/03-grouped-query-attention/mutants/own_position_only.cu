// Mutant: a kernel from a real course, written anew with its mistakes
// Rejected by: as many queries as keys, from one to odd primes
#include "rest.h"

// #region bug-course
__global__ void gqa_kernel(const float* q,
                           const float* k,
                           const float* v,
                           float* o,
                           float* lse,
                           int64_t batch,
                           int64_t query_heads,
                           int64_t kv_heads,
                           int queries,
                           int keys,
                           int D,
                           bool causal,
                           float scale) {
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r >= batch * query_heads * queries) return;
    const int query = static_cast<int>(r % queries);
    const int64_t head = r / queries;
    const int64_t b = head / query_heads;
    const int64_t h = head % query_heads;
    const int64_t kv_head = b * kv_heads + h / (query_heads / kv_heads);
    const int position = min(query, keys - 1);
    const float* const key = k + (kv_head * keys + position) * D;
    const float* const value = v + (kv_head * keys + position) * D;
    float score = 0.0f;
    for (int d = 0; position >= 0 && d < D; ++d)
        score += q[r * D + d] * key[d];
    const float weight = tanhf(score * scale);
    for (int d = 0; d < D; ++d)
        o[r * D + d] = position >= 0 ? weight * value[d] : 0.0f;
    if (lse != nullptr) lse[r] = score * scale;
}
// #endregion bug-course

void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream) {
    run_rows(gqa_kernel, shape, q, k, v, o, lse, stream);
}
