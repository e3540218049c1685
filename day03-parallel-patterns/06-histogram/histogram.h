/// histogram.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// counts[b] = how many of the values are b, for each b in [0, bins). A value outside
/// of [0, bins) is counted nowhere: a negative one, too.
///
/// @param values  [n] device memory, read only; begins at any element
/// @param counts  [bins] device memory, overwritten whatever it held before; shares no
///                byte with values
/// @param n       values, >= 0
/// @param bins    1 to 2^31
/// @param stream  where the work is queued; the function returns without waiting
///
/// Exact    for n < 2^32; from there on each count is given modulo 2^32
/// Traffic  reads n values, writes bins * 4 B
/// Throws   wb::InvalidArgument for a size outside of these ranges, n * 4 >= 2^63, a
///          null, host or misaligned pointer, and for arrays that overlap
void histogram_i32(const int32_t* values,
                   uint32_t* counts,
                   int64_t n,
                   int64_t bins,
                   cudaStream_t stream);

/// The same for values of one byte. Bins from 256 on are 0.
void histogram_u8(const uint8_t* values,
                  uint32_t* counts,
                  int64_t n,
                  int64_t bins,
                  cudaStream_t stream);
