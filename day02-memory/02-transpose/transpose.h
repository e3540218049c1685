/// transpose.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// out[b, c, r] = in[b, r, c]: each matrix of a batch, row-major, changes its rows for
/// its columns. The bits are copied: a NaN keeps its payload, a zero its sign.
///
/// @param in      [batch, rows, cols] device memory, read only
/// @param out     [batch, cols, rows] device memory, written; shares no element with in
/// @param batch, rows, cols  >= 0; if one of them is 0 there is nothing to do, and
///                nothing is launched. At most 2^31 - 1 tiles of 32 x 32 elements
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  reads and writes batch * rows * cols * 4 B
/// Error    none
/// Throws   wb::InvalidArgument for a negative size, a product of sizes past 2^63 - 1,
///          too many tiles, a null, host or misaligned pointer, and arrays that overlap
void transpose(const float* in,
               float* out,
               int64_t batch,
               int64_t rows,
               int64_t cols,
               cudaStream_t stream);

/// The same for elements of two bytes, whatever they mean: __half, __nv_bfloat16,
/// int16_t. Traffic: batch * rows * cols * 2 B in, and as much out.
void transpose_u16(const uint16_t* in,
                   uint16_t* out,
                   int64_t batch,
                   int64_t rows,
                   int64_t cols,
                   cudaStream_t stream);

/// The same for square matrices, each of which is overwritten with its transpose.
///
/// @param matrix  [batch, n, n] device memory, read and written
void transpose_in_place(float* matrix, int64_t batch, int64_t n, cudaStream_t stream);
