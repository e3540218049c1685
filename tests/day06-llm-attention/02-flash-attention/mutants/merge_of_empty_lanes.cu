// Mutant: lanes that have seen no key are merged: -infinity - -infinity is NaN
// Rejected by: one query and one key: the output is the value
#include "rest.h"

/// One warp a row; each lane walks over every 32nd key, and in the end they merge.
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
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles) * 2 +
                    static_cast<int>(threadIdx.x) / wb::kWarpSize;
    if (row >= queries) return;  // a whole warp
    const int visible = wb::visible_keys(queries, keys, causal, row);
    q += (head * queries + row) * D;
    k += head * keys * D;
    v += head * keys * D;
    float r_o[256] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = lane; j < visible; j += wb::kWarpSize) {
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += q[d] * k[int64_t{j} * D + d];
        score *= scale;
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = r_o[d] * factor + weight * v[int64_t{j} * D + d];
    }
    // #region bug
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2) {
        const float their_maximum = __shfl_xor_sync(0xFFFFFFFFu, maximum, other);
        const float their_sum = __shfl_xor_sync(0xFFFFFFFFu, sum, other);
        const float new_maximum = fmaxf(maximum, their_maximum);
        const float mine = expf(maximum - new_maximum);
        const float theirs = expf(their_maximum - new_maximum);
        maximum = new_maximum;
        sum = sum * mine + their_sum * theirs;
        for (int d = 0; d < D; ++d) {
            const float their_o = __shfl_xor_sync(0xFFFFFFFFu, r_o[d], other);
            r_o[d] = r_o[d] * mine + their_o * theirs;
        }
    }
    // #endregion bug
    for (int d = lane; d < D; d += wb::kWarpSize)
        o[(head * queries + row) * D + d] = visible > 0 ? r_o[d] / sum : 0.0f;
    if (lane == 0 && lse != nullptr) {
        lse[head * queries + row] = visible > 0 ? maximum + logf(sum) : -INFINITY;
    }
}

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    run_flash(flash_kernel, 2, shape, q, k, v, o, lse, stream);
}
