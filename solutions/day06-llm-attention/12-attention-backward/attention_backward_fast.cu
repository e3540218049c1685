// attention_backward_fast.cu: v3 and v4: a block owns 128 keys on tensor cores; dk and
// dv stay in registers. In v3 dq has a kernel of its own, in v4 it is added up on the
// way.
#include "attention_backward.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/online_softmax.h>
#include <wb/ptx/exp2.h>
#include <wb/scratch.h>

#include "fragments.cuh"
#include "problem.h"
#include "queries_kernel.cuh"

// #region keys-memory
/// Shared memory of a block: its rows of k and v; stages of q, d_o and their stats; and
/// gradients of scores, a row for each key.
template <int D>
struct KeysMemory {
    static constexpr int kRow = Rows<D>::kBytes;
    static constexpr int kStage = 2 * kStep * kRow + kStep * int{sizeof(RowStats)};
    static constexpr int kBytes =
        2 * kOwn * kRow + kStages * kStage + kOwn * Rows<kStep>::kBytes;
    char* k;
    char* v;
    char* stages;
    char* d_scores;

    __device__ __forceinline__ explicit KeysMemory(char* begin)
        : k(begin),
          v(k + kOwn * kRow),
          stages(v + kOwn * kRow),
          d_scores(stages + kStages * kStage) {}
    __device__ __forceinline__ char* q(int stage) const {
        return stages + stage * kStage;
    }
    __device__ __forceinline__ char* d_o(int stage) const {
        return q(stage) + kStep * kRow;
    }
    __device__ __forceinline__ RowStats* stats(int stage) const {
        return reinterpret_cast<RowStats*>(d_o(stage) + kStep * kRow);
    }
};
// #endregion keys-memory

// #region weigh
/// Products of 16 keys and kStep queries become weights: P, transposed. Row and column
/// of an element are row_of() and column_of(); a key is a row.
///
/// @param scale2     of a product, times log2(e)
/// @param first_key  of the warp
/// @param query      the first of the tile
__device__ __forceinline__ void weigh(float (&r_s)[kStep / 8][4],
                                      const Problem<Bf16>& p,
                                      const RowStats* s_stats,  // [kStep]
                                      float scale2,
                                      int first_key,
                                      int query,
                                      int lane) {
#pragma unroll
    for (int n = 0; n < kStep / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            // TODO(learner): which key and which query is it? Where both exist, and the
            // query sees the key: 2^(scale2 * product - lse2). Else 0 (about 7 lines)
            // #solution
            const int key = first_key + row_of(lane, e);
            const int column = column_of(lane, n, e);
            const bool exists = query + column < p.queries;
            const bool sees = exists && key < p.visible(query + column);
            const float weight =
                wb::ptx::exp2_approx(fmaf(r_s[n][e], scale2, -s_stats[column].lse2));
            r_s[n][e] = sees ? weight : 0.0f;
            // #end
        }
    }
}

/// Gradients of weights become gradients of scores: S, transposed.
__device__ __forceinline__ void to_d_scores(float (&r_d)[kStep / 8][4],
                                            const float (&r_weights)[kStep / 8][4],
                                            const RowStats* s_stats,  // [kStep]
                                            int lane) {
    // TODO(learner): P * (d_o . v - delta) (about 5 lines)
    // #solution
#pragma unroll
    for (int n = 0; n < kStep / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
            r_d[n][e] =
                r_weights[n][e] * (r_d[n][e] - s_stats[column_of(lane, n, e)].delta);
    }
    // #end
}
// #endregion weigh

// #region add-queries
/// Puts a warp's gradients of scores into shared memory, a row for each of its 16 keys.
__device__ __forceinline__ void store_d_scores(char* s_d_scores,
                                               const float (&r_d)[kStep / 8][4],
                                               int warp_key,
                                               int lane) {
#pragma unroll
    for (int n = 0; n < kStep / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
            char* const row = s_d_scores +
                              Rows<kStep>::offset(warp_key + row_of(lane, e), n) +
                              lane % 4 * 4;
            *reinterpret_cast<uint32_t*>(row) =
                wb::ptx::pack<Bf16>(r_d[n][e], r_d[n][e + 1]);
        }
    }
}

