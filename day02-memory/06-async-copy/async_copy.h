/// async_copy.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// Samples of a window.
constexpr int kWindow = 8;

/// Windows that share one peak.
constexpr int kSegment = 128;

/// Where is a signal loud? The energy of the window that begins at sample i is the sum
/// of the squares of kWindow neighbouring samples; past the end of the signal all
/// samples count as zeros. The result is the largest energy of each segment:
///
///     energy[i] = x[i]^2 + x[i + 1]^2 + ... + x[i + kWindow - 1]^2
///     peaks[k]  = the largest energy[i], for i in [k * kSegment, (k + 1) * kSegment)
///                 and i < n
///
/// If a segment has an energy that is NaN, its peak is NaN.
///
/// @param x              [n] device memory, read only, 16-byte aligned
/// @param peaks          [ceil(n / kSegment)] device memory, written
/// @param n              samples, >= 0; 0 is legal and launches nothing
/// @param blocks_per_sm  1 to 8: blocks of 256 threads for each multiprocessor of the
///                       GPU. There are never more blocks in the grid than that, so it
///                       sets the occupancy: 2 blocks are 25 % of the 2048 threads that
///                       a multiprocessor of an H100 holds
/// @param stream         where the work is queued; the function returns without waiting
///
/// Traffic  reads n * 4 B, writes n / 32 B
/// Error    relative, at most (kWindow + 1) * 2^-24, by the rounding of eight products
///          and their sum
/// Throws   wb::InvalidArgument for a negative n, n * 4 B >= 2^63, a blocks_per_sm
///          other than 1 to 8, a null or a host pointer, an x that is not a multiple of
///          16, and arrays that overlap
void peak_energy(
    const float* x, float* peaks, int64_t n, int blocks_per_sm, cudaStream_t stream);
