/// wgmma_tma.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <wb/gemm.h>

/// C = A * B on Hopper's tensor cores, for factors of 16 bits and sums in float:
///
///     C[m, n] = the sum over k of A[m, k] * B[k, n], rounded to C's type
///
/// All three are row-major; the leading dimensions say how many elements lie between
/// the beginnings of two rows. What lies between the end of a row and the beginning of
/// the next is neither used nor changed. B is stored as [K, N], or, with
/// shape.transpose_b, as [N, K].
///
/// @param shape   M and N are multiples of 8, K is any number; leading dimensions are
///                multiples of 8. If M or N is 0 there is nothing to do, and nothing is
///                launched; with K = 0 all of C becomes 0
/// @param A       [M, K] device memory, at a multiple of 16 bytes, read only
/// @param B       [K, N] or [N, K], the same
/// @param C       [M, N] the same, overwritten whatever it holds; shares no memory with
///                A or B, from the first to the last of their elements
/// @param stream  where the work is queued; the function returns without waiting
///
/// Work     2 M N K FLOP
/// Traffic  reads (M K + K N) * 2 B and writes M N * 2 B at least
/// Error    before C is rounded: at most gamma(2 K + 2) of 2^-23, times the sum of
///          |A[m, k]| |B[k, n]|: each product is exact; tensor cores add a few of them
///          at a time, and cut off where a float would be rounded. Then half a unit in
///          the last place of C: 2^-8 of it for bf16, 2^-11 for fp16, or infinity past
///          the largest number. Two calls with the same arguments give the same bits
/// NaN      and infinities in row m of A or column n of B go to C[m, n] as in any sum,
///          and to no other element
/// Throws   wb::InvalidArgument for sizes that are negative or above 2^30, an M or N
///          that is no multiple of 8, leading dimensions that are too small or no
///          multiple of 16 bytes or 2^40 bytes and more, a shape that transposes A, a
///          null, host or misaligned pointer, a C that overlaps A or B, and on a GPU
///          that is not of compute capability 9.0
void wgmma_tma_bf16(const wb::GemmShape& shape,
                    const __nv_bfloat16* A,
                    const __nv_bfloat16* B,
                    __nv_bfloat16* C,
                    cudaStream_t stream);

/// The same for fp16.
void wgmma_tma_fp16(const wb::GemmShape& shape,
                    const __half* A,
                    const __half* B,
                    __half* C,
                    cudaStream_t stream);

/// The same for FP8 (e4m3), with a scale for each row of A and each column of B:
///
///     C[m, n] = scale_a[m] * scale_b[n] * the sum over k of A[m, k] * B[k, n]
///
/// B must be stored as [N, K] (shape.transpose_b): wgmma takes 8-bit factors along K
/// only. Leading dimensions of A and B are multiples of 16. All else is as above, but
/// for the error: these tensor cores keep 13 bits behind the point of the largest
/// number that they add, so the bound is gamma(2 K + 2) of 2^-13, and three roundings
/// of a float.
///
/// @param scale_a  [M] device memory, read only; shares none with C
/// @param scale_b  [N] device memory at a multiple of 8 bytes, the same
void wgmma_tma_fp8(const wb::GemmShape& shape,
                   const __nv_fp8_e4m3* A,
                   const __nv_fp8_e4m3* B,
                   const float* scale_a,
                   const float* scale_b,
                   __nv_bfloat16* C,
                   cudaStream_t stream);
