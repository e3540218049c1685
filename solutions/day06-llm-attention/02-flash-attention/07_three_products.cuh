// 07_three_products.cuh: flash_attention_v7. Included by flash_attention.cu, below v6,
// whose parts it takes, and which it calls on a GPU without TF32.
#pragma once

#include <wb/ptx/fragment_softmax.h>
#include <wb/ptx/mma_tf32.h>

#include "06_keys_in_parts.cuh"

// #region v7-tile
/// A block's work on tensor cores: a warp has 16 rows, and all keys of a step.
template <int kDim, int kRows, int kKeys, int kBlocksEach>
struct WarpTile {
    static constexpr int D = kDim;
    static constexpr int BM = kRows;
    static constexpr int BN = kKeys;
    static constexpr int kThreads = BM / 16 * wb::kWarpSize;
    static constexpr int kBlocks = kBlocksEach;  ///< on a multiprocessor
    /// Floats from row to row of q and of keys: eight lanes read 16 columns of two
    /// rows, which have to be 16 banks apart.
    static constexpr int kStride = D + 16;
    /// Of values: eight lanes read 8 columns of four rows, each second one of them.
    static constexpr int kStrideV = D + 4;
    static constexpr int kFloatsQ = BM * kStride;
    static constexpr int kFloatsK = BN * kStride;
    static constexpr size_t kBytes =
        sizeof(float) * (kFloatsQ + kFloatsK + BN * kStrideV);
};
// #endregion v7-tile

// #region v7-watch
/// Watches for numbers that two of TF32 cannot stand for: infinities and NaN, of which
/// the second half would be NaN, and numbers below 2^-102 but for 0, of which it would
/// be too small.
struct Watch {
    uint32_t least = 0xFFFFFFFFu;  ///< 2 * bits - 1 of the smallest |x|, but for 0
    float zero = 0.0f;             ///< NaN as soon as x is not finite

    __device__ __forceinline__ void look(float x) {
        least = min(least, 2 * __float_as_uint(x) - 1);  // the sign falls out
        zero = fmaf(x, 0.0f, zero);
    }
    __device__ __forceinline__ bool has_seen() const {
        constexpr uint32_t kExponent = 127 - 102;
        return least < (kExponent << 24) - 1 || zero != 0.0f;
    }
};

/// Looks at what this thread has put into shared memory itself: start_copy() and
/// load_queries() have the same rows and columns for it.
template <class T, int kRows, int kStride>
__device__ __forceinline__ void watch_tile(const float* s,  // [kRows, kStride]
                                           Watch& watch) {
    constexpr int kStep = T::kThreads * 4 / T::D;
    const int r = threadIdx.x / (T::D / 4);
    const int c = threadIdx.x % (T::D / 4) * 4;
#pragma unroll
    for (int i = 0; i < kRows; i += kStep) {
        const float4 x = *reinterpret_cast<const float4*>(s + (r + i) * kStride + c);
        watch.look(x.x);
        watch.look(x.y);
        watch.look(x.z);
        watch.look(x.w);
    }
}
// #endregion v7-watch

// #region v7-scores
/// First product: r_s[n] += q[16 rows] . k[keys 8 n .. 8 n + 7]. The order of columns
/// in a sum is free: of 16 columns, lane t of four takes 4 t .. 4 t + 3, which it reads
/// at once; two of them are columns t and t + 4 of the first mma, two of the second.
template <class T>
__device__ __forceinline__ void warp_scores(const float* q,  // of this lane
                                            const float* k,  // of this lane
                                            float (&r_s)[T::BN / 8][4]) {
    constexpr int kTiles = 4;  // whose products take turns
#pragma unroll 2
    for (int d = 0; d < T::D; d += 16) {
        __align__(16) float r_q[2][4];
        copy_vector<4>(r_q[0], q + d);
        copy_vector<4>(r_q[1], q + 8 * T::kStride + d);
        wb::ptx::SplitTf32<4> a[2];
#pragma unroll
        for (int x = 0; x < 2; ++x) {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                a[x].set(e, r_q[e % 2][2 * x + e / 2]);
        }
#pragma unroll
        for (int n = 0; n < T::BN / 8; n += kTiles) {
            __align__(16) float r_k[kTiles][4];
#pragma unroll
            for (int j = 0; j < kTiles; ++j)
                copy_vector<4>(r_k[j], k + (n + j) * 8 * T::kStride + d);
            auto& c = reinterpret_cast<float(&)[kTiles][4]>(r_s[n]);
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                wb::ptx::SplitTf32<2> b[kTiles];
#pragma unroll
                for (int j = 0; j < kTiles; ++j) {
                    b[j].set(0, r_k[j][2 * x]);
                    b[j].set(1, r_k[j][2 * x + 1]);
                }
                wb::ptx::mma_3xtf32(c, a[x], b);
            }
        }
    }
}
// #endregion v7-scores

