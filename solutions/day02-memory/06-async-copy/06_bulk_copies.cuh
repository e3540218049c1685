// 06_bulk_copies.cuh: peak_energy_v6: one instruction copies a whole tile (sm_90).
// Included by async_copy.cu, below v4.
#pragma once

#include <wb/ptx/bulk.h>
#include <wb/ptx/pipeline.h>

// #region v6-kernel
/// peak_energy_v6: thread 0 has tiles copied, 4,128 bytes with one instruction. Each
/// stage has an mbarrier that counts the bytes; all threads wait for it.
///
/// A bulk copy moves what exists, in multiples of 16 bytes. The last two tiles may
/// reach past the end of the signal: they are loaded as in v1.
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
///
/// @param num_whole  tiles that lie inside of the signal with their halo
__global__ void peak_energy_v6_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles,
                                      int64_t num_whole) {
    using namespace wb::ptx;
    constexpr int kBytes = kTileSamples * int{sizeof(float)};
    static_assert(kBytes % 16 == 0, "a bulk copy moves multiples of 16 bytes");
    __shared__ alignas(16) float s_stages[kStages][kTileSamples];
    __shared__ Mbarrier s_full[kStages];
    const bool leader = threadIdx.x == 0;
    const auto start = [&](int stage, int64_t tile) {
        if (!leader || tile >= num_whole) return;
        mbarrier_expect(&s_full[stage], kBytes);
        bulk_load(s_stages[stage], x + tile * kTile, kBytes, &s_full[stage]);
    };
    make_full_barriers(s_full);
    for (int k = 0; k < kStages; ++k)
        start(k, blockIdx.x + k * int64_t{gridDim.x});

    PipelineState<kStages> ring;
    int64_t tile = blockIdx.x;
    for (; tile < num_whole; tile += gridDim.x) {
        mbarrier_wait(&s_full[ring.stage], ring.parity);
        write_peaks(s_stages[ring.stage], peaks, tile, n);
        __syncthreads();  // all have used it
        start(ring.stage, tile + kStages * int64_t{gridDim.x});
        ring.advance();
    }
    for (; tile < num_tiles; tile += gridDim.x) {
        load_tile(s_stages[0], x, tile, n);
        __syncthreads();
        write_peaks(s_stages[0], peaks, tile, n);
        __syncthreads();
    }
}
// #endregion v6-kernel

// #region v6-launch
static void peak_energy_v6(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    if (wb::compute_capability() < 90)  // no bulk copies
        return peak_energy_v4(x, peaks, n, blocks_per_sm, stream);
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    const int64_t num_whole = n < kTileSamples ? 0 : (n - kTileSamples) / kTile + 1;
    peak_energy_v6_kernel<<<blocks, kThreads, 0, stream>>>(
        x, peaks, n, count_tiles(n), num_whole);
    CUDA_CHECK_LAUNCH();
}
// #endregion v6-launch
WB_RUNG(peak_energy, peak_energy_v6, "bulk copies, mbarriers");
