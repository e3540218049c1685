// 07_next_tile.cuh: v7: the next tile is on its way while a block looks back (sm_90).
// Included by scan.cu, below v6.
#pragma once

#include <wb/device.h>
#include <wb/ptx/bulk.h>

#include <algorithm>

// #region v7-tickets
/// What one thread of a block does ahead of the others: it takes tickets, and has tiles
/// copied to shared memory. A tile that reaches over the end of the array is not.
template <class T>
struct NextTile {
    const T* x;  // [n]
    int64_t n;
    Word* next;  // how many tickets have been taken
    T* s_x;      // [kTile] where tiles are copied to
    wb::ptx::Mbarrier* s_full;

    __device__ unsigned take() const {
        return static_cast<unsigned>(atomicAdd(next, Word{1}));
    }
    __device__ bool is_whole(unsigned tile) const {
        return (int64_t{tile} + 1) * kTile <= n;
    }
    __device__ void start(unsigned tile) const {
        if (!is_whole(tile)) return;
        constexpr int kBytes = kTile * int{sizeof(T)};
        wb::ptx::mbarrier_expect(s_full, kBytes);
        wb::ptx::bulk_load(s_x, x + int64_t{tile} * kTile, kBytes, s_full);
    }
};
// #endregion v7-tickets

// #region v7-kernel
/// v7: as v6, but a block takes tile after tile. As soon as a tile is in registers, the
/// copy of the block's next one starts; it takes place while the block scans, looks
/// back and writes. The ticket after that is asked for at the same time: nobody waits
/// for the answer before the next round.
///
/// Progress  a block takes its tiles in the order of its tickets. The first tile of all
///           that has not ended is the first of its block, so it has none to wait for
///
/// Launch    grid of any number of blocks, block kTileThreads
///
/// @param next   how many tickets have been taken, 0 at the launch
/// @param words  [num_tiles] kEmpty at the launch
template <class T>
__global__ void __launch_bounds__(kTileThreads, kBlocksPerSm<Run<T>>)
    next_tile_v7_kernel(const T* x,  // [n] 16-byte aligned
                        T* y,        // [n] 16-byte aligned
                        int64_t n,
                        ScanKind kind,
                        Word* next,
                        Word* words,
                        unsigned num_tiles) {
    using R = Run<T>;
    __shared__ alignas(16) T s_x[kTile];
    __shared__ wb::ptx::Mbarrier s_full[1];
    __shared__ unsigned s_tile;
    __shared__ R s_warps[kWarps];
    __shared__ T s_before;
    const bool leads = threadIdx.x == kTileThreads - 1;  // not of the first warp
    const NextTile<T> ahead{x, n, next, s_x, s_full};
    wb::ptx::make_full_barriers(s_full);
    unsigned ticket = 0;  // the leading thread's, for the next tile
    if (leads) {
        s_tile = ahead.take();
        ahead.start(s_tile);
        ticket = ahead.take();
    }
    __syncthreads();
    unsigned tile = s_tile;
    for (unsigned parity = 0; tile < num_tiles; parity ^= 1) {
        const int64_t first = int64_t{tile} * kTile;
        const int64_t left = n - first;
        const bool is_whole = ahead.is_whole(tile);
        if (is_whole) wb::ptx::mbarrier_wait(s_full, parity);
        const Items<R> items =
            load_items<R>(is_whole ? s_x : x + first, nullptr, left, is_whole);
        const TileScan<R> scan = scan_tile(items, s_warps);
        // Behind the barrier in scan_tile() all have read s_x and s_tile.
        if (leads) {
            s_tile = ticket;
            ahead.start(ticket);
            ticket = ahead.take();
        }
        if (threadIdx.x < wb::kWarpSize) {
            if (threadIdx.x == 0)
                publish(words + tile, tile == 0 ? kPrefix : kTotal, scan.total.sum);
            const T before = tile == 0 ? T{} : WarpLooksBack::look_back<T>(words, tile);
            if (threadIdx.x == 0) {
                if (tile > 0) publish(words + tile, kPrefix, before + scan.total.sum);
                s_before = before;
            }
        }
        __syncthreads();
        store_items(items, scan, s_before, y + first, left, true, kind);
        tile = s_tile;
    }
}
// #endregion v7-kernel

// #region v7-launch
/// v7, of arrays that bulk copies can move; v6 where they cannot, and with segments.
struct V7 {
    template <class T>
    static void run(const Job<SegmentRun<T>>& job) {
        V6::run(job);
    }
    template <class T>
    static void run(const Job<Run<T>>& job) {
        if (wb::compute_capability() < 90 || !takes_vectors(job)) return V6::run(job);
        const unsigned tiles = wb::grid_size(job.n, kTile);
        const unsigned blocks = std::min(
            tiles, static_cast<unsigned>(wb::multiprocessors() * kBlocksPerSm<Run<T>>));
        const EmptyWords words(tiles, job.stream);
        next_tile_v7_kernel<T><<<blocks, kTileThreads, 0, job.stream>>>(
            job.x, job.y, job.n, job.kind, words.next(), words.data(), tiles);
        CUDA_CHECK_LAUNCH();
    }
};
// #endregion v7-launch
constexpr auto& scan_int32_v7 = scan_int32_by<V7>;
constexpr auto& scan_float_v7 = scan_float_by<V7>;
WB_RUNG(scan_int32, scan_int32_v7, "the next tile on its way");
WB_RUNG(scan_float, scan_float_v7, "the next tile on its way");
