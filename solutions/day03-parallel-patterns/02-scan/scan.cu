// scan.cu: all sums from the first element on, of an array or of its segments.
// #solution
//
// v4, v5, v7 and v8 have a file each; v6 is in scan_fast.cu, the second stage.
//
// <Ladder of="scan_int32" at="n = 268435456">
//        GB/s  idea                           what limits it
//   v1    752  Hillis and Steele              two barriers in each of 8 steps
//   v2    324  Blelloch's tree                more barriers, and bank conflicts
//   v3    814  shuffles                       one element a thread
//   v4  2,780  16 elements a thread           reads twice
//   v5  2,160  one pass, a thread looks back  the look-back: one answer after another
//   v6  2,680  a warp looks back              no loads while a block looks back
//   v7  1,630  the next tile on its way       tickets that nobody serves yet
//   v8  2,600  a block looks back             more barriers a tile
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="scan_float" at="n = 268435456">
//        GB/s  idea                           what limits it
//   v1    751  Hillis and Steele              two barriers in each of 8 steps
//   v4  2,780  16 elements a thread           reads twice
//   v5  2,160  one pass, a thread looks back  the look-back: one answer after another
//   v6  2,680  a warp looks back              no loads while a block looks back
//   v7  1,650  the next tile on its way       tickets that nobody serves yet
//   v8  2,610  a block looks back             more barriers a tile
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="segmented_scan_int32" at="n = 268435456, segments of 100">
//        GB/s  idea                           what limits it
//   v1    694  Hillis and Steele              two barriers in each of 8 steps
//   v5  3,160  one pass, a thread looks back  the look-back: one answer after another
//   v6  3,070  a warp looks back              the speed of memory
//   v8  2,520  a block looks back             more barriers a tile
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="segmented_scan_float" at="n = 268435456, segments of 100">
//        GB/s  idea                  what limits it
//   v1    696  Hillis and Steele     two barriers in each of 8 steps
//   v2    273  Blelloch's tree       more barriers, and bank conflicts
//   v3    613  shuffles              one element a thread
//   v4  2,730  16 elements a thread  reads twice
//   v6  3,030  a warp looks back     the speed of memory
//   v8  2,530  a block looks back    more barriers a tile
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
// #end
#include "scan.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
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
        // #solution
        const int tid = threadIdx.x;
        s_runs[tid] = mine;
        __syncthreads();
        for (int distance = 1; distance < kThreads; distance *= 2) {
            if (tid >= distance) mine = join(s_runs[tid - distance], mine);
            __syncthreads();  // all have read the old runs
            s_runs[tid] = mine;
            __syncthreads();  // all have written the new ones
        }
        // #end
    }
};
// #endregion v1-block

// #solution
// #region v2-block
/// v2, Blelloch: a tree of sums, up and down again. Where Hillis and Steele join
/// kThreads runs in each step, this joins half as many in each step as in the one
/// before: 2 kThreads in all.
struct Blelloch {
    template <class R>
    static __device__ void scan(R mine, R* s_runs) {
        const int tid = threadIdx.x;
        s_runs[tid] = mine;
        // Up: the last run of each 2 d becomes the sum of these 2 d.
        for (int d = 1; d < kThreads; d *= 2) {
            __syncthreads();
            const int right = (2 * tid + 2) * d - 1;
            if (right < kThreads)
                s_runs[right] = join(s_runs[right - d], s_runs[right]);
        }
        // Down: it becomes the sum of all before these 2 d; so its two halves get
        // theirs.
        if (tid == 0) s_runs[kThreads - 1] = R{};  // it was this thread that wrote it
        for (int d = kThreads / 2; d > 0; d /= 2) {
            __syncthreads();
            const int right = (2 * tid + 2) * d - 1;
            if (right < kThreads) {
                const R left_sum = s_runs[right - d];
                s_runs[right - d] = s_runs[right];
                s_runs[right] = join(s_runs[right], left_sum);
            }
        }
        __syncthreads();
        s_runs[tid] = join(s_runs[tid], mine);  // the tree leaves out the own element
        __syncthreads();
    }
};
// #endregion v2-block

// #region v3-block
/// v3, shuffles: the steps of v1 within a warp, where registers are exchanged and no
/// barrier is needed; then the same for the sums of the warps.
struct Shuffles {
    template <class R>
    static __device__ R warp_scan(R mine) {
        const int lane = threadIdx.x % wb::kWarpSize;
        for (int distance = 1; distance < wb::kWarpSize; distance *= 2) {
            const R left = shuffle_up(mine, distance);
            if (lane >= distance) mine = join(left, mine);
        }
        return mine;
    }

    template <class R>
    static __device__ void scan(R mine, R* s_runs) {
        constexpr int kWarps = kThreads / wb::kWarpSize;
        __shared__ R s_warps[kWarps];
        const int warp = threadIdx.x / wb::kWarpSize;
        const int lane = threadIdx.x % wb::kWarpSize;
        mine = warp_scan(mine);
        if (lane == wb::kWarpSize - 1) s_warps[warp] = mine;
        __syncthreads();
        R before{};
        for (int w = 0; w < warp; ++w)
            before = join(before, s_warps[w]);
        s_runs[threadIdx.x] = join(before, mine);
        __syncthreads();
    }
};
// #endregion v3-block

