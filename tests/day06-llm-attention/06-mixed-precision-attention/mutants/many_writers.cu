// Mutant: no softmax; each key writes the row, the last one stays
// Rejected by: one query and one key: the output is the value, to the bit
#include "one_thread_a_row.h"

template <class T>
__global__ void attention_kernel(const T* q,
                                 const T* k,
                                 const T* v,
                                 T* o,
                                 float* lse,
                                 int64_t rows,
                                 int queries,
                                 int keys,
                                 bool causal,
                                 float scale,
                                 int D) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int64_t head = row / queries;
    const int visible =
        wb::visible_keys(queries, keys, causal, static_cast<int>(row % queries));
    for (int j = 0; j < visible; ++j) {
        const int64_t at = (head * keys + j) * D;
        T score = static_cast<T>(0.0f);
        for (int d = 0; d < D; ++d)
            score = fused(q[row * D + d], k[at + d], score);
        score = __hmul(score, static_cast<T>(scale));
        for (int d = 0; d < D; ++d)
            o[row * D + d] = __hmul(score, v[at + d]);
    }
    if (lse != nullptr) lse[row] = 0.0f;
}
