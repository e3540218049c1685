// 08_block_looks_back.cuh: v8: all threads of a block look back, at 256 tiles at once.
// Included by scan.cu, below v6.
#pragma once

// #region v8-look-back
/// v8: each thread asks one tile; a warp adds up what its tiles say, and the block what
/// its warps say.
struct BlockLooksBack {
    /// What a warp has learned of its 32 tiles.
    template <class T>
    struct Window {
        T sum;            // from the nearest prefix on, or of all 32
        bool has_prefix;  // nothing before these tiles matters
    };

    /// The 32 tiles that end with `last`, which the warp asks as a whole: lane 0 the
    /// last, lane 1 the one before it. Before tile 0 there is a prefix of 0. Each tile
    /// that is asked has begun, and publishes before it waits: nobody waits for long.
    template <class T>
    static __device__ Window<T> ask_window(Word* words, int64_t last) {
        const int lane = threadIdx.x % wb::kWarpSize;
        Word word = kPrefix << 32;
        if (last >= lane) do {
                word = ask(words + (last - lane));
            } while (kind_of(word) == kEmpty);
        const unsigned prefixes =
            __ballot_sync(wb::kAllLanes, kind_of(word) == kPrefix);
        const int nearest = __ffs(static_cast<int>(prefixes)) - 1;  // -1: none
        T sum = prefixes == 0 || lane <= nearest ? sum_of<T>(word) : T{};
#pragma unroll
        for (int distance = wb::kWarpSize / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(wb::kAllLanes, sum, distance);
        return {sum, prefixes != 0};
    }

    /// The sum of all tiles before this one, for all threads of the block, which must
    /// all call it; with segments, from the last head on.
    ///
    /// @param words      [tiles] kEmpty, kTotal or kPrefix, and a sum
    /// @param s_windows  [kWarps] in shared memory, not used for anything else
    template <class T>
    static __device__ T look_back(Word* words, unsigned tile, Window<T>* s_windows) {
        const int warp = threadIdx.x / wb::kWarpSize;
        T before{};
        for (int64_t last = int64_t{tile} - 1;; last -= kTileThreads) {
            const Window<T> mine =
                ask_window<T>(words, last - int64_t{warp} * wb::kWarpSize);
            if (threadIdx.x % wb::kWarpSize == 0) s_windows[warp] = mine;
            __syncthreads();
            for (int w = 0; w < kWarps; ++w) {
                before += s_windows[w].sum;
                if (s_windows[w].has_prefix) return before;
            }
            __syncthreads();  // all have read, before the next round writes
        }
    }
};
// #endregion v8-look-back

// #region v8-kernel
/// v8: as v6, but the block looks back as a whole, so that all of its threads know the
/// sum of what stands before the tile.
///
/// Progress  as in v6: a block waits for tiles before its own, which have begun
///
/// Launch    grid tiles, block kTileThreads
///
/// @param next     how many blocks have begun, 0 at the launch
/// @param words    [tiles] kEmpty at the launch
/// @param vectors  whether x, heads and y are aligned for vectors
template <class R>
__global__ void __launch_bounds__(kTileThreads, kBlocksPerSm<R>)
    block_looks_back_v8_kernel(const typename R::Number* x,  // [n]
                               const uint8_t* heads,         // [n] or null
                               typename R::Number* y,        // [n]
                               int64_t n,
                               ScanKind kind,
                               Word* next,
                               Word* words,
                               bool vectors) {
    using T = typename R::Number;
    __shared__ unsigned s_tile;
    __shared__ R s_warps[kWarps];
    __shared__ BlockLooksBack::Window<T> s_windows[kWarps];
    const unsigned tile = take_ticket(next, &s_tile);
    const int64_t first = int64_t{tile} * kTile;
    const int64_t left = n - first;
    const uint8_t* g_heads = heads == nullptr ? nullptr : heads + first;
    const Items<R> items = load_items<R>(x + first, g_heads, left, vectors);
    const TileScan<R> scan = scan_tile(items, s_warps);
    const bool complete = tile == 0 || has_head(scan.total);
    if (threadIdx.x == 0)
        publish(words + tile, complete ? kPrefix : kTotal, scan.total.sum);
    const T before =
        tile == 0 ? T{} : BlockLooksBack::look_back<T>(words, tile, s_windows);
    if (threadIdx.x == 0 && !complete)
        publish(words + tile, kPrefix, before + scan.total.sum);
    store_items(items, scan, before, y + first, left, vectors, kind);
}

struct V8 {
    template <class R>
    static void run(const Job<R>& job) {
        launch_one_pass(job, block_looks_back_v8_kernel<R>);
    }
};
// #endregion v8-kernel
constexpr auto& scan_int32_v8 = scan_int32_by<V8>;
constexpr auto& scan_float_v8 = scan_float_by<V8>;
constexpr auto& segmented_scan_int32_v8 = segmented_scan_int32_by<V8>;
constexpr auto& segmented_scan_float_v8 = segmented_scan_float_by<V8>;
WB_RUNG(scan_int32, scan_int32_v8, "a block looks back");
WB_RUNG(scan_float, scan_float_v8, "a block looks back");
WB_RUNG(segmented_scan_int32, segmented_scan_int32_v8, "a block looks back");
WB_RUNG(segmented_scan_float, segmented_scan_float_v8, "a block looks back");
