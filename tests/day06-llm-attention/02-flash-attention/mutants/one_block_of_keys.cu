// Mutant: a kernel from a real course, written anew with its five mistakes
// Rejected by: as many queries as keys, from one to odd primes
#include "rest.h"

constexpr int kBlock = 8;  // kBlock x kBlock threads: a row, and a key or a column

// #region bug
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
    __shared__ float s_q[kBlock][kBlock];
    __shared__ float s_k[kBlock][kBlock];
    __shared__ float s_p[kBlock][kBlock];
    __shared__ float s_max[kBlock];
    const int x = threadIdx.x % kBlock;
    const int y = threadIdx.x / kBlock;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles) * kBlock + y;
    const float* const key = k + head * keys * D;
    const float* const value = v + head * keys * D;
    s_q[y][x] = row < queries ? q[(head * queries + row) * D + x] : 0.0f;
    s_k[y][x] = y < keys ? key[int64_t{y} * D + x] : 0.0f;
    __syncthreads();
    float score = 0.0f;
    for (int d = 0; d < kBlock; ++d)
        score += s_q[y][d] * s_k[x][d];
    s_p[y][x] = x < keys ? score * scale : -INFINITY;
    __syncthreads();
    if (x == 0) s_max[y] = s_p[0][y];
    __syncthreads();
    float maximum = -INFINITY;
    for (int other = 0; other < kBlock; ++other)
        maximum = fmaxf(maximum, s_max[other]);
    s_p[y][x] = x < keys ? expf(score - maximum) : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < kBlock; ++j)
        sum += s_p[y][j];
    if (row >= queries) return;
    for (int d = x; d < D; d += kBlock) {
        float result = 0.0f;
        for (int j = 0; j < min(kBlock, keys); ++j)
            result += s_p[y][j] / sum * value[int64_t{j} * D + d];
        o[(head * queries + row) * D + d] = result;
    }
    if (x == 0 && lse != nullptr) lse[head * queries + row] = maximum + logf(sum);
}
// #endregion bug

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_flash(flash_kernel, kBlock, shape, q, k, v, o, lse, stream);
}
