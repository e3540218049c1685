// Mutant: no barrier between the copy of a tile and its use
// Rejected by: as many queries as keys, from one to odd primes
#include "rest.h"

__global__ void flash_kernel(const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             int queries,
                             int keys,
                             int D,
                             unsigned row_tiles,
                             bool causal,
                             float scale) {
    extern __shared__ float4 s_tiles[];
    float* const s_k = reinterpret_cast<float*>(s_tiles);
    float* const s_v = s_k + kTileKeys * D;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles * kThreads + threadIdx.x);
    const bool has_row = row < queries;
    const int visible = has_row ? wb::visible_keys(queries, keys, causal, row) : 0;
    q += (head * queries + (has_row ? row : 0)) * D;
    k += head * keys * D;
    v += head * keys * D;
    float r_o[256] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int first = 0; first < keys; first += kTileKeys) {
        const int count = min(kTileKeys, keys - first);
        __syncthreads();
        for (int e = threadIdx.x; e < count * D; e += kThreads) {
            s_k[e] = k[int64_t{first} * D + e];
            s_v[e] = v[int64_t{first} * D + e];
        }
        for (int j = 0; j < min(count, visible - first); ++j) {
            float score = 0.0f;
            for (int d = 0; d < D; ++d)
                score += q[d] * s_k[j * D + d];
            score *= scale;
            const float new_maximum = fmaxf(maximum, score);
            const float factor = expf(maximum - new_maximum);
            const float weight = expf(score - new_maximum);
            maximum = new_maximum;
            sum = sum * factor + weight;
            for (int d = 0; d < D; ++d)
                r_o[d] = r_o[d] * factor + weight * s_v[j * D + d];
        }
    }
    if (!has_row) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[(head * queries + row) * D + d] = r_o[d] * inverse;
    if (lse != nullptr) lse[head * queries + row] = maximum + logf(sum);
}

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_flash(flash_kernel, kThreads, shape, q, k, v, o, lse, stream);
}
