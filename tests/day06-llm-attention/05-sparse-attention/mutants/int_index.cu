// Mutant: offsets into k and v are computed in 32 bits
// Rejected by: keys beyond 2^31 elements
#define BREAKS_ROWS
#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    const int64_t first = row / p.queries * p.keys;
    const auto range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, p.status);
    Sums sums;
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        // Unsigned, so that the overflow is defined: 2^25 keys of 128 floats are 0.
        const unsigned element = static_cast<unsigned>(key) * p.D * sizeof(float);
        const int64_t wrapped = element / (p.D * sizeof(float));
        sums.add(p, row, static_cast<int>(first + wrapped));
    }
    sums.store(p, row);
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