/// What the block's keys add to dq of kStep queries, in float, before the scale. A warp
/// has 16 of the queries, and half of the columns.
///
/// @param sums  [kStep, D] in global memory
/// @param rows  of them that exist
template <int D>
__device__ __forceinline__ void add_queries(float* sums,
                                            const char* s_d_scores,
                                            const char* s_k,
                                            int rows,
                                            int warp,
                                            int lane) {
    constexpr int kStrips = kStep / kTile;
    constexpr int kColumns = D * kStrips / kWarps;  // of a warp
    const int strip = warp % kStrips;
    const int first_step = warp / kStrips * (kColumns / kTile);
    float r_dq[kColumns / 8][4] = {};
#pragma unroll 1
    for (int n = 0; n < kOwn / kTile; ++n) {
        // TODO(learner): gradients of scores lie by keys, and are the left factor by
        // queries: load the block of 16 keys and of this strip with ldmatrix<true> and
        // turned_block_of<kStep>(). For each 16 of the warp's columns, from first_step
        // on, load the block of k, transposed as in add_rows(), and multiply (about 9
        // lines)
        // #solution
        uint32_t a[4];
        wb::ptx::ldmatrix<true>(
            a, turned_block_of<kStep>(s_d_scores, n * kTile, strip, lane));
#pragma unroll
        for (int step = 0; step < kColumns / kTile; ++step) {
            uint32_t b[4];
            wb::ptx::ldmatrix<true>(
                b, block_of<D>(s_k, n * kTile, first_step + step, lane));
            multiply(r_dq[2 * step], r_dq[2 * step + 1], a, b[0], b[1], b[2], b[3]);
        }
        // #end
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int row = strip * kTile + row_of(lane, e);
        if (row >= rows) continue;
#pragma unroll
        for (int n = 0; n < kColumns / 8; ++n)
            atomicAdd(&sums[row * D + first_step * kTile + column_of(lane, n, e)],
                      r_dq[n][e]);
    }
}
// #endregion add-queries

// #region keys-kernel
/// Queries that a block works on: kStep of them, of one head.
struct QueryTile {
    int query;         ///< the first, among those of its head
    int64_t head_row;  ///< the head's first row among all
};

