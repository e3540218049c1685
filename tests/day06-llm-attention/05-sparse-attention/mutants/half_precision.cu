// Mutant: adds up the values in half precision
// Rejected by: head dimensions 32, 64 and 128
#define BREAKS_ROWS
#include <cuda_fp16.h>

#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    const int query = static_cast<int>(row % p.queries);
    __half o[kMaxD] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    const auto range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, p.status);
    for (int64_t at = range.begin; at < range.end; ++at) {
        const int key = pattern.indices[at];
        if (!wb::check_index(key, p.keys, query, at, p.status)) continue;
        const float score = p.score(row, key);
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < p.D; ++d) {
            o[d] = __float2half(__half2float(o[d]) * factor +
                                weight * p.value(row, key)[d]);
        }
    }
    for (int d = 0; d < p.D; ++d)
        p.o[row * p.D + d] = sum > 0.0f ? __half2float(o[d]) / sum : 0.0f;
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
