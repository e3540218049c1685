// half_tiles.h: v3 and v4. The tiles are chapter 02's, of floats; what is new is how 16
// bits become 32 on the way into shared memory, and 32 become 16 on the way out.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/ptx/cp_async.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../02-flash-attention/register_tiles.h"
#include "../02-flash-attention/tile_kernels.h"
#include "pairs.h"

/// Numbers of 16 bits that one load or one copy brings: 16 bytes.
constexpr int kEight = 8;

// #region convert
/// Eight numbers of T, times a scale, to shared memory as eight floats.
template <class T>
__device__ __forceinline__ void store_floats(float* s,  // [8], 16-byte aligned
                                             uint4 eight,
                                             float scale = 1.0f) {
    Pair<T> pairs[4];
    memcpy(pairs, &eight, sizeof(eight));  // no instruction: the same registers
    const float2 a = to_floats(pairs[0]);
    const float2 b = to_floats(pairs[1]);
    const float2 c = to_floats(pairs[2]);
    const float2 d = to_floats(pairs[3]);
    *reinterpret_cast<float4*>(s) =
        make_float4(a.x * scale, a.y * scale, b.x * scale, b.y * scale);
    *reinterpret_cast<float4*>(s + 4) =
        make_float4(c.x * scale, c.y * scale, d.x * scale, d.y * scale);
}

/// Copies kRows rows of T to shared memory as floats; zeros past the last row.
template <class T, class Tiling, int kRows, int kStride>
__device__ __forceinline__ void load_rows(float* s,    // [kRows, kStride]
                                          const T* g,  // [rows, D]
                                          int rows,
                                          float scale = 1.0f) {
    constexpr int kVectors = Tiling::D / kEight;  // of a row
#pragma unroll
    for (int i = 0; i < kRows * kVectors / Tiling::kThreads; ++i) {
        const int e = i * Tiling::kThreads + static_cast<int>(threadIdx.x);
        const int r = e / kVectors;
        const int c = e % kVectors * kEight;
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (r < rows) eight = *reinterpret_cast<const uint4*>(g + r * Tiling::D + c);
        store_floats<T>(s + r * kStride + c, eight, scale);
    }
}
// #endregion convert

// #region store
/// The rows of the output, divided by their sums and only then rounded to T, and the
/// log-sum-exp.
/// @param rows  that are left from the block's first on
template <class T, class Tiling>
__device__ __forceinline__ void store_rounded(
    const Workspace<Tiling>& w,
    const float (&r_o)[Tiling::TM][Tiling::TD],
    const float (&r_max)[Tiling::TM],
    const float (&r_sum)[Tiling::TM],
    T* o,        // [rows, D]
    float* lse,  // [rows] or null
    int rows) {
    constexpr float kLn2 = 0.693147180559945309f;
#pragma unroll
    for (int i = 0; i < Tiling::TM; ++i) {
        float sum = r_sum[i];
#pragma unroll
        for (int other = 1; other < Tiling::kLanes; other *= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, other * Tiling::kLaneStep);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
        const int row = w.row + i * Tiling::kRowStep;
        if (row >= rows) continue;
#pragma unroll
        for (int c = 0; c < Tiling::TD; c += 4) {
            const Pair<T> pairs[2] = {
                to_pair<T>({r_o[i][c] * inverse, r_o[i][c + 1] * inverse}),
                to_pair<T>({r_o[i][c + 2] * inverse, r_o[i][c + 3] * inverse})};
            uint2 four;
            memcpy(&four, pairs, sizeof(four));
            T* const to = o + row * Tiling::D + c * Tiling::kLanes + 4 * w.col;
            *reinterpret_cast<uint2*>(to) = four;
        }
        if (lse != nullptr && w.col == 0) lse[row] = (r_max[i] + log2f(sum)) * kLn2;
    }
}
// #endregion store

// #region v3-kernel
/// mixed_precision_attention_v3: chapter 02's v3. Each number of k and v is converted
/// once, by the thread that loads it, eight of them at a time; the two products then
/// see nothing but floats.
///
/// @tparam T       __half or __nv_bfloat16
/// @tparam Tiling  a Tile of chapter 02
/// @param  scale2  scale * log2(e): the softmax is computed in powers of two
///
/// Launch   grid B * H * row_tiles, block Tiling::kThreads, dynamic shared memory
///          Tiling::kBytes
template <class T, class Tiling>
__global__ void __launch_bounds__(Tiling::kThreads)
    attention_v3_kernel(const T* q,  // [B * H, queries, D]
                        const T* k,  // [B * H, keys, D]
                        const T* v,  // [B * H, keys, D]
                        T* o,        // [B * H, queries, D]
                        float* lse,  // [B * H, queries] or null
                        int queries,
                        int keys,
                        unsigned row_tiles,
                        bool causal,
                        float scale2) {
    extern __shared__ float4 s_tiles[];
    constexpr int D = Tiling::D;
    constexpr int BN = Tiling::BN;
    const Workspace<Tiling> w(s_tiles);
    const BlockWork<Tiling> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * D;
    v += work.head * keys * D;
    load_rows<T, Tiling, Tiling::BM, Tiling::kStride>(
        w.s_q, q + g_row * D, work.rows, scale2);
    float r_o[Tiling::TM][Tiling::TD] = {};
    float r_sum[Tiling::TM] = {};
    float r_max[Tiling::TM];
#pragma unroll
    for (float& maximum : r_max)
        maximum = -INFINITY;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * BN;
        __syncthreads();  // nobody reads the tiles of the step before any more
        load_rows<T, Tiling, BN, Tiling::kStride>(w.s_k, k, keys - first_key);
        load_rows<T, Tiling, BN, D>(w.s_v, v, keys - first_key);
        k += BN * D;
        v += BN * D;
        __syncthreads();
        float r_s[Tiling::TM][Tiling::TN];
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<Tiling>(r_s, r_o, r_max, r_sum);
        store_weights(w, r_s);
        __syncwarp();  // the weights of a row are read by lanes of the same warp only
        add_values(w, r_o);
    }
    store_rounded<T>(w,
                     r_o,
                     r_max,
                     r_sum,
                     o + g_row * D,
                     lse == nullptr ? nullptr : lse + g_row,
                     work.rows);
}
// #endregion v3-kernel

