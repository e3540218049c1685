// 07_whole_sectors.cuh: peak_energy_v7 and v8: the peaks are stored together (sm_90).
// Included by async_copy.cu, below v6.
#pragma once

#include <wb/ptx/bulk.h>
#include <wb/ptx/pipeline.h>

// #region v7-kernel
/// peak_energy_v7: v6, but the warps put their peaks side by side in shared memory, and
/// one store brings those of a tile to global memory: a whole sector. Before, eight
/// warps wrote 4 bytes of it each.
///
/// @tparam kTiles   tiles that are copied with one instruction, with one halo
/// @tparam kPieces  such pieces in the ring
///
/// Launch   grid count_blocks(n, blocks_per_sm), block kThreads
///
/// @param num_whole  pieces that lie inside of the signal with their halo
template <int kTiles, int kPieces>
__global__ void peak_energy_v7_kernel(const float* x,  // [n]
                                      float* peaks,    // [ceil(n / kSegment)]
                                      int64_t n,
                                      int64_t num_tiles,
                                      int64_t num_whole) {
    using namespace wb::ptx;
    constexpr int kSamples = kTiles * kTile + kHalo;
    constexpr int kBytes = kSamples * int{sizeof(float)};
    static_assert(kBytes % 16 == 0, "a bulk copy moves multiples of 16 bytes");
    __shared__ alignas(16) float s_ring[kPieces][kSamples];
    __shared__ Mbarrier s_full[kPieces];
    constexpr int kWarps = kThreads / wb::kWarpSize;
    constexpr int kPeaks = kTiles * kWarps;  // of a piece
    __shared__ float s_peaks[2][kPeaks];     // of this round and of the one before
    const auto start = [&](int at, int64_t piece) {
        if (threadIdx.x != 0 || piece >= num_whole) return;
        mbarrier_expect(&s_full[at], kBytes);
        bulk_load(s_ring[at], x + piece * (kTiles * kTile), kBytes, &s_full[at]);
    };
    make_full_barriers(s_full);
    for (int k = 0; k < kPieces; ++k)
        start(k, blockIdx.x + k * int64_t{gridDim.x});

    const int tid = threadIdx.x;
    int turn = 0;
    PipelineState<kPieces> ring;
    int64_t piece = blockIdx.x;
    for (; piece < num_whole; piece += gridDim.x) {
        mbarrier_wait(&s_full[ring.stage], ring.parity);
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
            const float peak = peak_of_warp(s_ring[ring.stage] + i * kTile);
            if (tid % wb::kWarpSize == 0)
                s_peaks[turn][i * kWarps + tid / wb::kWarpSize] = peak;
        }
        __syncthreads();  // all have used the piece, and their peaks are there
        start(ring.stage, piece + kPieces * int64_t{gridDim.x});
        if (tid < kPeaks) peaks[piece * kPeaks + tid] = s_peaks[turn][tid];
        turn ^= 1;
        ring.advance();
    }
    // What is left is no whole piece: one tile after the other, as in v1.
    const int64_t rest = num_whole * kTiles + blockIdx.x;
    for (int64_t tile = rest; tile < num_tiles; tile += gridDim.x) {
        load_tile(s_ring[0], x, tile, n);
        __syncthreads();
        write_peaks(s_ring[0], peaks, tile, n);
        __syncthreads();
    }
}
// #endregion v7-kernel

// #region v7-launch
template <int kTiles, int kPieces>
static void launch_peak_energy_v7(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    constexpr int64_t kPiece = kTiles * kTile;
    const int64_t num_whole =
        n < kPiece + kHalo ? 0 : (n - kPiece - kHalo) / kPiece + 1;
    const unsigned blocks = count_blocks(n, blocks_per_sm);
    peak_energy_v7_kernel<kTiles, kPieces>
        <<<blocks, kThreads, 0, stream>>>(x, peaks, n, count_tiles(n), num_whole);
    CUDA_CHECK_LAUNCH();
}

static void peak_energy_v7(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    if (wb::compute_capability() < 90)  // no bulk copies
        return peak_energy_v4(x, peaks, n, blocks_per_sm, stream);
    launch_peak_energy_v7<1, kStages>(x, peaks, n, blocks_per_sm, stream);
}
WB_RUNG(peak_energy, peak_energy_v7, "peaks stored by sectors");

static void peak_energy_v8(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream) {
    if (wb::compute_capability() < 90)  // no bulk copies
        return peak_energy_v4(x, peaks, n, blocks_per_sm, stream);
    launch_peak_energy_v7<2, kStages / 2>(x, peaks, n, blocks_per_sm, stream);
}
WB_RUNG(peak_energy, peak_energy_v8, "two tiles a copy");
// #endregion v7-launch
