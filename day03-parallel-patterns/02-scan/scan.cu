// scan.cu: all sums from the first element on, of an array or of its segments.
#include "scan.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include "runs.h"

// #region sizes
/// Threads of a block, and elements of its tile.
constexpr int kThreads = 256;
// #endregion sizes

// #region v1-block
/// v1, Hillis and Steele: after the step with distance d, each thread has the run of
/// the last 2 d elements up to its own.
struct HillisSteele {
    /// Scans the runs of a block, one of each thread. All threads must call it.
    ///
    /// @param mine    this thread's run
    /// @param s_runs  [kThreads] on return, for all threads to read: the runs from
    ///                thread 0 up to each thread, its own included
    template <class R>
    static __device__ void scan(R mine, R* s_runs) {
        // TODO(learner): write your run to s_runs. Then, with the distances 1, 2, 4,
        // ... below kThreads: join the run of the thread that is so far before this
        // one, if there is one, and yours, in this order. No run may be written before
        // the neighbour has read the old one, or read before it has been written
        // (about 8 lines)
    }
};
// #endregion v1-block

// #region totals-kernel
/// The first of three kernels: the run of each tile as a whole.
///
/// Launch   grid tiles, block kThreads
template <class R, class BlockScan>
__global__ void totals_kernel(Input<R> in,
                              R* totals,  // [tiles]
                              int64_t n) {
    // TODO(learner): the block's tile begins at blockIdx.x * kThreads, in 64 bits. Load
    // one element a thread, R{} past the end; BlockScan::scan() them; one thread writes
    // the last of the runs to totals[blockIdx.x] (about 4 lines)
}
// #endregion totals-kernel

// #region tiles-kernel
/// The last of three kernels: scans each tile again, behind the run of all tiles before
/// it.
///
/// Launch   grid tiles, block kThreads
///
/// @param befores  [tiles] the runs of all tiles before each; null: there is one tile
template <class R, class BlockScan>
__global__ void tiles_kernel(
    Input<R> in, Output<R> out, const R* befores, int64_t n, ScanKind kind) {
    // TODO(learner): load and scan the tile as in the first kernel. Join befores[tile],
    // if there is one, and what stands in the tile before this thread's element. That,
    // but R{} where in.begins(i), is the exclusive sum; join it and the element for the
    // inclusive one. out.store() it, if i < n (about 10 lines)
}
// #endregion tiles-kernel

// #region three-kernels
/// Three kernels: the totals of all tiles; their exclusive scan, which this function
/// does as well, for there are fewer of them; and the tiles. Kernels of a stream run
/// one after the other: no block waits for another one.
template <class R, class BlockScan>
static void three_kernels(const Input<R>& in,
                          const Output<R>& out,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    const unsigned tiles = wb::grid_size(n, kThreads);
    if (tiles == 1) {
        tiles_kernel<R, BlockScan>
            <<<1, kThreads, 0, stream>>>(in, out, nullptr, n, kind);
        CUDA_CHECK_LAUNCH();
        return;
    }
    const wb::Scratch<R> totals(tiles, stream);
    R* runs = totals.data();
    totals_kernel<R, BlockScan><<<tiles, kThreads, 0, stream>>>(in, runs, n);
    CUDA_CHECK_LAUNCH();
    three_kernels<R, BlockScan>(
        {nullptr, nullptr, runs}, {nullptr, runs}, tiles, ScanKind::exclusive, stream);
    tiles_kernel<R, BlockScan><<<tiles, kThreads, 0, stream>>>(in, out, runs, n, kind);
    CUDA_CHECK_LAUNCH();
}
// #endregion three-kernels

/// v1, with the block scan that you have written.
struct V1 {
    template <class R>
    static void run(const Job<R>& job) {
        three_kernels<R, HillisSteele>(
            {job.x, job.heads, nullptr}, {job.y, nullptr}, job.n, job.kind, job.stream);
    }
};

// #region contract
void scan_int32(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete these four when the three TODOs are written
    scan_int32_by<V1>(x, y, n, kind, stream);
}

void scan_float(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    WB_NOT_SOLVED();
    scan_float_by<V1>(x, y, n, kind, stream);
}

void segmented_scan_int32(const int32_t* x,
                          const uint8_t* heads,
                          int32_t* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();
    segmented_scan_int32_by<V1>(x, heads, y, n, kind, stream);
}

void segmented_scan_float(const float* x,
                          const uint8_t* heads,
                          float* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();
    segmented_scan_float_by<V1>(x, heads, y, n, kind, stream);
}
// #endregion contract
