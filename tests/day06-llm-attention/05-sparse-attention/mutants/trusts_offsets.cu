// Mutant: a row whose offsets are wrong is read up to the end of the list
// Rejected by: offsets that are no range are reported, and the row is empty
#define BREAKS_ROWS
#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    Sums sums;
    const int64_t begin = max(pattern.offsets[query], int64_t{0});
    const int64_t end = min(pattern.offsets[query + 1], pattern.num_indices);
    for (int64_t at = begin; at < end; ++at) {
        const int key = pattern.indices[at];
        if (wb::check_index(key, p.keys, query, at, p.status)) sums.add(p, row, key);
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
