// Mutant: the threads of all heads add to the output of the first
// Rejected by: batches and heads share the pattern, not the keys
#define BREAKS_ROWS
#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    Sums sums;
    const auto range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, p.status);
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        sums.add(p, row, key);
    }
    const float inverse = sums.sum > 0.0f ? 1.0f / sums.sum : 0.0f;
    for (int d = 0; d < p.D; ++d)
        atomicAdd(&p.o[query * p.D + d], sums.o[d] * inverse);
    if (p.lse != nullptr) p.lse[row] = sums.maximum + logf(sums.sum);
}

void sparse_attention(const wb::AttentionShape& shape,
                      const wb::CsrPattern& pattern,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      wb::PatternStatus* status,
                      cudaStream_t stream) {
    const Problem p = checked("sparse_attention", shape, q, k, v, o, lse, status);
    if (p.rows > 0)
        CUDA_CHECK(cudaMemsetAsync(o, 0, p.rows * p.D * sizeof(float), stream));
    launch_rows(rows_kernel, pattern, p, stream);
}
