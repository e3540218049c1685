/// chapter_name.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// TODO(author): the operation in one formula, its arguments, traffic and error
/// y[i] = 2 x[i] for every i in [0, n).
///
/// @param x       [n] device memory, read only
/// @param y       [n] device memory, written; may be x
/// @param n       >= 0; 0 is legal and launches nothing
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  reads n * 4 B, writes n * 4 B
/// Error    none: doubling a float is exact
/// Throws   wb::InvalidArgument for a negative n, a null or a host pointer
void chapter_name(const float* x, float* y, int64_t n, cudaStream_t stream);
