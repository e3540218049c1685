/// tiles.h: given with this exercise: how the signal is cut into tiles, what a block
/// does with a tile that lies in shared memory, and what peak_energy() refuses.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/device.h>
#include <wb/launch.h>
#include <wb/ptx/cp_async.h>

#include <algorithm>
#include <cstdint>

#include "async_copy.h"

// #region sizes
/// Threads in a block.
constexpr int kThreads = 256;

/// Samples that one copy moves: 16 bytes.
constexpr int kVector = 4;

/// Windows of a tile: each thread has kVector of them.
constexpr int kTile = kThreads * kVector;

/// Samples behind a tile that its last windows reach: the vectors that hold them.
constexpr int kHalo = 8;
static_assert(kHalo >= kWindow - 1 && kHalo % kVector == 0, "whole vectors");

/// Samples that a block needs for one tile, 4,128 bytes.
constexpr int kTileSamples = kTile + kHalo;
// #endregion sizes

// #region samples
/// Samples of a tile and its halo that exist: kTileSamples, but fewer at the end.
__device__ inline int samples_inside(int64_t tile, int64_t n) {
    const int64_t samples = n - tile * kTile;
    return samples < kTileSamples ? static_cast<int>(samples) : kTileSamples;
}

/// Starts the copies of a vector that the end of the signal cuts off, or that lies
/// behind it: one for each of its samples. Zeros take the place of what does not exist.
///
/// @param samples  how many exist from the vector's first one on: any number below
///                 kVector, also a negative one
__device__ inline void start_cut_vector(float* s_vector,
                                        const float* g_vector,
                                        int samples) {
#pragma unroll 1  // it is rare: the kernel need not keep registers for it
    for (int i = 0; i < kVector; ++i)
        wb::ptx::cp_async_zfill<4>(s_vector + i, g_vector + i, i < samples ? 4 : 0);
}
// #endregion samples

/// The largest number of a warp, in all of its lanes.
__device__ inline unsigned warp_max(unsigned value) {
#if defined(SIMT_CPU) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(wb::kAllLanes, value);
#else
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(wb::kAllLanes, value, step));
    return value;
#endif
}

// #region peaks
/// The peak of a warp's segment, in all of its lanes. Each thread has the windows that
/// begin in its vector.
///
/// Energies are never negative. So their bits, as integers, are in the same order as
/// they are, and a NaN of either sign is larger than any number.
///
/// @param s_tile  [kTileSamples] from the tile's first sample on, zeros past the end
__device__ inline float peak_of_warp(const float* s_tile) {
    static_assert(kSegment == wb::kWarpSize * kVector, "a warp has a segment");
    constexpr int kSamples = kVector + kHalo;
    float r_x[kSamples];
#pragma unroll
    for (int v = 0; v < kSamples / kVector; ++v) {
        const auto* s_vectors = reinterpret_cast<const float4*>(s_tile);
        const float4 vector = s_vectors[threadIdx.x + v];
        r_x[kVector * v] = vector.x;
        r_x[kVector * v + 1] = vector.y;
        r_x[kVector * v + 2] = vector.z;
        r_x[kVector * v + 3] = vector.w;
    }
    unsigned peak = 0;  // the bits of 0.0f
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
        float energy = 0.0f;
#pragma unroll
        for (int j = 0; j < kWindow; ++j)
            energy += r_x[i + j] * r_x[i + j];
        peak = max(peak, __float_as_uint(energy));
    }
    return __uint_as_float(warp_max(peak));
}

/// Writes the peaks of a tile. All threads of the block must call it, when the tile is
/// in shared memory for all of them to see.
///
/// @param tile  its number: its first sample is tile * kTile
__device__ inline void write_peaks(const float* s_tile,  // [kTileSamples]
                                   float* peaks,         // [ceil(n / kSegment)]
                                   int64_t tile,
                                   int64_t n) {
    const float peak = peak_of_warp(s_tile);
    const int tid = threadIdx.x;
    const int64_t segment = (tile * kTile + tid * kVector) / kSegment;
    if (tid % wb::kWarpSize == 0 && segment * kSegment < n) peaks[segment] = peak;
}
// #endregion peaks

/// Tiles of the signal.
inline int64_t count_tiles(int64_t n) {
    return wb::ceil_div(n, int64_t{kTile});
}

/// Blocks of a launch: blocks_per_sm for each multiprocessor, but no more than tiles.
inline unsigned count_blocks(int64_t n, int blocks_per_sm) {
    return static_cast<unsigned>(
        std::min(count_tiles(n), int64_t{blocks_per_sm} * wb::multiprocessors()));
}

/// Refuses wrong arguments of peak_energy().
inline void check_peak_energy(const float* x,
                              const float* peaks,
                              int64_t n,
                              int blocks_per_sm) {
    const wb::Arguments arguments("peak_energy");
    arguments.size("n", n).require(blocks_per_sm >= 1 && blocks_per_sm <= 8,
                                   "blocks_per_sm",
                                   blocks_per_sm,
                                   "must be 1 to 8");
    const int64_t bytes =
        arguments.product("n * sizeof(float)", {n, int64_t{sizeof(float)}});
    if (n == 0) return;
    const int64_t num_peaks = wb::ceil_div(n, int64_t{kSegment});
    arguments.device("x", reinterpret_cast<const float4*>(x), n)
        .device("peaks", peaks, num_peaks);
    arguments.apart("peaks - x", x, bytes, peaks, num_peaks * int64_t{sizeof(float)});
}