// #region v7-values
/// Second product: r_o[j] = factor * r_o[j] + weights . values. The weights are where
/// the first product has left its scores: a lane has those of the keys 2 t and 2 t + 1
/// of eight, so these are keys t and t + 4 of the mma, for weights and values. And of
/// 32 columns, lane g of eight takes 4 g .. 4 g + 3, one for each of four products.
///
/// The sum of a step begins at 0: a tensor core cuts off what does not fit into a sum,
/// always towards 0, and over thousands of keys that would add up.
template <class T>
__device__ __forceinline__ void warp_values(const float (&r_p)[T::BN / 8][4],
                                            const float* v,  // of this lane
                                            const float (&factor)[2],
                                            float (&r_o)[T::D / 8][4]) {
#pragma unroll
    for (int d = 0; d < T::D; d += 32) {
        float sum[4][4] = {};
#pragma unroll
        for (int n = 0; n < T::BN / 8; ++n) {
            __align__(16) float r_v[2][4];
            copy_vector<4>(r_v[0], v + 8 * n * T::kStrideV + d);
            copy_vector<4>(r_v[1], v + (8 * n + 1) * T::kStrideV + d);
            wb::ptx::SplitTf32<4> a;
            wb::ptx::SplitTf32<2> b[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                a.set(e, r_p[n][e % 2 * 2 + e / 2]);
                b[e].set(0, r_v[0][e]);
                b[e].set(1, r_v[1][e]);
            }
            wb::ptx::mma_3xtf32(sum, a, b);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                r_o[d / 8 + j][e] = fmaf(r_o[d / 8 + j][e], factor[e / 2], sum[j][e]);
        }
    }
}
// #endregion v7-values

// #region v7-store
/// Where a block's results go: its part of the sums, or, if there is one part, o and
/// lse. Rows count from the block's first one.
template <class T>
struct RowsOut {
    Parts parts;
    float* o;       // [rows, D]
    float* lse;     // [rows] or null
    int64_t g_row;  // the block's first row, of all heads

    /// What the sums of a row are multiplied with.
    __device__ __forceinline__ float factor(float sum) const {
        if (gridDim.y > 1) return 1.0f;
        return sum > 0.0f ? 1.0f / sum : 0.0f;
    }
    __device__ __forceinline__ float* columns(int row) const {
        const int64_t g = g_row + row;
        return gridDim.y > 1 ? parts.o + (blockIdx.y * parts.rows + g) * T::D
                             : o + g * T::D;
    }
    /// By one lane of a row.
    __device__ __forceinline__ void store_sums(int row, float max, float sum) const {
        constexpr float kLn2 = wb::kLn2;
        const int64_t g = g_row + row;
        if (gridDim.y > 1) {
            parts.max_sum[blockIdx.y * parts.rows + g] = make_float2(max, sum);
        } else if (lse != nullptr) {
            lse[g] = (max + log2f(sum)) * kLn2;
        }
    }
};
// #endregion v7-store

// #region v7-exact
/// The steps of keys that a block's part has: [first, last).
template <class T>
struct PartOfSteps {
    int first;
    int last;
    __device__ explicit PartOfSteps(const BlockWork<T>& work) {
        // A row of the first tiles may see so few keys that a part has none: no step.
        const int64_t steps = max(work.steps, 0);
        first = static_cast<int>(steps * blockIdx.y / gridDim.y);
        last = static_cast<int>(steps * (blockIdx.y + 1) / gridDim.y);
    }
};

