// scan_fast.cu: v6: one pass over the array; a warp asks 32 tiles at a time.
#include "scan.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "tiles.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kMostBlocks = 4;  // a multiprocessor has room for 1024 threads
#else
constexpr int kMostBlocks = 6;
#endif

/// Blocks that a multiprocessor is to hold: 1536 threads, with 96 KB under way. That
/// leaves 40 registers a thread, too few for heads.
template <class R>
constexpr int kBlocksPerSm = sizeof(R) == sizeof(typename R::Number) ? kMostBlocks : 4;

// #region v6-look-back
/// v6: a warp looks back, at 32 tiles at a time.
struct WarpLooksBack {
    /// The sum of all tiles before this one; with segments, from the last head on. The
    /// first warp of the block must call it as a whole.
    ///
    /// @param words  [tiles] kEmpty, kTotal or kPrefix, and a sum. A tile with a head
    ///               has a prefix at once: nothing before it matters
    /// @param tile   > 0
    template <class T>
    static __device__ T look_back(Word* words, unsigned tile) {
        const int lane = threadIdx.x % wb::kWarpSize;
        T before{};
        // TODO(learner): a window of 32 tiles ends with the tile right before this one.
        // Lane 31 asks that one, lane 30 the one before it, and so on; before tile 0
        // there is a prefix of 0. Ask again until no word behind the nearest prefix of
        // the window is empty (without a prefix: no word at all): two ballots say so.
        // Add up the sums from that prefix on, in all lanes, and add them to `before`.
        // If there was a prefix, this is the result; if not, go on with the 32 tiles
        // before these (about 20 lines)
        return before;
    }
};
// #endregion v6-look-back

// #region v6-kernel
/// One pass: each block loads a tile, scans it, tells the others its total, learns the
/// sum of all before it, tells the others that, and writes.
///
/// Progress  a block waits for tiles before its own. They belong to blocks that have
///           begun (take_ticket()), and the first of them has none to wait for. In what
///           order blocks begin, and however few there is room for, it ends
///
/// Launch    grid tiles, block kTileThreads
///
/// @param next     how many blocks have begun, 0 at the launch
/// @param words    [tiles] kEmpty at the launch
/// @param vectors  whether x, heads and y are aligned for vectors
template <class R, class LookBack>
__global__ void __launch_bounds__(kTileThreads, kBlocksPerSm<R>)
    one_pass_kernel(const typename R::Number* x,  // [n]
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
    __shared__ T s_before;
    const unsigned tile = take_ticket(next, &s_tile);
    const int64_t first = int64_t{tile} * kTile;
    const int64_t left = n - first;
    const uint8_t* g_heads = heads == nullptr ? nullptr : heads + first;
    const Items<R> items = load_items<R>(x + first, g_heads, left, vectors);
    const TileScan<R> scan = scan_tile(items, s_warps);
    // TODO(learner): one thread publishes the total of the tile, at words[tile]. If the
    // tile is the first, or has a head, this is a prefix already. The first warp looks
    // back, unless the tile is the first; one thread of it publishes the prefix, if it
    // has not yet, and leaves the sum of all before the tile in s_before, for all
    // threads to read (about 13 lines)
    store_items(items, scan, s_before, y + first, left, vectors, kind);
}
// #endregion v6-kernel

/// v6, as the four functions call it.
struct V6 {
    template <class R>
    static void run(const Job<R>& job) {
        launch_one_pass(job, one_pass_kernel<R, WarpLooksBack>);
    }
};

// #region contract
void scan_int32(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete these four when the two TODOs are written
    scan_int32_by<V6>(x, y, n, kind, stream);
}

void scan_float(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    WB_NOT_SOLVED();
    scan_float_by<V6>(x, y, n, kind, stream);
}

void segmented_scan_int32(const int32_t* x,
                          const uint8_t* heads,
                          int32_t* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();
    segmented_scan_int32_by<V6>(x, heads, y, n, kind, stream);
}

void segmented_scan_float(const float* x,
                          const uint8_t* heads,
                          float* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();
    segmented_scan_float_by<V6>(x, heads, y, n, kind, stream);
}
// #endregion contract
