/// sgemm.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/gemm.h>

/// The product of two matrices of floats, added to a third one:
///
///     C = alpha * op(A) * op(B) + beta * C
///
/// op(A) is A, or A transposed: shape.transpose_a says so. All matrices are row-major,
/// a row begins shape.lda, ldb or ldc elements behind the one before. What lies between
/// rows is neither read nor written.
///
/// With beta = 0, C is written and never read: it may hold NaN. With alpha = 0, A and B
/// are not read, as with K = 0.
///
/// @param shape   M, N, K from 0 to 2^30, what is transposed, and leading dimensions
/// @param alpha   any number
/// @param A       [M, K], transposed [K, M], device memory, read only
/// @param B       [K, N], transposed [N, K], device memory, read only; may be A
/// @param beta    any number
/// @param C       [M, N], device memory, read if beta is not 0, and written
/// @param stream  where the work is queued; the function returns without waiting
///
/// Work     2 * M * N * K FLOP
/// Traffic  reads (M * K + K * N) * 4 B at least, and M * N * 4 B if beta is not 0;
///          writes M * N * 4 B
/// Error    at most gamma(K + 3) * (|alpha| * |op(A)| * |op(B)| + |beta * C|), where
///          gamma(k) is k * 2^-24 / (1 - k * 2^-24): a term takes part in K additions,
///          three more roundings are those of the two factors and the last sum
/// Throws   wb::InvalidArgument for a negative size, one above 2^30, a leading
///          dimension below the columns of its matrix, a matrix of 2^63 bytes, a null,
///          a host or a misaligned pointer (4 bytes), and a C that overlaps A or B
void sgemm(const wb::GemmShape& shape,
           float alpha,
           const float* A,
           const float* B,
           float beta,
           float* C,
           cudaStream_t stream);