/// The block's rows without tensor cores, for numbers that two of TF32 cannot stand
/// for. Slow: a warp takes its 16 rows one after the other, a lane D / 32 columns, as
/// in v2, and all lanes one key. No part of the kernel's loop, whose registers are
/// scarce: it finds its place anew. Parameters as the kernel's.
template <class T>
__device__ __noinline__ void rows_in_float(const float* q,
                                           const float* k,
                                           const float* v,
                                           float* o,
                                           float* lse,
                                           Parts parts,
                                           int queries,
                                           int keys,
                                           unsigned row_tiles,
                                           bool causal,
                                           float scale_log2) {
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const PartOfSteps<T> steps(work);
    const RowsOut<T> out = {parts, o, lse, work.head * queries + work.first_row};
    q += out.g_row * T::D;
    k += work.head * keys * T::D;
    v += work.head * keys * T::D;
    const int first_row = static_cast<int>(threadIdx.x) / wb::kWarpSize * 16;
    const int end_row = min(first_row + 16, work.rows);
    const int end_key = min(keys, steps.last * T::BN);
    constexpr int kColumns = T::D / wb::kWarpSize;
    const int lane = threadIdx.x % wb::kWarpSize;
    for (int row = first_row; row < end_row; ++row) {
        const int end = causal ? min(end_key, work.visible + row) : end_key;
        float query[kColumns];
        float sums[kColumns] = {};
        float maximum = -INFINITY;
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
            query[c] = scale_log2 * q[row * T::D + c * wb::kWarpSize + lane];
        for (int key = steps.first * T::BN; key < end; ++key) {
            const int64_t at = int64_t{key} * T::D + lane;
            float score = 0.0f;
#pragma unroll
            for (int c = 0; c < kColumns; ++c)
                score += query[c] * k[at + c * wb::kWarpSize];
#pragma unroll
            for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
                score += __shfl_xor_sync(0xFFFFFFFFu, score, step);
            const float old = maximum;
            maximum = fmaxf(maximum, score);
            const float factor = wb::ptx::exp2_approx(old - maximum);
            const float weight = wb::ptx::exp2_approx(score - maximum);
            sum = sum * factor + weight;
#pragma unroll
            for (int c = 0; c < kColumns; ++c)
                sums[c] = sums[c] * factor + weight * v[at + c * wb::kWarpSize];
        }
        const float factor = out.factor(sum);
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
            out.columns(row)[c * wb::kWarpSize + lane] = sums[c] * factor;
        if (lane == 0) out.store_sums(row, maximum, sum);
    }
}
// #endregion v7-exact

