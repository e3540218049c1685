// Mutant: does everything in 16 bits
// Rejected by: head dimensions 32, 64 and 128
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
    const T zero = static_cast<T>(0.0f);
    T r_o[kMostDim];
    for (T& value : r_o)
        value = zero;
    T maximum = static_cast<T>(-INFINITY);
    T sum = zero;
    for (int j = 0; j < visible; ++j) {
        const int64_t at = (head * keys + j) * D;
        T score = zero;
        for (int d = 0; d < D; ++d)
            score = fused(q[row * D + d], k[at + d], score);
        score = __hmul(score, static_cast<T>(scale));
        const T new_maximum = __hmax(maximum, score);
        const T factor = hexp(__hsub(maximum, new_maximum));
        const T weight = hexp(__hsub(score, new_maximum));
        maximum = new_maximum;
        sum = fused(sum, factor, weight);
        for (int d = 0; d < D; ++d)
            r_o[d] = fused(weight, v[at + d], __hmul(r_o[d], factor));
    }
    for (int d = 0; d < D; ++d)
        o[row * D + d] = __hgt(sum, zero) ? __hdiv(r_o[d], sum) : zero;
    if (lse != nullptr) {
        lse[row] = static_cast<float>(maximum) + logf(static_cast<float>(sum));
    }
}
