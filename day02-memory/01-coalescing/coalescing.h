/// coalescing.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// y[i] = x[i * stride] for every i in [0, n): every stride-th element of x.
///
/// @param x       [(n - 1) * stride + 1] device memory, read only
/// @param y       [n] device memory, written
/// @param n       >= 0; 0 is legal and launches nothing
/// @param stride  >= 1, in elements
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  writes n * 4 B; reads the sectors of 32 B that hold what is wanted: about
///          n * 4 B * min(stride, 8)
/// Error    none: the bits of a float are copied, whatever number they are
/// Throws   wb::InvalidArgument for a negative n, a stride < 1, n * stride * 4 B >=
///          2^63, a null or a host pointer, and if y lies between x[0] and the last
///          element that is read, or partly so
void copy_strided(
    const float* x, float* y, int64_t n, int64_t stride, cudaStream_t stream);

/// Takes an array of structures apart: soa[f * n + i] = aos[i * num_fields + f].
///
///     struct Record { float x, y, z; };                        // num_fields = 3
///     aos: x0 y0 z0 x1 y1 z1 x2 y2 z2 ...      one record after the other
///     soa: x0 x1 x2 ... y0 y1 y2 ... z0 z1 ... one field after the other
///
/// @param aos         [n, num_fields] device memory, read only
/// @param soa         [num_fields, n] device memory, written
/// @param n           records, >= 0; 0 is legal and launches nothing
/// @param num_fields  floats of a record, 1 to 4: structs of 4, 8, 12 or 16 bytes
/// @param stream      where the work is queued; the function returns without waiting
///
/// Traffic  reads and writes n * num_fields * 4 B
/// Error    none: the bits of a float are copied
/// Throws   wb::InvalidArgument for a negative n, num_fields outside of 1 to 4,
///          n * num_fields * 4 B >= 2^63, a null or a host pointer, overlapping arrays
void aos_to_soa(
    const float* aos, float* soa, int64_t n, int num_fields, cudaStream_t stream);

/// Copies bytes from any address to any other.
///
/// @param source       [num_bytes] device memory, read only, of any alignment
/// @param destination  [num_bytes] device memory, written, of any alignment
/// @param num_bytes    >= 0; 0 is legal and launches nothing
/// @param stream       where the work is queued; the function returns without waiting
///
/// Not a byte outside of the two arrays is read or written, not even one in the same 16
/// bytes: it may belong to somebody else.
///
/// Traffic  reads and writes num_bytes
/// Throws   wb::InvalidArgument for a negative num_bytes, a null or a host pointer,
///          overlapping arrays
void copy_bytes(const void* source,
                void* destination,
                int64_t num_bytes,
                cudaStream_t stream);
