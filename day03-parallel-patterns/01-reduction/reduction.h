/// reduction.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

using bf16 = __nv_bfloat16;

// Everywhere:
//
// x        [n] device memory, read only; begins at any element
// result   [1] device memory, overwritten whatever it held before
// n        elements
// counter  [1] device memory, 0 before the call, and 0 again when its work is done:
//          room for blocks to count in. Calls that may run at the same time need one
//          each
// stream   where the work is queued; the functions return without waiting
//
// Same bits   A float sum has the same bits each time: the order of its additions
//             follows from n alone, not from the order in which blocks run, not from
//             the GPU, and not from where x begins
// Traffic     reads n elements
// Throws      wb::InvalidArgument for a negative n, n * bytes >= 2^63, a null or a host
//             pointer, arrays that overlap

/// *result = x[0] + x[1] + ... + x[n - 1], in float. The sum of no elements is 0.
///
/// Error  each element passes at most k = 40 + n / 65536 additions: |error| <= gamma_k
///        * sum of |x[i]|, where gamma_k = k u / (1 - k u), u = 2^-24 (Higham 2002,
///        chapter 4), if that sum is below 2^128. An infinity gives an infinity; a NaN,
///        or infinities of both signs, give NaN
void reduce_sum(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream);

/// The same for bf16: each is widened to float, all additions are those of float.
void reduce_sum_bf16(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream);

/// The same for integers, in 64 bits: exact for n <= 2^32, modulo 2^64 above.
void reduce_sum_i32(const int32_t* x,
                    int64_t* result,
                    int64_t n,
                    unsigned* counter,
                    cudaStream_t stream);

/// *result = the largest element; NaN if an element is NaN. The sign of a zero is not
/// specified.
///
/// @param n  >= 1: nothing is the largest of no elements
void reduce_max(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream);

/// *result = the smallest i such that x[i] is the largest element, or, if there are
/// NaN, such that x[i] is NaN. Zeros of both signs are equal.
///
/// @param n  >= 1
void reduce_argmax(
    const float* x, int64_t* result, int64_t n, unsigned* counter, cudaStream_t stream);
