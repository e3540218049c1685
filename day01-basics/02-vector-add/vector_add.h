/// vector_add.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// c[i] = a[i] + b[i] for every i in [0, n).
///
/// @param a, b    [n] device memory, read only
/// @param c       [n] device memory, written; may be a or b itself
/// @param n       >= 0; 0 is legal and launches nothing
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  reads 2 n * 4 B, writes n * 4 B
/// Error    one rounding: |c[i] - (a[i] + b[i])| <= 2^-24 |a[i] + b[i]|
/// Throws   wb::InvalidArgument for a negative n, a null or a host pointer
void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream);
