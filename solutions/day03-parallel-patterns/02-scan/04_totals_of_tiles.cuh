// 04_totals_of_tiles.cuh: v4: three kernels, with 16 elements a thread.
// Included by scan.cu, below v3 and the parts of the second stage.
#pragma once

// #region v4-totals
/// The totals of all tiles.
///
/// Launch   grid tiles, block kTileThreads
template <class R>
__global__ void tile_totals_kernel(const typename R::Number* x,  // [n]
                                   const uint8_t* heads,         // [n] or null
                                   R* totals,                    // [tiles]
                                   int64_t n,
                                   bool vectors) {
    __shared__ R s_warps[kWarps];
    const int64_t first = int64_t{blockIdx.x} * kTile;
    const uint8_t* g_heads = heads == nullptr ? nullptr : heads + first;
    const auto items = load_items<R>(x + first, g_heads, n - first, vectors);
    const R total = scan_tile(items, s_warps).total;
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
// #endregion v4-totals

// #region v4-kernel
/// The tiles again, behind the sums of all before them.
///
/// Launch   grid tiles, block kTileThreads
///
/// @param befores  [tiles] the runs of all tiles before each
template <class R>
__global__ void tile_sums_kernel(const typename R::Number* x,  // [n]
                                 const uint8_t* heads,         // [n] or null
                                 typename R::Number* y,        // [n]
                                 const R* befores,
                                 int64_t n,
                                 ScanKind kind,
                                 bool vectors) {
    __shared__ R s_warps[kWarps];
    const int64_t first = int64_t{blockIdx.x} * kTile;
    const int64_t left = n - first;
    const uint8_t* g_heads = heads == nullptr ? nullptr : heads + first;
    const auto items = load_items<R>(x + first, g_heads, left, vectors);
    const auto scan = scan_tile(items, s_warps);
    store_items(items, scan, befores[blockIdx.x].sum, y + first, left, vectors, kind);
}
// #endregion v4-kernel

// #region v4-launch
/// v4: 16 times fewer totals, vectors, and one barrier for 16 elements a thread.
struct V4 {
    template <class R>
    static void run(const Job<R>& job) {
        const unsigned tiles = wb::grid_size(job.n, kTile);
        const bool vectors = takes_vectors(job);
        const wb::Scratch<R> totals(tiles, job.stream);
        R* runs = totals.data();
        tile_totals_kernel<R><<<tiles, kTileThreads, 0, job.stream>>>(
            job.x, job.heads, runs, job.n, vectors);
        CUDA_CHECK_LAUNCH();
        three_kernels<R, Shuffles>({nullptr, nullptr, runs},
                                   {nullptr, runs},
                                   tiles,
                                   ScanKind::exclusive,
                                   job.stream);
        tile_sums_kernel<R><<<tiles, kTileThreads, 0, job.stream>>>(
            job.x, job.heads, job.y, runs, job.n, job.kind, vectors);
        CUDA_CHECK_LAUNCH();
    }
};
// #endregion v4-launch
constexpr auto& scan_int32_v4 = scan_int32_by<V4>;
constexpr auto& scan_float_v4 = scan_float_by<V4>;
constexpr auto& segmented_scan_float_v4 = segmented_scan_float_by<V4>;
WB_RUNG(scan_int32, scan_int32_v4, "16 elements a thread");
WB_RUNG(scan_float, scan_float_v4, "16 elements a thread");
WB_RUNG(segmented_scan_float, segmented_scan_float_v4, "16 elements a thread");
