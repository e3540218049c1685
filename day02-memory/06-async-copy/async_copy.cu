// async_copy.cu: copies to shared memory that are under way while a block computes.
#include "async_copy.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/ptx/cp_async.h>

#include "tiles.h"

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
}
// #endregion copies

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

// #region contract
void peak_energy(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the two TODOs are written
    check_peak_energy(x, peaks, n, blocks_per_sm);
    if (n == 0) return;  // a grid of no blocks is an error
    peak_energy_v3(x, peaks, n, blocks_per_sm, stream);
}
// #endregion contract
