// Mutant: scores are rounded to 16 bits before the maximum is subtracted
// Rejected by: logits far from zero, close to each other
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
    float r_o[kMostDim] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = 0; j < visible; ++j) {
        const int64_t at = (head * keys + j) * D;
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += static_cast<float>(q[row * D + d]) * static_cast<float>(k[at + d]);
        score = static_cast<float>(static_cast<T>(score * scale));
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = r_o[d] * factor + weight * static_cast<float>(v[at + d]);
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[row * D + d] = static_cast<T>(r_o[d] * inverse);
    if (lse != nullptr) lse[row] = maximum + logf(sum);
}