// #region v7-kernel
/// flash_attention_v7: both products on tensor cores, three of TF32 for each product of
/// floats ("3xTF32"); copies and parts are v6's.
///
/// @tparam T      a WarpTile
/// @param  parts  where the sums go if gridDim.y > 1; otherwise, o and lse are written
///
/// Launch   grid (B * H * row_tiles, P), block T::kThreads, dynamic shared memory of
///          T::kBytes
/// Traffic  as v6
/// Error    of each product less than 2^-19 of its size, where v6 has 2^-24: 32 of the
///          D + 4 roundings that a score may have. Sums of a step are cut, not rounded
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    flash_attention_v7_kernel(const float* q,  // [B * H, queries, D]
                              const float* k,  // [B * H, keys, D]
                              const float* v,  // [B * H, keys, D]
                              float* o,        // [B * H, queries, D]
                              float* lse,      // [B * H, queries] or null
                              Parts parts,
                              int queries,
                              int keys,
                              unsigned row_tiles,
                              bool causal,
                              float scale_log2) {
    extern __shared__ float4 s_tiles[];
    float* const s_q = reinterpret_cast<float*>(s_tiles);  // [BM, kStride]
    float* const s_k = s_q + T::kFloatsQ;                  // [BN, kStride]
    float* const s_v = s_k + T::kFloatsK;                  // [BN, kStrideV]
    const BlockWork<T> work(queries, keys, row_tiles, causal);
    const RowsOut<T> out = {parts, o, lse, work.head * queries + work.first_row};
    const PartOfSteps<T> steps(work);
    int64_t at = (work.head * keys + int64_t{steps.first} * T::BN) * T::D;
    if (steps.first < steps.last)
        start_copy<T, T::kStride>(s_k, k + at, keys - steps.first * T::BN);
    load_queries<T>(s_q, q + out.g_row * T::D, work.rows, scale_log2);
    Watch watch;
    watch_tile<T, T::BM, T::kStride>(s_q, watch);

    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp_row = static_cast<int>(threadIdx.x) / wb::kWarpSize * 16;
    const int row = warp_row + lane / 4;  // and row + 8
    const int t = lane % 4;
    const bool has_rows = warp_row < work.rows;
    const float* const lane_q = s_q + row * T::kStride + 4 * t;
    const float* const lane_k = s_k + lane / 4 * T::kStride + 4 * t;
    const float* const lane_v = s_v + 2 * t * T::kStrideV + lane / 4 * 4;
    wb::ptx::RowSums sums;
    float r_o[T::D / 8][4] = {};
    for (int step = steps.first; step < steps.last; ++step) {
        const int first_key = step * T::BN;
        wb::ptx::cp_async_wait<0>();
        watch_tile<T, T::BN, T::kStride>(s_k, watch);
        __syncthreads();  // the keys are here, and nobody reads the values any more
        start_copy<T, T::kStrideV>(s_v, v + at, keys - first_key);
        at += T::BN * T::D;
        float r_s[T::BN / 8][4] = {};
        float factor[2] = {};
        if (has_rows) {
            warp_scores<T>(lane_q, lane_k, r_s);
            if (work.needs_mask(first_key, keys, causal)) {
#pragma unroll
                for (int n = 0; n < T::BN / 8; ++n) {
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        const int sees = work.visible + row + e / 2 * 8;
                        const int key = first_key + 8 * n + 2 * t + e % 2;
                        if (key >= (causal ? min(keys, sees) : keys))
                            r_s[n][e] = -INFINITY;
                    }
                }
            }
            wb::ptx::softmax_step(
                reinterpret_cast<float(&)[T::BN / 2]>(r_s), 1.0f, sums, factor);
        }
        wb::ptx::cp_async_wait<0>();
        watch_tile<T, T::BN, T::kStrideV>(s_v, watch);
        __syncthreads();  // the values are here, and nobody reads the keys any more
        if (step + 1 < steps.last)
            start_copy<T, T::kStride>(s_k, k + at, keys - first_key - T::BN);
        if (has_rows) warp_values<T>(r_s, lane_v, factor, r_o);
    }
    if (__syncthreads_or(watch.has_seen())) {
        return rows_in_float<T>(
            q, k, v, o, lse, parts, queries, keys, row_tiles, causal, scale_log2);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        float sum = sums.sum[i];
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
        const int its_row = row + 8 * i;
        if (its_row >= work.rows) continue;
        const float factor = out.factor(sum);
        float* const to = out.columns(its_row) + 8 * t;
#pragma unroll
        for (int d = 0; d < T::D; d += 32) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int x = 2 * i + e;  // in a fragment
                *reinterpret_cast<float4*>(to + d + 4 * e) =
                    make_float4(r_o[d / 8][x] * factor,
                                r_o[d / 8 + 1][x] * factor,
                                r_o[d / 8 + 2][x] * factor,
                                r_o[d / 8 + 3][x] * factor);
            }
        }
        if (t == 0) out.store_sums(its_row, sums.reference[i], sum);
    }
}
// #endregion v7-kernel

// #region v7-launch
/// The tile of a head dimension: eight or twelve warps for a multiprocessor, as many as
/// its registers allow.
template <int D>
using TileOf = WarpTile<D,
                        /*kRows=*/D == 256 ? 128 : 64,
                        /*kKeys=*/D == 128 ? 64 : 32,
                        /*kBlocksEach=*/D == 256 ? 1
                        : D == 128               ? 2
                                                 : 3>;

static void flash_attention_v7(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = TileOf<head_dim()>;
        const auto kernel = flash_attention_v7_kernel<T>;
        if (wb::compute_capability() < 80 || !wb::allow_shared(kernel, T::kBytes))
            return flash_attention_v6(shape, q, k, v, o, lse, stream);
        launch_in_parts<T>(kernel,
                           int64_t{wb::multiprocessors()} * T::kBlocks,
                           shape,
                           q,
                           k,
                           v,
                           o,
                           lse,
                           stream);
    });
}
// #endregion v7-launch
WB_RUNG(flash_attention, flash_attention_v7, "3xTF32: products on tensor cores");
