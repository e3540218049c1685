/// dot_product.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// *result = a[0] * b[0] + a[1] * b[1] + ... + a[n - 1] * b[n - 1]
///
/// @param a, b    [n] device memory, read only; may be the same array
/// @param result  [1] device memory, overwritten whatever it held before; not part of a
///                or b
/// @param n       >= 0; an empty sum is 0, and even then the result is written
/// @param stream  where the work is queued; the function returns without waiting
///
/// Traffic  reads 2 n * 4 B
/// Error    in whatever order the terms are added, each passes one multiplication and
///          at most n - 1 additions: |error| <= gamma_n * sum of |a[i] b[i]|, where
///          gamma_n = n u / (1 - n u), u = 2^-24, n u < 1 (Higham 2002, chapters 3, 4);
///          for trees, which pass fewer, gamma of the steps on the longest way
/// Throws   wb::InvalidArgument for a negative n, a null or a host pointer
void dot_product(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream);
