// 05_tuned.cuh: v5: what the machine code of v4 asks for. Here are the blocks, their
// order, and the copies; 05_tuned_warp.cuh has what a warp does with a tile. What
// limits it: on Hopper, mma.sync has two thirds of the rate of wgmma.
#pragma once

#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/ptx/cp_async.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "05_tuned_warp.cuh"
#include "tiles.h"

/// What v5 is told beyond a Problem.
template <class T>
struct TunedProblem : Problem<T> {
    unsigned heads;    ///< B * Hq
    unsigned section;  ///< heads whose keys and values stay in the L2 cache together
    float log2_scale;  ///< |scale| * log2(e); 1 if the scale is 0
};

// #region v5-order
/// Which head and which rows of it a block works on, and how many keys they see.
///
/// Without a mask all blocks do the same, and those of a head follow each other, so
/// that its keys and values are read from the L2 cache. With a causal mask the last
/// rows do the most, and should start first; but if those of all heads did, the keys of
/// all heads would have to be in the cache. So the heads go in sections that fit.
template <class T, class Sizes>
struct TunedWork {
    unsigned head;
    int first_row;
    int last_row;  ///< of the block that exists

    __device__ __forceinline__ explicit TunedWork(const TunedProblem<T>& p) {
        unsigned tile;
        if (p.causal) {
            const unsigned blocks = p.section * p.tiles;
            const unsigned section = blockIdx.x / blocks;
            const unsigned rank = blockIdx.x - section * blocks;
            const unsigned begin = section * p.section;
            const unsigned heads = min(p.section, p.heads - begin);
            head = begin + rank % heads;
            tile = p.tiles - 1 - rank / heads;
        } else {
            head = blockIdx.x / p.tiles;
            tile = blockIdx.x - head * p.tiles;
        }
        first_row = static_cast<int>(tile) * Sizes::BM;
        last_row = min(first_row + Sizes::BM, p.queries) - 1;
    }
};
// #endregion v5-order

// #region v5-copy
/// A thread's part in copying rows to shared memory: one chunk of the rows r, r +
/// kStep, r + 2 kStep, ... As kStep is a multiple of 8, the swizzle moves all of these
/// chunks alike: their addresses differ by constants, which cost no instruction.
template <class Sizes>
struct Copier {
    static constexpr int kStep = Sizes::kThreads * 16 / Sizes::kRowBytes;
    static_assert(kStep % 8 == 0, "a step may not change row % 8");
    static_assert(Sizes::BN % kStep == 0 && Sizes::BM % kStep == 0,
                  "every step is a whole one");
    int row;       ///< r
    int s_offset;  ///< of its chunk, in bytes

    __device__ __forceinline__ Copier() {
        constexpr int kChunks = Sizes::D / kChunk;  // of a row
        row = static_cast<int>(threadIdx.x) / kChunks;
        s_offset = SwizzledRows<Sizes::D>::offset(
            row, static_cast<int>(threadIdx.x) % kChunks);
    }

    /// Starts the copies of kCount rows, of which `rows` exist; zeros for the others.
    /// @param g  the first row's first byte, plus 16 for each thread before this one
    template <int kCount>
    __device__ __forceinline__ void start(char* s_tile, const char* g, int rows) const {
        char* const s = s_tile + s_offset;
        if (rows >= kCount) {
#pragma unroll
            for (int i = 0; i < kCount; i += kStep) {
                const int offset = i * Sizes::kRowBytes;
                wb::ptx::cp_async<16>(s + offset, g + offset);
            }
            return;
        }
        for (int i = 0; i < kCount; i += kStep) {
            const int offset = i * Sizes::kRowBytes;
            wb::ptx::cp_async_zfill<16>(
                s + offset, g + offset, row + i < rows ? 16 : 0);
        }
    }

    /// Turns the sign of this thread's own part of the rows, or makes zeros of it. What
    /// is no number, or infinite, becomes NaN with zeros, as its scores would.
    template <class T, int kCount>
    __device__ void scale_sign(char* s_tile, float scale) const {
        const float sign = scale < 0.0f ? -1.0f : 0.0f;
        for (int i = 0; i < kCount; i += kStep) {
            T* const x = reinterpret_cast<T*>(s_tile + s_offset + i * Sizes::kRowBytes);
#pragma unroll
            for (int e = 0; e < 8; ++e)
                x[e] = T(static_cast<float>(x[e]) * sign);
        }
    }
};
// #endregion v5-copy

