/// scan.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// Whether an element is part of its own sum.
enum class ScanKind { inclusive, exclusive };

/// All sums from the first element on:
///
///     inclusive   y[i] = x[0] + x[1] + ... + x[i]
///     exclusive   y[i] = x[0] + x[1] + ... + x[i - 1],   y[0] = 0
///
/// Integers wrap: they are added modulo 2^32, as unsigned ones are.
///
/// @param x       [n] device memory, read only; begins at any element
/// @param y       [n] device memory, written; x itself, or an array that shares no
///                element with x
/// @param n       >= 0; 0 is legal and launches nothing
/// @param kind    inclusive or exclusive
/// @param stream  where the work is queued; the function returns without waiting. Calls
///                on two streams at once do not disturb each other. Scratch memory is
///                taken and given back in the stream's order
///
/// Traffic  reads n * 4 B, writes n * 4 B
/// Error    none
/// Throws   wb::InvalidArgument for a negative n, n * 4 B >= 2^63, a kind that is none,
///          a null, host or misaligned pointer, and arrays that overlap in part
void scan_int32(
    const int32_t* x, int32_t* y, int64_t n, ScanKind kind, cudaStream_t stream);

/// The same for floats. Sums may be put together in any order, and in another one at
/// each call, so that last digits differ from call to call.
///
/// Error    of y[i], at most gamma_k * (|x[0]| + ... + |x[i]|) with k = 64 + i / 1024.
///          If that sum is larger than any float, y[i] may be infinite or NaN
void scan_float(
    const float* x, float* y, int64_t n, ScanKind kind, cudaStream_t stream);

/// The same in segments: where heads[i] is not 0, a new segment begins with x[i], and
/// its sums know nothing of what stands before. A NaN does not leave its segment.
///
/// @param heads  [n] device memory, read only, 0 or anything else; shares nothing with
///               y. The first element begins a segment, whatever its flag says
///
/// Traffic  reads n * 5 B, writes n * 4 B
void segmented_scan_int32(const int32_t* x,
                          const uint8_t* heads,
                          int32_t* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream);

/// The same for floats; the error is that of scan_float(), with the sum of the segment.
void segmented_scan_float(const float* x,
                          const uint8_t* heads,
                          float* y,
                          int64_t n,
                          ScanKind kind,
                          cudaStream_t stream);
