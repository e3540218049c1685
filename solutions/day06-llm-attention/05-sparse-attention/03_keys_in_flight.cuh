// 03_keys_in_flight.cuh: sparse_attention_v3. Included by sparse_attention.cu, below
// v2.
#pragma once

#include <wb/head_dim.h>
#include <wb/ladder.h>

#include <cmath>
#include <cstdint>

#include "02_warp_a_row.cuh"

// #region v3-kernel
/// Sums that a group of lanes has made of its share of a row's keys.
struct GroupSums {
    float4 o = {0.0f, 0.0f, 0.0f, 0.0f};  // four columns, not divided yet
    float maximum = -INFINITY;            // the same in all lanes of the group
    float sum = 0.0f;                     // as well

    /// Scales the sums to a larger maximum; to none if there has been no key at all.
    __device__ void rescale(float new_maximum) {
        const float base = new_maximum == -INFINITY ? 0.0f : new_maximum;
        const float factor = expf(maximum - base);
        maximum = new_maximum;
        sum *= factor;
        o = make_float4(o.x * factor, o.y * factor, o.z * factor, o.w * factor);
    }
};

/// Keys that a group of lanes of v3 fetches before it looks at the first.
constexpr int kBatch = 4;

/// sparse_attention_v3: one warp a row. D / 4 lanes take a key, four columns each, so
/// that 128 / D keys are read at once; and each group of lanes asks for the elements of
/// kBatch keys and their values before it waits for any of them. The groups' sums are
/// merged at the end.
///
/// Launch   as v2
template <int D>
__global__ void __launch_bounds__(kWarps* wb::kWarpSize)
    sparse_attention_v3_kernel(wb::CsrPattern pattern,
                               const float* q,  // [rows, D], rows = B * H * queries
                               const float* k,  // [B * H, keys, D]
                               const float* v,  // [B * H, keys, D]
                               float* o,        // [rows, D]
                               float* lse,      // [rows] or null
                               wb::PatternStatus* status,
                               int64_t rows,
                               int queries,
                               int keys,
                               float scale) {
    constexpr int kLanes = D / 4;                    // of a group
    constexpr int kGroups = wb::kWarpSize / kLanes;  // keys read at once
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;
    const int query = static_cast<int>(row % queries);
    const int64_t head = row / queries;
    const int col = lane % kLanes * 4;
    k += head * keys * D + col;
    v += head * keys * D + col;
    float4 r_q = *reinterpret_cast<const float4*>(q + row * D + col);
    r_q = make_float4(r_q.x * scale, r_q.y * scale, r_q.z * scale, r_q.w * scale);
    GroupSums sums;
    const wb::PlaceRange range =
        wb::row_places(pattern.offsets, query, pattern.num_indices, status);
    for (int64_t first = range.begin; first < range.end; first += kBatch * kGroups) {
        bool valid[kBatch];
        float4 r_k[kBatch];
        float4 r_v[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const int64_t place = first + b * kGroups + lane / kLanes;
            const int32_t key = place < range.end ? pattern.indices[place] : 0;
            valid[b] =
                place < range.end && wb::check_index(key, keys, query, place, status);
            r_k[b] = r_v[b] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (!valid[b]) continue;
            const int64_t at = int64_t{key} * D;
            r_k[b] = *reinterpret_cast<const float4*>(k + at);
            r_v[b] = *reinterpret_cast<const float4*>(v + at);
        }
        float score[kBatch];
        float maximum = sums.maximum;
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            score[b] = group_sum<kLanes>(r_q.x * r_k[b].x + r_q.y * r_k[b].y +
                                         r_q.z * r_k[b].z + r_q.w * r_k[b].w);
            if (!valid[b]) score[b] = -INFINITY;
            maximum = fmaxf(maximum, score[b]);
        }
        sums.rescale(maximum);
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
            const float weight = valid[b] ? expf(score[b] - maximum) : 0.0f;
            sums.sum += weight;
            sums.o.x += weight * r_v[b].x;
            sums.o.y += weight * r_v[b].y;
            sums.o.z += weight * r_v[b].z;
            sums.o.w += weight * r_v[b].w;
        }
    }
    // The groups hold the sums of different keys, each relative to its own maximum.
    float maximum = sums.maximum;
    for (int other = kLanes; other < wb::kWarpSize; other *= 2)
        maximum = fmaxf(maximum, __shfl_xor_sync(0xFFFFFFFFu, maximum, other));
    sums.rescale(maximum);
    for (int other = kLanes; other < wb::kWarpSize; other *= 2) {
        sums.sum += __shfl_xor_sync(0xFFFFFFFFu, sums.sum, other);
        sums.o.x += __shfl_xor_sync(0xFFFFFFFFu, sums.o.x, other);
        sums.o.y += __shfl_xor_sync(0xFFFFFFFFu, sums.o.y, other);
        sums.o.z += __shfl_xor_sync(0xFFFFFFFFu, sums.o.z, other);
        sums.o.w += __shfl_xor_sync(0xFFFFFFFFu, sums.o.w, other);
    }
    if (lane >= kLanes) return;  // all groups have the same now
    const float inverse = sums.sum > 0.0f ? 1.0f / sums.sum : 0.0f;
    *reinterpret_cast<float4*>(o + row * D + col) = make_float4(
        sums.o.x * inverse, sums.o.y * inverse, sums.o.z * inverse, sums.o.w * inverse);
    if (lane == 0 && lse != nullptr) lse[row] = maximum + logf(sums.sum);
}
// #endregion v3-kernel

// #region v3-launch
static void sparse_attention_v3(const wb::AttentionShape& shape,
                                const wb::CsrPattern& pattern,
                                const float* q,
                                const float* k,
                                const float* v,
                                float* o,
                                float* lse,
                                wb::PatternStatus* status,
                                cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128>(shape.head_dim, [&](auto head_dim) {
        launch_rows(sparse_attention_v3_kernel<head_dim()>,
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
// #endregion v3-launch
WB_RUNG(sparse_attention, sparse_attention_v3, "float4, several keys in flight");