// #end
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
    // #solution
    __shared__ R s_runs[kThreads];
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    BlockScan::scan(i < n ? in.load(i) : R{}, s_runs);
    if (threadIdx.x == 0) totals[blockIdx.x] = s_runs[kThreads - 1];
    // #end
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
    // #solution
    __shared__ R s_runs[kThreads];
    const int tid = threadIdx.x;
    const int64_t i = int64_t{blockIdx.x} * kThreads + tid;
    const R mine = i < n ? in.load(i) : R{};
    BlockScan::scan(mine, s_runs);
    if (i >= n) return;
    R before = befores != nullptr ? befores[blockIdx.x] : R{};
    if (tid > 0) before = join(before, s_runs[tid - 1]);
    if (kind == ScanKind::inclusive)
        out.store(i, join(before, mine));
    else
        out.store(i, in.begins(i) ? R{} : before);
    // #end
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
// #solution
constexpr auto& scan_int32_v1 = scan_int32_by<V1>;
constexpr auto& scan_float_v1 = scan_float_by<V1>;
constexpr auto& segmented_scan_int32_v1 = segmented_scan_int32_by<V1>;
constexpr auto& segmented_scan_float_v1 = segmented_scan_float_by<V1>;
WB_RUNG(scan_int32, scan_int32_v1, "Hillis and Steele");
WB_RUNG(scan_float, scan_float_v1, "Hillis and Steele");
WB_RUNG(segmented_scan_int32, segmented_scan_int32_v1, "Hillis and Steele");
WB_RUNG(segmented_scan_float, segmented_scan_float_v1, "Hillis and Steele");

struct V2 {
    template <class R>
    static void run(const Job<R>& job) {
        three_kernels<R, Blelloch>(
            {job.x, job.heads, nullptr}, {job.y, nullptr}, job.n, job.kind, job.stream);
    }
};
constexpr auto& scan_int32_v2 = scan_int32_by<V2>;
constexpr auto& segmented_scan_float_v2 = segmented_scan_float_by<V2>;
WB_RUNG(scan_int32, scan_int32_v2, "Blelloch's tree");
WB_RUNG(segmented_scan_float, segmented_scan_float_v2, "Blelloch's tree");

struct V3 {
    template <class R>
    static void run(const Job<R>& job) {
        three_kernels<R, Shuffles>(
            {job.x, job.heads, nullptr}, {job.y, nullptr}, job.n, job.kind, job.stream);
    }
};
constexpr auto& scan_int32_v3 = scan_int32_by<V3>;
constexpr auto& segmented_scan_float_v3 = segmented_scan_float_by<V3>;
WB_RUNG(scan_int32, scan_int32_v3, "shuffles");
WB_RUNG(segmented_scan_float, segmented_scan_float_v3, "shuffles");

#define WB_VERSION_ONLY
#include "scan_fast.cu"

// Both of them build upon parts of the second stage.
#include "04_totals_of_tiles.cuh"
#include "05_one_pass.cuh"

constexpr auto& scan_int32_v6 = scan_int32_by<V6>;
constexpr auto& scan_float_v6 = scan_float_by<V6>;
constexpr auto& segmented_scan_int32_v6 = segmented_scan_int32_by<V6>;
constexpr auto& segmented_scan_float_v6 = segmented_scan_float_by<V6>;
WB_RUNG(scan_int32, scan_int32_v6, "a warp looks back");
WB_RUNG(scan_float, scan_float_v6, "a warp looks back");
WB_RUNG(segmented_scan_int32, segmented_scan_int32_v6, "a warp looks back");
WB_RUNG(segmented_scan_float, segmented_scan_float_v6, "a warp looks back");

#include "07_next_tile.cuh"
#include "08_block_looks_back.cuh"
// #end

// #region contract
void scan_int32(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete these four when the three TODOs are written
    // #solution
    scan_int32_v6(x, y, n, kind, stream);
    // #end
    // #starter scan_int32_by<V1>(x, y, n, kind, stream);
}

void scan_float(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    // #solution
    scan_float_v6(x, y, n, kind, stream);
    // #end
    // #starter scan_float_by<V1>(x, y, n, kind, stream);
}

void segmented_scan_int32(const int32_t* x,
                          const uint8_t* heads,
                          int32_t* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    // #solution
    segmented_scan_int32_v6(x, heads, y, n, kind, stream);
    // #end
    // #starter segmented_scan_int32_by<V1>(x, heads, y, n, kind, stream);
}

void segmented_scan_float(const float* x,
                          const uint8_t* heads,
                          float* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    // #solution
    segmented_scan_float_v6(x, heads, y, n, kind, stream);
    // #end
    // #starter segmented_scan_float_by<V1>(x, heads, y, n, kind, stream);
}
// #endregion contract
