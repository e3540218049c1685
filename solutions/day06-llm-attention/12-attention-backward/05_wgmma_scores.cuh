// 05_wgmma_scores.cuh: v5: starts of the five products by wgmma, and what is done with
// scores between them.
#pragma once

#include <wb/ptx/exp2.h>
#include <wb/ptx/stmatrix.h>
#include <wb/ptx/wgmma.h>
#include <wb/ptx/wgmma_fragment.h>

#include <climits>
#include <cstdint>

#include "05_wgmma_tiles.cuh"

namespace hopper_backward {

// #region v5-products
/// Starts c = a b^T: 64 rows of a with each row of b, all of D numbers.
///
/// @param a  the first of the 64 rows, in the first panel of a tile of kRows rows
/// @param b  a tile of kColumns rows
template <int D, int kRows, int kColumns>
__device__ __forceinline__ void start_rows_product(float (&c)[kColumns / 2],
                                                   const unsigned char* a,
                                                   const unsigned char* b) {
    const uint64_t a_tile = wb::ptx::wgmma_descriptor(shared_address(a));
    const uint64_t b_tile = wb::ptx::wgmma_descriptor(shared_address(b));
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
        // 16 columns are 32 bytes, 4 times within a panel. Descriptors count in 16.
        const int panel = i / 4;
        const int column = i % 4 * 32;
        const uint64_t a_step = (panel * kRows * kSwizzleBytes + column) / 16;
        const uint64_t b_step = (panel * kColumns * kSwizzleBytes + column) / 16;
        wb::ptx::wgmma<Bf16>(c, a_tile + a_step, b_tile + b_step, i > 0);
    }
}

/// Starts c += a b: weights of 64 keys for kRows queries, in registers, times the rows
/// of these queries.
///
/// @param a  as pack_operand leaves them; must not change until the wgmmas are done
/// @param b  a tile of kRows rows of D numbers
template <int D, int kRows>
__device__ __forceinline__ void start_sums(float (&c)[D / 2],
                                           const uint32_t (&a)[kRows / 16][4],
                                           const unsigned char* b) {
    const uint64_t b_tile =
        wb::ptx::wgmma_descriptor(shared_address(b), kRows * kSwizzleBytes);
#pragma unroll
    for (int i = 0; i < kRows / 16; ++i) {
        const uint64_t b_step = i * 16 * kSwizzleBytes / 16;  // 16 rows further down
        wb::ptx::wgmma<Bf16, true>(c, a[i], b_tile + b_step, true);
    }
}

/// Starts what the block's 128 keys add to 64 columns of dq for 64 queries: a
/// warpgroup's half of the tile.
///
/// @param d_scores  the first of the 64 queries, in the panel of the first 64 keys
/// @param k         the 64 columns: a panel of 128 rows
template <int D>
__device__ __forceinline__ void start_queries(float (&dq)[32],
                                              const unsigned char* d_scores,
                                              const unsigned char* k) {
    constexpr int kScoresPanel = kTileQueries<D> * kSwizzleBytes;
    const uint64_t a_tile = wb::ptx::wgmma_descriptor(shared_address(d_scores));
    const uint64_t b_tile = wb::ptx::wgmma_descriptor(shared_address(k));
#pragma unroll
    for (int i = 0; i < kBlockKeys / 16; ++i) {
        const uint64_t a_step = (i / 4 * kScoresPanel + i % 4 * 32) / 16;
        const uint64_t b_step = i * 16 * kSwizzleBytes / 16;
        wb::ptx::wgmma<Bf16, true>(dq, a_tile + a_step, b_tile + b_step, i > 0);
    }
}
// #endregion v5-products

// #region v5-scores
/// Weights of keys that a query does not see, or that do not exist, become 0.
///
/// @param key    the thread's first; the other one is 8 further on
/// @param query  the tile's first
template <int kCount>
__device__ __forceinline__ void mask(float (&r_s)[kCount],
                                     const Problem<Bf16>& p,
                                     int key,
                                     int query) {
    const int column = query + 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const bool exists = key + 8 * r < p.keys;
        const int first = exists ? p.first_query(key + 8 * r) - column : INT_MAX;
#pragma unroll
        for (int i = 2 * r; i < kCount; i += i % 2 == 0 ? 1 : 3)
            if (i / 4 * 8 + i % 2 < first) r_s[i] = 0.0f;
    }
}

/// Products become weights: P, transposed.
///
/// @param scale2  of a product, times log2(e)
template <int kCount>
__device__ __forceinline__ void weigh(float (&r_weights)[kCount],
                                      const float (&r_scores)[kCount],
                                      const RowStats* s_stats,  // [2 kCount]
                                      float scale2) {
    // Two rows of queries are 16 bytes.
    const auto* const pairs =
        reinterpret_cast<const float4*>(s_stats) + threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
        const float4 pair = pairs[4 * j];  // lse2, delta of two queries
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const float lse2 = e % 2 == 0 ? pair.x : pair.z;
            r_weights[4 * j + e] =
                wb::ptx::exp2_approx(fmaf(r_scores[4 * j + e], scale2, -lse2));
        }
    }
}

/// Gradients of weights become gradients of scores: S, transposed.
template <int kCount>
__device__ __forceinline__ void weigh_gradients(float (&r_d)[kCount],
                                                const float (&r_weights)[kCount],
                                                const RowStats* s_stats) {
    const auto* const pairs =
        reinterpret_cast<const float4*>(s_stats) + threadIdx.x % 4;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
        const float4 pair = pairs[4 * j];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const float delta = e % 2 == 0 ? pair.y : pair.w;
            float& d = r_d[4 * j + e];
            d = r_weights[4 * j + e] * (d - delta);
        }
    }
}

/// Puts a warp's gradients of scores, 16 keys and all queries of the tile, where dq's
/// product looks for them: a row for each query. stmatrix transposes on the way.
///
/// @param panel  of the warpgroup
template <int kQueries>
__device__ __forceinline__ void store_d_scores(
    unsigned char* panel, const uint32_t (&r_d)[kQueries / 16][4]) {
    const uint32_t lane = threadIdx.x % wb::kWarpSize;
    const uint32_t warp = threadIdx.x / wb::kWarpSize % 4;
    // Registers 0 and 1 are of queries 0 to 7 and of keys 0 to 7 and 8 to 15, 2 and 3
    // of the next eight queries.
    const uint32_t row = lane / 16 * 8 + lane % 8;
    const uint32_t byte = warp * 32 + lane / 8 % 2 * 16;
#pragma unroll
    for (int i = 0; i < kQueries / 16; ++i)
        wb::ptx::stmatrix<true>(
            panel + wb::ptx::swizzle_128b(static_cast<uint32_t>(16 * i) + row, byte),
            r_d[i]);
}
// #endregion v5-scores

}  // namespace hopper_backward
