// async_copy_fast.cu: v4: a ring of stages, so that several tiles are under way.
#include "async_copy.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/ptx/cp_async.h>

#include "tiles.h"

/// Stages of the ring: one is in use, the tiles of all others are under way.
constexpr int kStages = 6;

// #region v4-copies
/// Starts the copy of one vector of a tile of which `samples` samples exist.
__device__ inline void start_vector(float* s_tile,
                                    const float* g_tile,
                                    int v,
                                    int samples) {
    const int first = v * kVector;
    if (first + kVector <= samples)
        wb::ptx::cp_async<16>(s_tile + first, g_tile + first);
    else
        start_cut_vector(s_tile + first, g_tile + first, samples - first);
}

/// Starts this thread's copies of a tile and its halo, if there is such a tile, and
/// closes them into a group: an empty one if there is not, so that the number of groups
/// says which tile they belong to.
__device__ inline void start_tile(float* s_tile,   // [kTileSamples]
                                  const float* x,  // [n]
                                  int64_t tile,
                                  int64_t num_tiles,
                                  int64_t n) {
    if (tile < num_tiles) {
        const int tid = threadIdx.x;
        const int samples = samples_inside(tile, n);
        const float* g_tile = x + tile * kTile;
        start_vector(s_tile, g_tile, tid, samples);
        if (tid < kHalo / kVector)
            start_vector(s_tile, g_tile, kThreads + tid, samples);
    }
    wb::ptx::cp_async_commit();
}
// #endregion v4-copies

// #region v4-kernel
/// peak_energy_v4: kStages - 1 tiles of each block are under way. One barrier a tile:
/// behind it the tile is there for all, and all have finished with the tile before, so
/// that its stage may be filled again.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
__global__ void peak_energy_v4_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles) {
    // TODO(learner): kStages stages in shared memory, alignas(16). Start the first
    // kStages - 1 tiles of the block. Then, for each of its tiles: wait until this one
    // has landed, and let all threads see it; start the tile that is kStages - 1 rounds
    // ahead, in the stage that has been free since the round before; write_peaks(). One
    // __syncthreads() a tile is enough (about 17 lines)
    // #solution
    __shared__ alignas(16) float s_stages[kStages][kTileSamples];
    for (int k = 0; k < kStages - 1; ++k) {
        const int64_t tile = blockIdx.x + k * int64_t{gridDim.x};
        start_tile(s_stages[k], x, tile, num_tiles, n);
    }
    int used = 0;            // the stage of the tile at hand
    int free = kStages - 1;  // that of the tile before
    for (int64_t tile = blockIdx.x; tile < num_tiles; tile += gridDim.x) {
        wb::ptx::cp_async_wait<kStages - 2>();
        __syncthreads();
        const int64_t ahead = tile + (kStages - 1) * int64_t{gridDim.x};
        start_tile(s_stages[free], x, ahead, num_tiles, n);
        write_peaks(s_stages[used], peaks, tile, n);
        free = used;
        used = used + 1 == kStages ? 0 : used + 1;
    }
    // #end
}
// #endregion v4-kernel

// #region v4-launch
static void peak_energy_v4(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v4_kernel<<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n));
    CUDA_CHECK_LAUNCH();
}
// #endregion v4-launch

// #solution
#ifndef WB_VERSION_ONLY  // async_copy.cu has all versions, and the contract
// #end
// #region contract
void peak_energy(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_peak_energy(x, peaks, n, blocks_per_sm);
    if (n == 0) return;  // a grid of no blocks is an error
    peak_energy_v4(x, peaks, n, blocks_per_sm, stream);
}
// #endregion contract
// #solution
#endif
// #end
