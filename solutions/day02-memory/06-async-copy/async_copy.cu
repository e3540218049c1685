// async_copy.cu: copies to shared memory that are under way while a block computes.
// #solution
//
// v4 is in async_copy_fast.cu, the second stage; v5, v6 and v7 have a file each.
//
// <Ladder of="peak_energy" at="n = 268435456, 2 blocks an SM">
//        GB/s  idea                     what limits it
//   v1  1,180  load, store, barrier     nothing is under way while the block computes
//   v2  1,440  cp.async, waited for     as v1: what is started is waited for at once
//   v3  2,220  two stages               one tile a block is under way
//   v4  2,850  six stages, one barrier  the speed of memory
//   v5  2,290  v4 with cuda::pipeline   what it does for each stage
//   v6  2,840  bulk copies, mbarriers   memory, which turns round for each store
//   v7  2,850  peaks stored by sectors  the same
//   v8  2,890  two tiles a copy         the same, a little less often
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-23
// #end
#include "async_copy.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/ptx/cp_async.h>

#include "tiles.h"

// #solution
// #region v1-load
/// A vector of samples, by ordinary loads; zeros past the end of the signal.
///
/// @param samples  how many exist from the first one on
__device__ inline float4 load_vector(const float* x, int samples) {
    if (samples >= kVector) return *reinterpret_cast<const float4*>(x);
    float4 vector = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (samples > 0) vector.x = x[0];
    if (samples > 1) vector.y = x[1];
    if (samples > 2) vector.z = x[2];
    return vector;
}

/// Brings a tile and its halo to shared memory, through registers.
__device__ inline void load_tile(float* s_tile,   // [kTileSamples]
                                 const float* x,  // [n]
                                 int64_t tile,
                                 int64_t n) {
    const int samples = samples_inside(tile, n);
    auto* s_vectors = reinterpret_cast<float4*>(s_tile);
    for (int v = threadIdx.x; v < kTileSamples / kVector; v += kThreads) {
        const int first = v * kVector;
        s_vectors[v] = load_vector(x + tile * kTile + first, samples - first);
    }
}
// #endregion v1-load

// #region v1-kernel
/// peak_energy_v1: one tile after the other: load it, wait, use it, wait.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
__global__ void peak_energy_v1_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles) {
    __shared__ alignas(16) float s_tile[kTileSamples];
    for (int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        load_tile(s_tile, x, tile, n);
        __syncthreads();  // the tile is there
        write_peaks(s_tile, peaks, tile, n);
        __syncthreads();  // all have used it
    }
}
// #endregion v1-kernel

static void peak_energy_v1(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v1_kernel<<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(peak_energy, peak_energy_v1, "load, store, barrier");

// #end
// #region copies
/// Starts this thread's copies of a tile and its halo to shared memory. What is past
/// the end of the signal becomes zeros.
__device__ inline void start_copies(float* s_tile,   // [kTileSamples]
                                    const float* x,  // [n]
                                    int64_t tile,
                                    int64_t n) {
    // TODO(learner): the tile has kTileSamples / kVector vectors. Copy vector
    // threadIdx.x, and every kThreads-th one after it: with cp_async<16> if all of its
    // samples exist, else with start_cut_vector() (about 9 lines)
    // #solution
    const int samples = samples_inside(tile, n);
    const float* g_tile = x + tile * kTile;
    for (int v = threadIdx.x; v < kTileSamples / kVector; v += kThreads) {
        const int first = v * kVector;
        if (first + kVector <= samples)
            wb::ptx::cp_async<16>(s_tile + first, g_tile + first);
        else
            start_cut_vector(s_tile + first, g_tile + first, samples - first);
    }
    // #end
}
// #endregion copies

// #solution
// #region v2-kernel
/// peak_energy_v2: the copies need no registers and no instruction that waits for a
/// load. But the block waits for them right after they have started.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
__global__ void peak_energy_v2_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles) {
    __shared__ alignas(16) float s_tile[kTileSamples];
    for (int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        start_copies(s_tile, x, tile, n);
        wb::ptx::cp_async_commit();
        wb::ptx::cp_async_wait<0>();  // this thread's copies are there
        __syncthreads();              // and those of all others
        write_peaks(s_tile, peaks, tile, n);
        __syncthreads();  // all have used it
    }
}
// #endregion v2-kernel

static void peak_energy_v2(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v2_kernel<<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n));
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(peak_energy, peak_energy_v2, "cp.async, waited for");

// #end
// #region v3-kernel
/// peak_energy_v3: while a block works on one tile, its next tile is on its way to the
/// other stage.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
__global__ void peak_energy_v3_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles) {
    // TODO(learner): two stages in shared memory, alignas(16), of kTileSamples floats
    // each. Start the copies of the block's first tile, blockIdx.x, and close them into
    // a group. Then, for the tiles blockIdx.x, blockIdx.x + gridDim.x, and so on: start
    // the copies of the next tile, if there is one, to the other stage; close a group;
    // wait until this tile's group has landed, but not for the next tile's; let all
    // threads see it; write_peaks(); and let nobody overwrite a stage that is still
    // being read (about 15 lines)
    // #solution
    __shared__ alignas(16) float s_stages[2][kTileSamples];
    int stage = 0;
    start_copies(s_stages[stage], x, blockIdx.x, n);
    wb::ptx::cp_async_commit();
    for (int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        const int64_t next = tile + gridDim.x;
        if (next < num_tiles) start_copies(s_stages[stage ^ 1], x, next, n);
        wb::ptx::cp_async_commit();   // without a next tile, an empty group
        wb::ptx::cp_async_wait<1>();  // all groups but the newest are there
        __syncthreads();
        write_peaks(s_stages[stage], peaks, tile, n);
        __syncthreads();  // all have used it: the next round may overwrite it
        stage ^= 1;
    }
    // #end
}
// #endregion v3-kernel

// #region v3-launch
static void peak_energy_v3(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v3_kernel<<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n));
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch

// #solution
WB_RUNG(peak_energy, peak_energy_v3, "two stages");

#define WB_VERSION_ONLY
#include "async_copy_fast.cu"
WB_RUNG(peak_energy, peak_energy_v4, "six stages, one barrier");

#include "05_cuda_pipeline.cuh"
#include "06_bulk_copies.cuh"
#include "07_whole_sectors.cuh"

// #end
// #region contract
void peak_energy(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the two TODOs are written
    check_peak_energy(x, peaks, n, blocks_per_sm);
    if (n == 0) return;  // a grid of no blocks is an error
    // #solution
    peak_energy_v4(x, peaks, n, blocks_per_sm, stream);
    // #end
    // #starter peak_energy_v3(x, peaks, n, blocks_per_sm, stream);
}
// #endregion contract
