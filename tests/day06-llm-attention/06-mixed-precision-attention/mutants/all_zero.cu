// Mutant: writes zeros
// Rejected by: as many queries as keys, from one to odd primes
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
    for (int d = 0; d < D; ++d)
        o[row * D + d] = static_cast<T>(0.0f);
    if (lse != nullptr) lse[row] = 0.0f;
}
