// tuned_kernel.h: v5: what the machine code of v4 asks for. See tuned_warp.h for what a
// warp does with a tile; here are the blocks, their order, and the copies.
#pragma once

#include <wb/ptx/cp_async.h>

#include <cstdint>

#include "swizzled_rows.h"
#include "tiles.h"
#include "tuned_warp.h"

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
template <class T, class Tiling>
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
        first_row = static_cast<int>(tile) * Tiling::kRows;
        last_row = min(first_row + Tiling::kRows, p.queries) - 1;
    }
};
// #endregion v5-order

// #region v5-copy
/// A thread's part in copying rows to shared memory: one chunk of the rows r, r +
/// kStep, r + 2 kStep, ... As kStep is a multiple of 8, the swizzle moves all of these
/// chunks alike: their addresses differ by constants, which cost no instruction.
template <class Tiling>
struct Copier {
    static constexpr int kStep = Tiling::kThreads * 16 / Tiling::kRowBytes;
    static_assert(kStep % 8 == 0, "a step may not change row % 8");
    static_assert(Tiling::kKeys % kStep == 0 && Tiling::kRows % kStep == 0,
                  "every step is a whole one");
    int row;       ///< r
    int s_offset;  ///< of its chunk, in bytes

    __device__ __forceinline__ Copier() {
        constexpr int kChunks = Tiling::D / kChunk;  // of a row
        row = static_cast<int>(threadIdx.x) / kChunks;
        s_offset = SwizzledRows<Tiling::D>::offset(
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
                const int offset = i * Tiling::kRowBytes;
                wb::ptx::cp_async<16>(s + offset, g + offset);
            }
            return;
        }
        for (int i = 0; i < kCount; i += kStep) {
            const int offset = i * Tiling::kRowBytes;
            wb::ptx::cp_async_zfill<16>(
                s + offset, g + offset, row + i < rows ? 16 : 0);
        }
    }

    /// Turns the sign of this thread's own part of the rows, or makes zeros of it.
    template <int kCount>
    __device__ void scale_sign(char* s_tile, float scale) const {
        const unsigned keep = scale == 0.0f ? 0u : ~0u;
        const unsigned flip = scale < 0.0f ? 0x80008000u : 0u;
        for (int i = 0; i < kCount; i += kStep) {
            auto& x =
                *reinterpret_cast<uint4*>(s_tile + s_offset + i * Tiling::kRowBytes);
            x = make_uint4((x.x & keep) ^ flip,
                           (x.y & keep) ^ flip,
                           (x.z & keep) ^ flip,
                           (x.w & keep) ^ flip);
        }
    }
};
// #endregion v5-copy

// #region v5-kernel
/// tensor_core_attention_v5.
///
/// Launch   grid B * Hq * tiles, block Tiling::kThreads, Tiling::kBytes bytes
template <class T, class Tiling>
__global__ void __launch_bounds__(Tiling::kThreads, Tiling::kBlocks)
    attention_v5_kernel(const TunedProblem<T> p) {
    constexpr int D = Tiling::D;
    constexpr int kKeys = Tiling::kKeys;
    constexpr int kStage = 2 * kKeys * Tiling::kRowBytes;  // a tile of k and one of v
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_stages = s_q + Tiling::kRows * Tiling::kRowBytes;
    const TunedWork<T, Tiling> work(p);
    const auto visible = [&](int row) {
        return wb::visible_keys(p.queries, p.keys, p.causal, min(row, p.queries - 1));
    };
    const int64_t g_row = static_cast<int64_t>(work.head) * p.queries + work.first_row;
    const int64_t kv_head = work.head / static_cast<unsigned>(p.group);
    const int tiles = tiles_of(visible(work.last_row), kKeys);
    const Copier<Tiling> copier;
    const auto bytes_of = [](const T* g) { return reinterpret_cast<const char*>(g); };
    // This thread's part of the next tile to be started, in bytes, and its stage.
    int64_t g_next = kv_head * p.keys * Tiling::kRowBytes + threadIdx.x * 16;
    int s_next = 0;
    const auto start_tile = [&](int j) {
        if (j < tiles) {
            char* const s_k = s_stages + s_next;
            const int left = p.keys - j * kKeys;
            copier.template start<kKeys>(s_k, bytes_of(p.k) + g_next, left);
            copier.template start<kKeys>(
                s_k + kStage / 2, bytes_of(p.v) + g_next, left);
        }
        g_next += kStage / 2;
        s_next = s_next == (Tiling::kStages - 1) * kStage ? 0 : s_next + kStage;
        wb::ptx::cp_async_commit();
    };
    copier.template start<Tiling::kRows>(
        s_q, bytes_of(p.q + g_row * D) + threadIdx.x * 16, p.queries - work.first_row);
#pragma unroll
    for (int j = 0; j < Tiling::kStages - 1; ++j)
        start_tile(j);
    if (p.scale <= 0.0f) {
        wb::ptx::cp_async_wait<0>();
        copier.template scale_sign<Tiling::kRows>(s_q, p.scale);
    }

    // A warp's rows may need fewer tiles than the block's, and a mask in few of them.
    const int lane = threadIdx.x % wb::kWarpSize;
    // The shuffle tells the compiler that the warp's number is the same in all lanes:
    // what is computed from it takes uniform registers, of which there are enough.
    const int warp_row =
        __shfl_sync(kAll, static_cast<int>(threadIdx.x) / wb::kWarpSize, 0) * kWarpRows;
    const int row = work.first_row + warp_row;
    const int warp_tiles =
        row < p.queries ? tiles_of(visible(row + kWarpRows - 1), kKeys) : 0;
    const int full_tiles = visible(row) / kKeys;
    char* const s_rows = s_q + warp_row * Tiling::kRowBytes;
    TunedWarp<T, Tiling> warp(s_rows, lane);
    for (int j = 0; j < tiles; ++j) {
        wb::ptx::cp_async_wait<Tiling::kStages - 2>();
        __syncthreads();
        start_tile(j + Tiling::kStages - 1);  // the one after it has the stage of j
        if (j == 0) warp.load_queries();
        if (j >= warp_tiles) continue;
        const char* const s_k = s_stages + s_next;
        float r_s[2][kKeys / 8][4];
        warp.score_keys(r_s, s_k);
        if (j >= full_tiles) {
            warp.hide_keys(r_s, [&](int i) { return visible(row + i) - j * kKeys; });
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
