// 05_wgmma_queries.cuh: v5: what blocks add to dq, in any order, and the kernel that
// makes dq of the sums.
#pragma once

#include <wb/launch.h>
#include <wb/ptx/pack.h>

#include <cstdint>

#include "05_wgmma_tiles.cuh"

namespace hopper_backward {

// #region v5-add
/// Adds four numbers at once, to global memory, and asks for no result.
__device__ __forceinline__ void add(float4* sums, float4 x) {
#if defined(SIMT_CPU)
    atomicAdd(sums, x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums),
        "f"(x.x),
        "f"(x.y),
        "f"(x.z),
        "f"(x.w)
        : "memory");
#else
    __trap();
#endif
}

/// The same of two.
__device__ __forceinline__ void add(float2* sums, float2 x) {
#if defined(SIMT_CPU)
    atomicAdd(sums, x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(sums),
                 "f"(x.x),
                 "f"(x.y)
                 : "memory");
#else
    __trap();
#endif
}

/// How a number gets to the sums: it is added to what is there.
struct Add {
    template <class Vector>
    static __device__ __forceinline__ void put(Vector* sums, Vector x) {
        add(sums, x);
    }
};

/// Adds a warpgroup's 64 x 64 part of a tile of dq to the sums.
///
/// The sums of a whole tile lie as the accumulators do: four registers of all threads,
/// then the next four. So a warp adds 512 neighbouring bytes at a time, and no lane
/// needs another's numbers. Of a tile that is cut off, rows lie one after the other.
///
/// @tparam How  Add
/// @param tile  the tile's sums
/// @param rows  of the head, from the tile's first on
template <int D, class How>
__device__ __forceinline__ void put_queries(float* tile,
                                            const float (&dq)[32],
                                            int group,
                                            int rows) {
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    if (rows >= kTileQueries<D>) {
        float4* const to = reinterpret_cast<float4*>(tile) + group * 1024 + thread;
#pragma unroll
        for (int j = 0; j < 8; ++j)
            How::put(
                to + j * kWarpgroup,
                make_float4(dq[4 * j], dq[4 * j + 1], dq[4 * j + 2], dq[4 * j + 3]));
        return;
    }
    const int lane = thread % wb::kWarpSize;
    const int row = (D == 64 ? group * 64 : 0) + thread / wb::kWarpSize * 16 + lane / 4;
    float* const to = tile + row * D + (D == 64 ? 0 : group * 64) + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        if (row + 8 * r >= rows) return;
#pragma unroll
        for (int j = 0; j < 8; ++j)
            How::put(reinterpret_cast<float2*>(to + 8 * r * D + 8 * j),
                     make_float2(dq[4 * j + 2 * r], dq[4 * j + 2 * r + 1]));
    }
}

/// dq = scale * sums, as bf16; zeros for a tile of queries that see no key, whose sums
/// are not read. A thread has two rows of eight columns: 64 bytes of sums, in the order
/// in which put_queries() left them.
///
/// Launch   grid ceil_div(heads * tiles of a head * kTileQueries<D> * D / 16, kBlock),
///          block kBlock
/// Traffic  reads 4 D B a row, writes 2 D B
template <int D>
__global__ void __launch_bounds__(kBlock)
    finish_kernel(const Problem<Bf16> p, const float* sums, unsigned head_tiles) {
    constexpr int kTileThreads = kTileQueries<D> * D / 16;
    const int64_t thread = int64_t{blockIdx.x} * kBlock + threadIdx.x;
    const int64_t tile = thread / kTileThreads;
    const int64_t head = tile / head_tiles;
    if (head >= p.query_heads) return;
    const int i = static_cast<int>(thread % kTileThreads);
    const int j = i % 8;             // which eight of 64 columns
    const int quad = i / 8 % 32;     // which two rows of 64
    const int group = i / (8 * 32);  // which 64 rows, or columns
    const int query = static_cast<int>(tile % head_tiles) * kTileQueries<D>;
    const int row = (D == 64 ? group * 64 : 0) + quad / 8 * 16 + quad % 8;
    const int column = (D == 64 ? 0 : group * 64) + j * 8;
    const int64_t first = (head * p.queries + query) * D;
    const int rows = p.queries - query;
    float r_sums[2][8] = {};
    if (p.visible(min(query + kTileQueries<D>, p.queries) - 1) == 0) {
        // Nobody has added anything.
    } else if (rows >= kTileQueries<D>) {
        const float4* const from = reinterpret_cast<const float4*>(sums + first) +
                                   group * 1024 + j * kWarpgroup + quad * 4;
#pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            const float4 four = from[lane];
            r_sums[0][2 * lane] = four.x;
            r_sums[0][2 * lane + 1] = four.y;
            r_sums[1][2 * lane] = four.z;
            r_sums[1][2 * lane + 1] = four.w;
        }
    } else {
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < 8; ++c)
                if (row + 8 * r < rows)
                    r_sums[r][c] = sums[first + (row + 8 * r) * D + column + c];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        if (row + 8 * r >= rows) continue;
        const auto pair = [&](int c) {
            return wb::ptx::pack<Bf16>(r_sums[r][c] * p.scale,
                                       r_sums[r][c + 1] * p.scale);
        };
        *reinterpret_cast<uint4*>(p.dq + first + (row + 8 * r) * D + column) =
            make_uint4(pair(0), pair(2), pair(4), pair(6));
    }
}
// #endregion v5-add

// #region v5-order
/// How blocks share the keys and put together what they add to dq: v5's way, in any
/// order. It is a parameter of the kernel; v6 has another one.
struct AnyOrder {
    float* sums;         ///< [query_heads, queries, D], zeros at the launch
    unsigned key_tiles;  ///< of a head: a block has one

    /// Registers of a thread that copies, and of one that multiplies: together the 168
    /// times 384 that a block begins with. With one more, threads would wait forever.
    template <int D>
    static constexpr int kProducerRegisters = 24;
    template <int D>
    static constexpr int kConsumerRegisters = 240;
    /// What it needs in shared memory.
    struct Shared {};
    /// Prepares that. By the whole block, which __syncthreads() afterwards.
    __device__ __forceinline__ void begin(Shared&) const {}
    /// The block's keys.
    __device__ __forceinline__ Place place(const Shared&, const Problem<Bf16>&) const {
        return {static_cast<int>(blockIdx.x / key_tiles),
                static_cast<int>(blockIdx.x % key_tiles)};
    }
    /// What is left to do for the warps that neither copy nor multiply.
    template <int D>
    __device__ __forceinline__ void serve(Shared&,
                                          const Problem<Bf16>&,
                                          const Work<D>&) const {}
    /// Takes a warpgroup's part of dq of the block's tile number i.
    template <int D>
    __device__ __forceinline__ void add(Shared&,
                                        const Problem<Bf16>& p,
                                        const Work<D>&,
                                        const QueryTile& tile,
                                        int /*i*/,
                                        const float (&dq)[32],
                                        int group) const {
        put_queries<D, Add>(sums + tile.row(p) * D, dq, group, p.queries - tile.query);
    }
};
// #endregion v5-order

}  // namespace hopper_backward
