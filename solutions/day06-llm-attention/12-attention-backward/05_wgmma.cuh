// 05_wgmma.cuh: v5: v4's five products by wgmma. One warp has the TMA unit copy tiles;
// two warpgroups own 64 keys each, and multiply.
#pragma once

#include <wb/attention_rows.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/online_softmax.h>
#include <wb/ptx/mbarrier.h>
#include <wb/ptx/pack.h>
#include <wb/ptx/warp_specialize.h>
#include <wb/ptx/wgmma.h>
#include <wb/ptx/wgmma_fragment.h>
#include <wb/scratch.h>

#include <climits>
#include <cstdint>

#include "05_wgmma_queries.cuh"
#include "05_wgmma_scores.cuh"
#include "05_wgmma_tiles.cuh"
#include "problem.h"
#include "queries_kernel.cuh"

namespace hopper_backward {

// #region v5-consume
/// Stores a warpgroup's 64 rows of sums, times a factor, 16 bytes a lane.
///
/// @param g     the first row
/// @param rows  that exist, from the first one on
template <int D>
__device__ __forceinline__ void store_rows(Bf16* g,
                                           const float (&r_sums)[D / 2],
                                           float factor,
                                           int rows) {
    const int lane = static_cast<int>(threadIdx.x) % wb::kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / wb::kWarpSize % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = warp * 16 + lane / 4 + 8 * r;
#pragma unroll
        for (int i = 0; i < D / 2; i += 16) {  // 32 columns of the quad
            uint32_t x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int e = i + 4 * c + 2 * r;
                x[c] = wb::ptx::pack<Bf16>(r_sums[e] * factor, r_sums[e + 1] * factor);
            }
            wb::ptx::transpose_quad(x);
            if (row < rows)
                *reinterpret_cast<uint4*>(g + row * D + 2 * i + 8 * (lane % 4)) =
                    make_uint4(x[0], x[1], x[2], x[3]);
        }
    }
}