// #region v4-stage
/// Shared memory of v4: that of v3, and a tile of BN rows as it lies in global memory.
/// The sum stays so small that two blocks share a multiprocessor where v3's did.
template <class Tiling>
constexpr size_t kBytesV4 = Tiling::kBytes + size_t{2} * Tiling::BN* Tiling::D;

/// A tile on its way: cp.async cannot convert, so the bits arrive in a stage first.
/// Each thread fetches, and later converts, always the same 16-byte places of it, so
/// that it has to wait for its own copies only, and may refill a place that it has
/// read.
template <class T, class Tiling>
class Stage {
 public:
    __device__ explicit Stage(T* s_stage) : s_stage_(s_stage) {}  // [BN, D]

    /// Starts copying BN rows; zeros past the last one.
    __device__ __forceinline__ void fetch(const T* g, int rows) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int e = place(i);
            wb::ptx::cp_async_zfill<16>(
                s_stage_ + e, g + e, e / Tiling::D < rows ? 16 : 0);
        }
        wb::ptx::cp_async_commit();
    }

    /// Waits for the rows and writes them as floats.
    template <int kStride>
    __device__ __forceinline__ void convert(float* s) const {  // [BN, kStride]
        wb::ptx::cp_async_wait<0>();
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const int e = place(i);
            store_floats<T>(s + e / Tiling::D * kStride + e % Tiling::D,
                            *reinterpret_cast<const uint4*>(s_stage_ + e));
        }
    }

 private:
    /// 16-byte vectors of a tile that each thread has.
    static constexpr int kCount = Tiling::BN * Tiling::D / kEight / Tiling::kThreads;
    static_assert(kCount * kEight * Tiling::kThreads == Tiling::BN * Tiling::D,
                  "each thread copies as many vectors");

    static __device__ __forceinline__ int place(int i) {
        return (i * Tiling::kThreads + static_cast<int>(threadIdx.x)) * kEight;
    }

    T* s_stage_;
};
// #endregion v4-stage

// #region v4-kernel
/// mixed_precision_attention_v4: v3, and the next tile is under way while the block
/// computes.
///
///     stage   | keys 0  | values 0   | keys 1      | values 1   |
///     block   |         | q . k of 0 | p . v of 0  | q . k of 1 |
///
/// Launch   as v3, with kBytesV4<Tiling> of dynamic shared memory
template <class T, class Tiling>
__global__ void __launch_bounds__(Tiling::kThreads)
    attention_v4_kernel(const T* q,  // [B * H, queries, D]
                        const T* k,  // [B * H, keys, D]
                        const T* v,  // [B * H, keys, D]
                        T* o,        // [B * H, queries, D]
                        float* lse,  // [B * H, queries] or null
                        int queries,
                        int keys,
                        unsigned row_tiles,
                        bool causal,
                        float scale2) {
    extern __shared__ float4 s_tiles[];
    constexpr int D = Tiling::D;
    constexpr int BN = Tiling::BN;
    const Workspace<Tiling> w(s_tiles);
    Stage<T, Tiling> stage(reinterpret_cast<T*>(w.s_p + Tiling::kFloatsP));
    const BlockWork<Tiling> work(queries, keys, row_tiles, causal);
    const int64_t g_row = work.head * queries + work.first_row;
    k += work.head * keys * D;
    v += work.head * keys * D;
    if (work.steps > 0) stage.fetch(k, keys);
    load_rows<T, Tiling, Tiling::BM, Tiling::kStride>(
        w.s_q, q + g_row * D, work.rows, scale2);
    float r_o[Tiling::TM][Tiling::TD] = {};
    float r_sum[Tiling::TM] = {};
    float r_max[Tiling::TM];
#pragma unroll
    for (float& maximum : r_max)
        maximum = -INFINITY;
    for (int step = 0; step < work.steps; ++step) {
        const int first_key = step * BN;
        stage.template convert<Tiling::kStride>(w.s_k);
        stage.fetch(v, keys - first_key);
        v += BN * D;
        __syncthreads();  // the keys are here, and nobody reads the values any more
        float r_s[Tiling::TM][Tiling::TN];
        tile_scores(w, r_s);
        if (work.needs_mask(first_key, keys, causal)) {
            mask_scores(w, r_s, first_key, work.visible + w.row, keys, causal);
        }
        softmax_step<Tiling>(r_s, r_o, r_max, r_sum);
        store_weights(w, r_s);
        stage.template convert<D>(w.s_v);
        k += BN * D;
        if (step + 1 < work.steps) stage.fetch(k, keys - first_key - BN);
        __syncthreads();  // the values are here, and nobody reads the keys any more
        add_values(w, r_o);
    }
    store_rounded<T>(w,
                     r_o,
                     r_max,
                     r_sum,
                     o + g_row * D,
                     lse == nullptr ? nullptr : lse + g_row,
                     work.rows);
}
// #endregion v4-kernel
