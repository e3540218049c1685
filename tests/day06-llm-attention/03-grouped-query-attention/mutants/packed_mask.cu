// Mutant: the causal mask counts packed rows, not queries
// Rejected by: causal: no query sees a later key
#include "rest.h"

// #region bug-packed
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
    const int group = static_cast<int>(query_heads / kv_heads);
    const int packed = static_cast<int>(h % group) * queries + query;
    const int visible = min(keys, wb::visible_keys(queries, keys, causal, packed));
    attend(q + r * D,
           k + kv_head * keys * D,
           v + kv_head * keys * D,
           visible,
           D,
           scale,
           o + r * D,
           lse == nullptr ? nullptr : lse + r);
}
// #endregion bug-packed

void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream) {
    run_rows(gqa_kernel, shape, q, k, v, o, lse, stream);
}
