// Mutant: adds up the values in 16 bits
// Rejected by: values whose sum passes 65504 though their mean does not
#include "one_thread_a_row.h"

// #region bug
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
    T r_o[kMostDim];
    for (T& value : r_o)
        value = static_cast<T>(0.0f);
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = 0; j < visible; ++j) {
        const int64_t at = (head * keys + j) * D;
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += static_cast<float>(q[row * D + d]) * static_cast<float>(k[at + d]);
        score *= scale;
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = fused(static_cast<T>(weight),
                           v[at + d],
                           __hmul(r_o[d], static_cast<T>(factor)));
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[row * D + d] = static_cast<T>(static_cast<float>(r_o[d]) * inverse);
    if (lse != nullptr) lse[row] = maximum + logf(sum);
}
// #endregion bug
