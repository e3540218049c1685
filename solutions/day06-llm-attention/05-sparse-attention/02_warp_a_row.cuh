// 02_warp_a_row.cuh: sparse_attention_v2. Included by sparse_attention.cu, below v1.
#pragma once

#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>

/// Warps in a block of v2 and v3, and so its rows.
constexpr int kWarps = 8;

/// The sum of one value of each lane of a group of kLanes neighbours; all get it.
template <int kLanes>
__device__ __forceinline__ float group_sum(float value) {
#pragma unroll
    for (int other = 1; other < kLanes; other *= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, other);
    return value;
}

// #region v2-kernel
/// sparse_attention_v2: one warp a row. Lane l has the columns l, l + 32, ... of the
/// query and of the output, so that a key is read in pieces of 128 bytes.
///
/// Launch   grid ceil_div(rows, kWarps), block kWarps * 32, no shared memory
template <int D>
__global__ void sparse_attention_v2_kernel(wb::CsrPattern pattern,
                                           const float* q,  // [rows, D], rows = B H N
                                           const float* k,  // [B * H, keys, D]
                                           const float* v,  // [B * H, keys, D]
                                           float* o,        // [rows, D]
                                           float* lse,      // [rows] or null
                                           wb::PatternStatus* status,
                                           int64_t rows,
                                           int queries,
                                           int keys,
                                           float scale) {
    constexpr int kColumns = D / wb::kWarpSize;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;  // a whole warp at once: no shuffle below misses a lane
    const int query = static_cast<int>(row % queries);
    const int64_t head = row / queries;
    k += head * keys * D + lane;
    v += head * keys * D + lane;
    float r_q[kColumns];
    for (int c = 0; c < kColumns; ++c)
        r_q[c] = scale * q[row * D + c * wb::kWarpSize + lane];
    float r_o[kColumns] = {};
    float maximum = -INFINITY;  // the same in all lanes, as is sum
    float sum = 0.0f;
    const wb::PlaceRange range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, status);
    for (int64_t place = range.begin; place < range.end; ++place) {
        const int32_t key = pattern.indices[place];
        if (!wb::check_index(key, keys, query, place, status)) continue;
        const int64_t at = int64_t{key} * D;
        float product = 0.0f;
        for (int c = 0; c < kColumns; ++c)
            product += r_q[c] * k[at + c * wb::kWarpSize];
        const float score = group_sum<wb::kWarpSize>(product);
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int c = 0; c < kColumns; ++c)
            r_o[c] = r_o[c] * factor + weight * v[at + c * wb::kWarpSize];
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int c = 0; c < kColumns; ++c)
        o[row * D + c * wb::kWarpSize + lane] = r_o[c] * inverse;
    if (lane == 0 && lse != nullptr) lse[row] = maximum + logf(sum);
}
// #endregion v2-kernel

// #region v2-launch
/// Launches v2 or v3.
template <class Kernel>
static void launch_rows(Kernel kernel,
                        const wb::AttentionShape& shape,
                        const wb::CsrPattern& pattern,
                        const float* q,
                        const float* k,
                        const float* v,
                        float* o,
                        float* lse,
                        wb::PatternStatus* status,
                        cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(shape.rows(), kWarps);
    kernel<<<blocks, kWarps * wb::kWarpSize, 0, stream>>>(
        pattern,
        q,
        k,
        v,
        o,
        lse,
        status,
        shape.rows(),
        static_cast<int>(shape.queries),
        static_cast<int>(shape.keys),
        shape.scale);
    CUDA_CHECK_LAUNCH();
}

static void sparse_attention_v2(const wb::AttentionShape& shape,
                                const wb::CsrPattern& pattern,
                                const float* q,
                                const float* k,
                                const float* v,
                                float* o,
                                float* lse,
                                wb::PatternStatus* status,
                                cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        launch_rows(sparse_attention_v2_kernel<head_dim()>,
                    shape,
                    pattern,
                    q,
                    k,
                    v,
                    o,
                    lse,
                    status,
                    stream);
    });
}
// #endregion v2-launch
WB_RUNG(sparse_attention, sparse_attention_v2, "one warp a row");
