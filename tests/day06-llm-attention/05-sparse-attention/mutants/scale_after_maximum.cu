// Mutant: the maximum is one of scaled scores, subtracted from an unscaled one
// Rejected by: rows of every length around a warp
#define BREAKS_ROWS
#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    const auto range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, p.status);
    float o[kMaxD] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        maximum = fmaxf(maximum, p.score(row, key));
    }
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        const float weight = expf(p.scale * (p.score(row, key) / p.scale - maximum));
        sum += weight;
        for (int d = 0; d < p.D; ++d)
            o[d] += weight * p.value(row, key)[d];
    }
    for (int d = 0; d < p.D; ++d)
        p.o[row * p.D + d] = sum > 0.0f ? o[d] / sum : 0.0f;
    if (p.lse != nullptr) p.lse[row] = maximum + logf(sum);
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
    launch_rows(rows_kernel, pattern, p, stream);
}
