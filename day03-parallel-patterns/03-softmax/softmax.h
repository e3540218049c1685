/// softmax.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

using Bf16 = __nv_bfloat16;

/// Each row of a matrix becomes weights that are positive and add up to 1:
///
///     max_r   = the largest x[r, c] of row r
///     y[r, c] = exp(x[r, c] - max_r) / (the sum over k of exp(x[r, k] - max_r))
///
/// @param x        [rows, columns] row-major, device memory, read only unless y is x.
///                 It need not be aligned to more than its elements are
/// @param y        [rows, columns] device memory, written; x itself (in place), or an
///                 array that shares no element with x
/// @param rows     0 to 2^31 - 1
/// @param columns  >= 0. If either is 0 there is nothing to do, and nothing is launched
/// @param stream   where the work is queued; the function returns without waiting
///
/// -inf      has the weight 0. A row in which all elements are -inf has no weights: it
///           is NaN, all of it, as 0 / 0 is
/// NaN, +inf in a row make all of that row NaN, and no other row
/// Traffic   reads rows * columns * 4 B, writes as much
/// Error     relative, at most gamma(6 k + 3 d + 90) of float, where k is the most
///           elements that one partial sum may have, max(128, columns / 32), and d is
///           max_r - x[r, c], and its mean over the row; results below 2^-126 may be 0
/// Throws    wb::InvalidArgument for sizes that are negative or too large, a product of
///           sizes past 2^63 - 1, a null, host or misaligned pointer, and for x and y
///           that overlap without being equal
void softmax(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t stream);

/// The same for bf16. Maximum, weights and sum are floats; y is rounded once.
///
/// Traffic   reads rows * columns * 2 B, writes as much
/// Error     as above, and the rounding to bf16
void softmax_bf16(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t stream);