// #region v5-kernel
/// tensor_core_attention_v5.
///
/// Launch   grid B * Hq * tiles, block Sizes::kThreads, Sizes::kBytes bytes
template <class T, class Sizes>
__global__ void __launch_bounds__(Sizes::kThreads, Sizes::kBlocksAtOnce)
    attention_v5_kernel(const TunedProblem<T> p) {
    constexpr int D = Sizes::D;
    constexpr int BN = Sizes::BN;
    constexpr int kStage = 2 * BN * Sizes::kRowBytes;  // a tile of k and one of v
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_stages = s_q + Sizes::BM * Sizes::kRowBytes;
    const TunedWork<T, Sizes> work(p);
    const auto visible = [&](int row) {
        return wb::visible_keys(p.queries, p.keys, p.causal, min(row, p.queries - 1));
    };
    const int64_t g_row = static_cast<int64_t>(work.head) * p.queries + work.first_row;
    const int64_t kv_head = work.head / static_cast<unsigned>(p.group);
    const int tiles = tiles_of(visible(work.last_row), BN);
    const Copier<Sizes> copier;
    const auto bytes_of = [](const T* g) { return reinterpret_cast<const char*>(g); };
    // This thread's part of the next tile to be started, in bytes, and its stage.
    int64_t g_next = kv_head * p.keys * Sizes::kRowBytes + threadIdx.x * 16;
    int s_next = 0;
    const auto start_tile = [&](int j) {
        if (j < tiles) {
            char* const s_k = s_stages + s_next;
            const int left = p.keys - j * BN;
            copier.template start<BN>(s_k, bytes_of(p.k) + g_next, left);
            copier.template start<BN>(s_k + kStage / 2, bytes_of(p.v) + g_next, left);
        }
        g_next += kStage / 2;
        s_next = s_next == (Sizes::kStages - 1) * kStage ? 0 : s_next + kStage;
        wb::ptx::cp_async_commit();
    };
    copier.template start<Sizes::BM>(
        s_q, bytes_of(p.q + g_row * D) + threadIdx.x * 16, p.queries - work.first_row);
#pragma unroll
    for (int j = 0; j < Sizes::kStages - 1; ++j)
        start_tile(j);
    if (p.scale <= 0.0f) {
        wb::ptx::cp_async_wait<0>();
        copier.template scale_sign<T, Sizes::BM>(s_q, p.scale);
    }

    // A warp's rows may need fewer tiles than the block's, and a mask in few of them.
    const int lane = threadIdx.x % wb::kWarpSize;
    // The shuffle tells the compiler that the warp's number is the same in all lanes:
    // what is computed from it takes uniform registers, of which there are enough.
    const int warp_row =
        __shfl_sync(wb::kAllLanes, static_cast<int>(threadIdx.x) / wb::kWarpSize, 0) *
        kWarpRows;
    const int row = work.first_row + warp_row;
    const int warp_tiles =
        row < p.queries ? tiles_of(visible(row + kWarpRows - 1), BN) : 0;
    const int full_tiles = visible(row) / BN;
    char* const s_rows = s_q + warp_row * Sizes::kRowBytes;
    TunedWarp<T, Sizes> warp(s_rows, lane);
    for (int j = 0; j < tiles; ++j) {
        wb::ptx::cp_async_wait<Sizes::kStages - 2>();
        __syncthreads();
        start_tile(j + Sizes::kStages - 1);  // the one after it has the stage of j
        if (j == 0) warp.load_queries();
        if (j >= warp_tiles) continue;
        const char* const s_k = s_stages + s_next;
        float r_s[2][BN / 8][4];
        warp.score_keys(r_s, s_k);
        if (j >= full_tiles) {
            warp.hide_keys(r_s, [&](int i) { return visible(row + i) - j * BN; });
        }
        warp.raise_base(r_s, p.log2_scale);
        warp.add_values(r_s, s_k + kStage / 2, p.log2_scale);
    }
    wb::ptx::cp_async_wait<0>();  // without keys, q is still on its way to where
    __syncthreads();              // the output is put together
    warp.store(s_rows,
               p.o + (g_row + warp_row) * D,
               p.lse == nullptr ? nullptr : p.lse + g_row + warp_row,
               p.queries - row);
}
// #endregion v5-kernel

// #region v5-launch
/// Tiles by head dimension, as measured on an H100.
template <int D>
constexpr Tiling tiling_v5() {
    return {.head_dim = D,
            .block_rows = 128,
            .block_keys = D == 64 ? 96 : 64,
            .stages = 2,
            .query_steps = D == 64 ? 4 : 0,
            .blocks_at_once = 2};
}

template <class T>
static void attention_v5(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const int l2_bytes = wb::device_attribute(cudaDevAttrL2CacheSize);
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        using Sizes = TileSizes<tiling_v5<head_dim()>()>;
        TunedProblem<T> problem;
        static_cast<Problem<T>&>(problem) =
            problem_of(shape, q, k, v, o, lse, Sizes::BM);
        const int64_t heads = shape.batch * shape.query_heads;
        const int64_t bytes = shape.keys * 2 * Sizes::kRowBytes / problem.group;
        problem.heads = static_cast<unsigned>(heads);
        problem.section = static_cast<unsigned>(
            std::clamp<int64_t>(l2_bytes / 3 / std::max<int64_t>(bytes, 1), 1, heads));
        problem.log2_scale =
            shape.scale == 0.0f ? 1.0f : wb::log2_scale(std::abs(shape.scale));
        launch_blocks(attention_v5_kernel<T, Sizes>,
                      problem,
                      shape,
                      Sizes::kThreads,
                      Sizes::kBytes,
                      stream);
    });
}
// #endregion v5-launch
