// queries_kernel.cuh: given with the second stage: what is known of each row, and dq
// by blocks that own queries, for results that are the same bits always.
#pragma once

#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/ptx/exp2.h>

#include <cstdint>

#include "fragments.cuh"
#include "problem.h"

// #region stats
/// delta, and lse as a power of two needs it: D / 8 threads for each row.
///
/// Launch   grid ceil_div(rows * D / 8, kBlock), block kBlock
/// Traffic  reads 4 D + 4 B a row, writes 8 B
template <int D>
__global__ void __launch_bounds__(kBlock)
    backward_stats_kernel(const Problem<Bf16> p, RowStats* stats) {
    constexpr int kLanes = D / 8;
    const int64_t thread = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    const int64_t row = thread / kLanes;
    float sum = 0.0f;
    if (row < p.rows()) {  // not a return: all lanes take part in the shuffles
        const int64_t from = row * D + thread % kLanes * 8;
        float o[8];
        float d_o[8];
        wb::Elements<Bf16, 8>::load(p.o + from).unpack(o);
        wb::Elements<Bf16, 8>::load(p.d_o + from).unpack(d_o);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sum += o[i] * d_o[i];
    }
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(wb::kAllLanes, sum, step);
    if (row < p.rows() && thread % kLanes == 0)
        stats[row] = {p.lse[row] * static_cast<float>(wb::kLog2e), sum};
}
// #endregion stats

/// Bytes of shared memory: rows of q and d_o, and stages of k and v.
template <int D>
inline constexpr size_t kQueriesBytes =
    size_t{2 * (kOwn + kStages * kStep)} * Rows<D>::kBytes;

// #region queries
/// dq: a block owns 128 queries, a warp 16 of them, and goes over the keys that they
/// see, 64 at a time. Three products: scores, gradients of weights, dq.
///
/// Launch   grid query_heads * tiles, block kBlock, kQueriesBytes bytes
/// @param tiles  blocks of a head
template <int D>
__global__ void __launch_bounds__(kBlock, 1)
    backward_queries_kernel(const Problem<Bf16> p,
                            const RowStats* stats,
                            unsigned tiles) {
    constexpr int kRow = Rows<D>::kBytes;
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_d_o = s_q + kOwn * kRow;
    char* const s_stages = s_d_o + kOwn * kRow;
    const int64_t head = blockIdx.x / tiles;
    // Blocks with the most keys first: the short ones fill the gaps at the end.
    const int tile = static_cast<int>(tiles - 1 - blockIdx.x % tiles);
    const int first_query = tile * kOwn;
    const int64_t g_row = head * p.queries + first_query;
    const int64_t g_kv = head / p.group * p.keys;
    const int rows = min(p.queries - first_query, kOwn);
    const int steps = tiles_of(p.visible(first_query + rows - 1), kStep);
    const auto start = [&](int step) {
        if (step < steps) {
            char* const s_k = s_stages + step % kStages * (2 * kStep * kRow);
            const int64_t from = (g_kv + step * kStep) * D;
            const int left = p.keys - step * kStep;
            start_rows<D, kStep>(s_k, p.k + from, left);
            start_rows<D, kStep>(s_k + kStep * kRow, p.v + from, left);
        }
        wb::ptx::cp_async_commit();
    };
    start_rows<D, kOwn>(s_q, p.q + g_row * D, rows);
    start_rows<D, kOwn>(s_d_o, p.d_o + g_row * D, rows);
    start(0);  // this group has q and d_o, too

    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp_row = static_cast<int>(threadIdx.x) / wb::kWarpSize * kTile;
    int visible[2];
    RowStats of_row[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = warp_row + row_of(lane, 2 * h);
        visible[h] = row < rows ? p.visible(first_query + row) : 0;
        of_row[h] = visible[h] > 0 ? stats[g_row + row] : RowStats{0.0f, 0.0f};
    }
    const float scale2 = p.scale * static_cast<float>(wb::kLog2e);
    float r_dq[D / 8][4] = {};
    for (int step = 0; step < steps; ++step) {
        wb::ptx::cp_async_wait<0>();
        __syncthreads();
        start(step + 1);
        const char* const s_k = s_stages + step % kStages * (2 * kStep * kRow);
        float r_weights[kStep / 8][4];
        float r_d[kStep / 8][4];
        multiply_rows<D>(r_weights, s_q + warp_row * kRow, s_k, lane);
        multiply_rows<D>(r_d, s_d_o + warp_row * kRow, s_k + kStep * kRow, lane);
#pragma unroll
        for (int n = 0; n < kStep / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const RowStats& row = of_row[e / 2];
                const int key = step * kStep + column_of(lane, n, e);
                const float weight =
                    wb::ptx::exp2_approx(fmaf(r_weights[n][e], scale2, -row.lse2));
                const bool sees = key < visible[e / 2];
                r_d[n][e] = sees ? weight * (r_d[n][e] - row.delta) : 0.0f;
            }
        }
        add_rows<D>(r_dq, r_d, s_k, lane);
    }
    wb::ptx::cp_async_wait<0>();  // without keys, q is still on its way
    store_sums<D>(p.dq + (g_row + warp_row) * D, r_dq, p.scale, rows - warp_row, lane);
}
// #endregion queries
