// Mutant: writes zeros
// Rejected by: one query and one key: the output is the value
#define BREAKS_ROWS
#include "rest.h"

__global__ void rows_kernel(wb::CsrPattern pattern, Problem p) {
    const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= p.rows) return;
    for (int d = 0; d < p.D; ++d)
        p.o[row * p.D + d] = 0.0f;
    if (p.lse != nullptr) p.lse[row] = 0.0f;
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
