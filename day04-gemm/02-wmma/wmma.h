/// wmma.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/gemm.h>

/// C = A * B on tensor cores, for factors of 16 bits and sums in float:
///
///     C[m, n] = the sum over k of A[m, k] * B[k, n]
///
/// All three are row-major; the leading dimensions say how many elements lie between
/// the beginnings of two rows. What lies between the end of a row and the beginning of
/// the next is neither used nor changed.
///
/// @param shape   M, N, K and leading dimensions; nothing is transposed. If M or N is 0
///                there is nothing to do, and nothing is launched; with K = 0 all of C
///                becomes 0
/// @param A       [M, K] device memory, aligned to its elements, read only
/// @param B       [K, N] the same
/// @param C       [M, N] device memory, overwritten whatever it holds; shares no memory
///                with A or B, from the first to the last of their elements
/// @param stream  where the work is queued; the function returns without waiting
///
/// Work     2 M N K FLOP
/// Traffic  reads (M K + K N) * 2 B and writes M N * 4 B at least
/// Speed    full where A, B and C begin at multiples of 32 bytes, and their rows at
///          multiples of 16
/// Error    at most gamma(2 K + 2) of 2^-23, times the sum of |A[m, k]| |B[k, n]|: each
///          product is exact; tensor cores add a few of them at a time, and cut off
///          where a float would be rounded
/// NaN      and infinities in row m of A or column n of B go to C[m, n] as in any sum,
///          and to no other element
/// Throws   wb::InvalidArgument for sizes that are negative or above 2^30, leading
///          dimensions that are too small, products of sizes past 2^63 - 1, a shape
///          that transposes A or B, a null, host or misaligned pointer, a C that
///          overlaps A or B, and on a GPU before sm_80
void wmma_fp16(const wb::GemmShape& shape,
               const __half* A,
               const __half* B,
               float* C,
               cudaStream_t stream);

/// The same for bf16.
void wmma_bf16(const wb::GemmShape& shape,
               const __nv_bfloat16* A,
               const __nv_bfloat16* B,
               float* C,
               cudaStream_t stream);

/// The same for floats, each of which is first rounded to TF32: to the nearest number
/// with 10 bits behind the point, away from 0 if two are as near.
///
/// Traffic  reads (M K + K N) * 4 B and writes M N * 4 B at least
/// Error    as above, beside the product of the rounded numbers
/// NaN      as above; one that has none of TF32's 10 bits set may count as an infinity,
///          which is what the GPU's conversion makes of it
void wmma_tf32(const wb::GemmShape& shape,
               const float* A,
               const float* B,
               float* C,
               cudaStream_t stream);