/// dk and dv, and with kAdds dq as well: a block owns 128 keys, a warp 16 of them, and
/// goes over the queries that see them, 64 at a time, in all heads of the group. Four
/// products, or five.
///
/// Launch   grid kv_heads * tiles, block kBlock, KeysMemory<D>::kBytes bytes
/// @param dq_sums  [query_heads, queries, D] to which dq is added, before its scale;
///                 null without kAdds
/// @param tiles    blocks of a head
template <int D, bool kAdds>
__global__ void __launch_bounds__(kBlock, 1) backward_keys_kernel(const Problem<Bf16> p,
                                                                  const RowStats* stats,
                                                                  float* dq_sums,
                                                                  unsigned tiles) {
    extern __shared__ uint4 s_bytes[];
    const KeysMemory<D> s(reinterpret_cast<char*>(s_bytes));
    constexpr int kRow = Rows<D>::kBytes;
    const int64_t kv_head = blockIdx.x / tiles;
    const int first_key = static_cast<int>(blockIdx.x % tiles) * kOwn;
    const int64_t g_kv = kv_head * p.keys + first_key;
    const int keys = p.keys - first_key;  // from the block's first on
    const int first_query = p.first_query(first_key) / kStep * kStep;
    const int steps = tiles_of(p.queries - first_query, kStep) * p.group;
    QueryTile next = {first_query, kv_head * p.group * p.queries};
    const auto start = [&](int step) {
        if (step < steps) {
            const int stage = step % kStages;
            const int64_t row = next.head_row + next.query;
            const int rows = p.queries - next.query;
            start_rows<D, kStep>(s.q(stage), p.q + row * D, rows);
            start_rows<D, kStep>(s.d_o(stage), p.d_o + row * D, rows);
            const int i = static_cast<int>(threadIdx.x);
            if (i < kStep) {
                const bool exists = i < rows;
                wb::ptx::cp_async_zfill<8>(
                    s.stats(stage) + i, stats + row + (exists ? i : 0), exists ? 8 : 0);
            }
        }
        wb::ptx::cp_async_commit();
    };
    start_rows<D, kOwn>(s.k, p.k + g_kv * D, keys);
    start_rows<D, kOwn>(s.v, p.v + g_kv * D, keys);
    start(0);  // this group has k and v, too

    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize;
    const int warp_key = warp * kTile;
    const float scale2 = p.scale * static_cast<float>(wb::kLog2e);
    float r_dk[D / 8][4] = {};
    float r_dv[D / 8][4] = {};
    for (int step = 0; step < steps; ++step) {
        wb::ptx::cp_async_wait<0>();  // this tile is there: this thread's part,
        __syncthreads();  // everybody's; and all are done with the one before
        const QueryTile tile = next;
        next.query += kStep;
        if (next.query >= p.queries) next = {first_query, tile.head_row + p.queries};
        start(step + 1);
        const int stage = step % kStages;
        const RowStats* const s_stats = s.stats(stage);
        float r_weights[kStep / 8][4];
        float r_d[kStep / 8][4] = {};
        // TODO(learner): four products. multiply_rows() of the warp's keys with q makes
        // scores of it, weigh() weights; add_rows() adds weights * d_o to r_dv.
        // multiply_rows() of the warp's values with d_o, to_d_scores(), and add_rows()
        // of that times q to r_dk (about 10 lines)
        // #solution
        multiply_rows<D>(r_weights, s.k + warp_key * kRow, s.q(stage), lane);
        weigh(r_weights, p, s_stats, scale2, first_key + warp_key, tile.query, lane);
        add_rows<D>(r_dv, r_weights, s.d_o(stage), lane);
        multiply_rows<D>(r_d, s.v + warp_key * kRow, s.d_o(stage), lane);
        to_d_scores(r_d, r_weights, s_stats, lane);
        add_rows<D>(r_dk, r_d, s.q(stage), lane);
        // #end
        // #starter (void)r_weights, (void)s_stats, (void)scale2, (void)kRow;
        if constexpr (kAdds) {
            store_d_scores(s.d_scores, r_d, warp_key, lane);
            __syncthreads();
            add_queries<D>(dq_sums + (tile.head_row + tile.query) * D,
                           s.d_scores,
                           s.k,
                           p.queries - tile.query,
                           warp,
                           lane);
        }
    }
    wb::ptx::cp_async_wait<0>();  // without queries, k is still on its way
    const int64_t to = (g_kv + warp_key) * D;
    store_sums<D>(p.dk + to, r_dk, p.scale, keys - warp_key, lane);
    store_sums<D>(p.dv + to, r_dv, 1.0f, keys - warp_key, lane);
}
// #endregion keys-kernel

// #region finish
/// dq = scale * sums, as bf16: eight numbers a thread.
///
/// Launch   grid ceil_div(elements / 8, kBlock), block kBlock
__global__ void __launch_bounds__(kBlock)
    backward_finish_kernel(const float* sums, float scale, int64_t elements, Bf16* dq) {
    const int64_t i = (int64_t{blockIdx.x} * kBlock + threadIdx.x) * 8;
    if (i >= elements) return;
    const float4 low = *reinterpret_cast<const float4*>(sums + i);
    const float4 high = *reinterpret_cast<const float4*>(sums + i + 4);
    *reinterpret_cast<uint4*>(dq + i) =
        make_uint4(wb::ptx::pack<Bf16>(low.x * scale, low.y * scale),
                   wb::ptx::pack<Bf16>(low.z * scale, low.w * scale),
                   wb::ptx::pack<Bf16>(high.x * scale, high.y * scale),
                   wb::ptx::pack<Bf16>(high.z * scale, high.w * scale));
}
// #endregion finish