/// All products of a warpgroup: dk and dv of its 64 keys stay in registers; its half of
/// dq of each tile goes to the sums.
template <int D, class Order>
__device__ __forceinline__ void consume(Shared<D>& s,
                                        typename Order::Shared& s_order,
                                        const Problem<Bf16>& p,
                                        const Work<D>& work,
                                        int group,
                                        const Order& order) {
    using namespace wb::ptx;
    constexpr int kQueries = kTileQueries<D>;
    const float scale2 = p.scale * static_cast<float>(wb::kLog2e);
    const int first_key = work.first_key + group * kGroupKeys;
    const int key = first_key + static_cast<int>(threadIdx.x) / wb::kWarpSize % 4 * 16 +
                    static_cast<int>(threadIdx.x) % wb::kWarpSize / 4;
    const unsigned char* const k = s.k + group * kGroupKeys * kSwizzleBytes;
    const unsigned char* const v = s.v + group * kGroupKeys * kSwizzleBytes;
    // Of dq, a warpgroup has 64 of 128 columns, or 64 of 128 queries.
    const unsigned char* const dq_k =
        s.k + (D == 64 ? 0 : group * kBlockKeys * kSwizzleBytes);
    const int dq_rows = (D == 64 ? group * 64 : 0) * kSwizzleBytes;
    const int last_key = first_key + kGroupKeys - 1;
    // No tile from this query on needs a mask.
    const int unmasked = last_key < p.keys ? p.first_query(last_key) : INT_MAX;
    float r_dk[D / 2] = {};
    float r_dv[D / 2] = {};
    float r_scores[kQueries / 2];
    // Starts the scores of tile number i.
    const auto start_scores = [&](int i) {
        mbarrier_wait(&s.q_full[i % 2], i / 2 % 2);
        wgmma_fence();
        start_rows_product<D, kBlockKeys, kQueries>(r_scores, k, s.q[i % 2]);
        wgmma_commit();
    };
    if (work.tiles > 0) {
        mbarrier_wait(&s.k_full, 0);
        start_scores(0);
        wgmma_wait<0>();
        wgmma_keep(r_scores);
        mbarrier_wait(&s.v_full, 0);
    }
    QueryTile tile(p, work);
    for (int i = 0; i < work.tiles; ++i) {
        const int stage = i % 2;
        const unsigned char* const q = s.q[stage];
        const unsigned char* const d_o = s.d_o[stage];
        const RowStats* const s_stats = s.stats[stage];
        float r_weights[kQueries / 2];
        float r_d[kQueries / 2];
        float r_dq[32];
        uint32_t packed_weights[kQueries / 16][4];
        uint32_t packed_d[kQueries / 16][4];

        mbarrier_wait(&s.d_o_full[stage], i / 2 % 2);
        wgmma_fence();
        start_rows_product<D, kBlockKeys, kQueries>(r_d, v, d_o);
        wgmma_commit();

        weigh(r_weights, r_scores, s_stats, scale2);
        if (tile.query < unmasked) mask(r_weights, p, key, tile.query);
        if constexpr (kSumsEarly<D>) {
            pack_operand<Bf16>(packed_weights, r_weights);
            wgmma_fence();
            start_sums<D, kQueries>(r_dv, packed_weights, d_o);
            wgmma_commit();
            wgmma_wait<1>();  // dv may still be on its way
        } else {
            wgmma_wait<0>();
        }
        wgmma_keep(r_d);
        weigh_gradients(r_d, r_weights, s_stats);
        pack_operand<Bf16>(packed_d, r_d);
        store_d_scores<kQueries>(s.d_scores[stage][group], packed_d);
        async_proxy_fence();  // what threads wrote, wgmma reads
        if constexpr (!kSumsEarly<D>) {
            pack_operand<Bf16>(packed_weights, r_weights);
            wgmma_fence();
            start_sums<D, kQueries>(r_dv, packed_weights, d_o);
            wgmma_commit();
        }
        named_barrier_sync(kScoresBarrier, kConsumers);
        wgmma_fence();
        start_queries<D>(r_dq, s.d_scores[stage][0] + dq_rows, dq_k);
        wgmma_commit();
        start_sums<D, kQueries>(r_dk, packed_d, q);
        wgmma_commit();

        wgmma_wait<1>();  // dk may still be on its way
        wgmma_keep(r_dv);
        wgmma_keep(r_dq);
        release(&s.d_o_empty[stage]);
        start_scores(i + 1 < work.tiles ? i + 1 : i);  // nobody uses the last
        order.add(s_order, p, work, tile, i, r_dq, group);
        wgmma_wait<0>();
        wgmma_keep(r_dk);
        wgmma_keep(r_scores);
        wb::ptx::mbarrier_arrive(&s.q_empty[stage]);
        tile.advance(p, work);
    }
    const int64_t to = (int64_t{work.kv_head} * p.keys + first_key) * D;
    store_rows<D>(p.dk + to, r_dk, p.scale, p.keys - first_key);
    store_rows<D>(p.dv + to, r_dv, 1.0f, p.keys - first_key);
}
// #endregion v5-consume

// #region v5-kernel
/// attention_backward_v5 and v6: dk and dv of 128 keys, and what these add to dq. Five
/// products of 2 * 128 * kTileQueries * D operations each a tile of queries.
///
/// Launch   grid kv_heads * ceil_div(keys, kBlockKeys), block kBlockThreads,
///          kSharedBytes<D> bytes of dynamic shared memory; sm_90a
/// Traffic  reads q and d_o once for each 128 keys, and adds 4 D B a row to dq's sums
/// @param stats  [query_heads, queries]
/// @param order  AnyOrder or InTurn: where dq is added up before its scale;
///               put_queries() says where an element lies
template <int D, class Order>
__global__ void __launch_bounds__(kBlockThreads, 1)
    keys_kernel(const __grid_constant__ Maps maps,
                const __grid_constant__ Problem<Bf16> p,
                const RowStats* stats,
                const __grid_constant__ Order order) {
    extern __shared__ unsigned char s_dynamic[];
    __shared__ typename Order::Shared s_order;
    Shared<D>& s = shared_of<D>(s_dynamic);
    order.begin(s_order);
    make_barriers(s);
    const Work<D> work(p, order.place(s_order, p));
    // Arithmetic on threadIdx.x is not uniform to the compiler; a shuffle makes it so.
    const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
    const int group = __shfl_sync(wb::kAllLanes, warpgroup, 0) - 1;
    if (group < 0) {
        wb::ptx::registers_give_back<Order::template kProducerRegisters<D>>();
        if (threadIdx.x < wb::kWarpSize)
            produce(s, maps, p, work, stats);
        else
            order.serve(s_order, p, work);
    } else {
        wb::ptx::registers_take<Order::template kConsumerRegisters<D>>();
        consume(s, s_order, p, work, group, order);
    }
}
// #endregion v5-kernel