// #region fast-launch
/// All three gradients of one head dimension.
/// @param dq_sums  room for dq in float, or null: then dq has a kernel of its own
template <int D>
static void launch_backward(const Problem<Bf16>& p,
                            RowStats* stats,
                            float* dq_sums,
                            cudaStream_t stream) {
    if (p.rows() > 0) {
        backward_stats_kernel<D>
            <<<wb::grid_size(p.rows() * (D / 8), kBlock), kBlock, 0, stream>>>(p,
                                                                               stats);
        CUDA_CHECK_LAUNCH();
    }
    if (dq_sums != nullptr) {
        const size_t bytes = static_cast<size_t>(p.rows()) * D * sizeof(float);
        CUDA_CHECK(cudaMemsetAsync(dq_sums, 0, bytes, stream));
    } else if (p.rows() > 0) {
        const unsigned tiles = wb::grid_size(p.queries, kOwn);
        wb::launch_kernel(backward_queries_kernel<D>,
                          wb::grid_size(p.query_heads * tiles, 1),
                          kBlock,
                          kQueriesBytes<D>,
                          stream,
                          p,
                          stats,
                          tiles);
    }
    if (p.kv_rows() > 0) {
        const unsigned tiles = wb::grid_size(p.keys, kOwn);
        wb::launch_kernel(dq_sums != nullptr ? backward_keys_kernel<D, true>
                                             : backward_keys_kernel<D, false>,
                          wb::grid_size(p.kv_heads * tiles, 1),
                          kBlock,
                          size_t{KeysMemory<D>::kBytes},
                          stream,
                          p,
                          stats,
                          dq_sums,
                          tiles);
    }
    if (dq_sums != nullptr) {
        const int64_t elements = p.rows() * D;
        backward_finish_kernel<<<wb::grid_size(elements / 8, kBlock),
                                 kBlock,
                                 0,
                                 stream>>>(dq_sums, p.scale, elements, p.dq);
        CUDA_CHECK_LAUNCH();
    }
}

/// v4: dq is added up on the way, unless the bits must be the same always: atomics come
/// in any order, and a sum of floats depends on it.
static void attention_backward_v4(const AttentionBackward<Bf16>& call,
                                  cudaStream_t stream) {
    const auto p = problem_of(call);
    const int64_t rows = p.rows();
    const bool adds = !call.deterministic && rows > 0;
    const wb::Scratch<RowStats> stats(rows > 0 ? rows : 1, stream);
    const wb::Scratch<float> sums(adds ? call.shape.query_elements() : 1, stream);
    wb::with_head_dim<64, 128>(call.shape.head_dim, [&](auto head_dim) {
        launch_backward<head_dim()>(
            p, stats.data(), adds ? sums.data() : nullptr, stream);
    });
}
// #endregion fast-launch

// #solution
#ifndef WB_VERSION_ONLY  // attention_backward.cu has all versions, and the contract
// #end
#include "plain.h"

// #region contract
void attention_backward_fp32(const AttentionBackward<float>& call,
                             cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line, too: fp32 is given here
    if (!has_work("attention_backward_fp32", call)) return;
    plain_backward(call, stream);
}

void attention_backward_bf16(const AttentionBackward<Bf16>& call, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    require_sm_80("attention_backward_bf16");
    if (!has_work("attention_backward_bf16", call)) return;
    attention_backward_v4(call, stream);
}
// #endregion contract
// #solution
#endif
// #end