// #region v5-launch
/// All three gradients of one head dimension; there are queries, and keys.
template <int D, class Order>
void launch(const Problem<Bf16>& p,
            RowStats* stats,
            const Order& order,
            cudaStream_t stream) {
    backward_stats_kernel<D>
        <<<wb::grid_size(p.rows() * (D / 8), kBlock), kBlock, 0, stream>>>(p, stats);
    CUDA_CHECK_LAUNCH();
    const auto map =
        [](const char* name, const Bf16* base, int64_t heads, int rows, int box) {
            return wb::tensor_map<Bf16>(
                name, wb::dense_rows(base, 1, heads, rows, D), box);
        };
    const Maps maps = {map("q", p.q, p.query_heads, p.queries, kTileQueries<D>),
                       map("k", p.k, p.kv_heads, p.keys, kBlockKeys),
                       map("v", p.v, p.kv_heads, p.keys, kBlockKeys),
                       map("d_o", p.d_o, p.query_heads, p.queries, kTileQueries<D>)};
    const unsigned key_tiles = wb::grid_size(p.keys, kBlockKeys);
    wb::launch_kernel(keys_kernel<D, Order>,
                      wb::grid_size(p.kv_heads * key_tiles, 1),
                      kBlockThreads,
                      kSharedBytes<D>,
                      stream,
                      maps,
                      p,
                      static_cast<const RowStats*>(stats),
                      order);
    const unsigned head_tiles = wb::grid_size(p.queries, kTileQueries<D>);
    const int64_t threads = p.query_heads * head_tiles * (kTileQueries<D> * D / 16);
    finish_kernel<D><<<wb::grid_size(threads, kBlock), kBlock, 0, stream>>>(
        p, order.sums, head_tiles);
    CUDA_CHECK_LAUNCH();
}
// #endregion v5-launch

}  // namespace hopper_backward

/// v5: wgmma and TMA where the GPU has them and the bits may differ; without a query or
/// a key there are only zeros to write, which v3 does.
///
/// @tparam kHeadDims  those that a call may have
template <int... kHeadDims>
static void attention_backward_v5(const AttentionBackward<Bf16>& call,
                                  cudaStream_t stream) {
    const auto p = problem_of(call);
    if (call.deterministic || wb::compute_capability() != 90 || p.rows() == 0 ||
        p.kv_rows() == 0)
        return attention_backward_v3(call, stream);
    const wb::Scratch<RowStats> stats(p.rows(), stream);
    const wb::Scratch<float> sums(call.shape.query_elements(), stream);
    const size_t bytes =
        static_cast<size_t>(call.shape.query_elements()) * sizeof(float);
    CUDA_CHECK(cudaMemsetAsync(sums.data(), 0, bytes, stream));
    const unsigned key_tiles = wb::grid_size(p.keys, hopper_backward::kBlockKeys);
    wb::with_head_dim<kHeadDims...>(call.shape.head_dim, [&](auto head_dim) {
        hopper_backward::launch<head_dim()>(
            p, stats.data(), hopper_backward::AnyOrder{sums.data(), key_tiles}, stream);
    });
}
