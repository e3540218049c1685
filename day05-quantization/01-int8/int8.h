/// int8.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Rounds each row of x to 8 bits: q stands for (q - zero) * scale of its row.
///
/// Symmetric, if zeros is null: with a the largest |x| of the row,
///
///     scale = a / 127,  zero = 0
///
/// Asymmetric: with lo the least x of the row, or 0, and hi the largest, or 0,
///
///     scale = hi / 255 - lo / 255,  zero = rint(-128 - lo * r), one fused operation
///
/// each operation in float, rounded to nearest. In both, r = min(1 / scale, the largest
/// float), and
///
///     q = rint(x * r) + zero, and not below -128 nor above 127
///
/// where x * r is exact before it is rounded to the nearest whole number, ties to even.
/// Symmetric q are within [-127, 127]: the negative of each is one as well.
///
/// @param x        [rows, columns] device memory, read only
/// @param q        [rows, columns] device memory, overwritten
/// @param scales   [rows] device memory, overwritten
/// @param zeros    [rows] device memory, overwritten; or null: symmetric
/// @param sums     [rows] device memory, overwritten: the sum of the row's q; or null
/// @param stream   where the work is queued; the function returns without waiting
///
/// If rows or columns is 0 there is nothing to do, and nothing is launched.
///
/// Traffic  reads 2 B and writes 1 B for each element, at least
/// Error    none: each q, scale, zero and sum is known to the last bit. What q stands
///          for is half a scale from x at most; asymmetric, a scale at a row's ends
/// NaN      a row with a NaN or an infinity gets the scale NaN, the zero 0, all q = 0
/// Throws   wb::InvalidArgument for rows that are negative or above 2^30, columns that
///          are negative, above 2^16 or no multiple of 16, a null, host or misaligned
///          pointer (x and q: multiples of 16 bytes), and for an output that shares
///          memory with anything else
void int8_quantize(const __nv_bfloat16* x,
                   int64_t rows,
                   int64_t columns,
                   int8_t* q,
                   float* scales,
                   int32_t* zeros,
                   int32_t* sums,
                   cudaStream_t stream);

/// Sizes of y = x W^T + bias.
struct Int8Shape {
    int64_t M;  ///< rows of x and of y: tokens
    int64_t N;  ///< rows of W, columns of y: channels. A multiple of 8
    int64_t K;  ///< columns of x and of W, a multiple of 16
};

/// What a layer is given, in device memory, read only.
struct Int8Inputs {
    const int8_t* x;         ///< [M, K], as int8_quantize() gives it
    const float* x_scales;   ///< [M]
    const int32_t* x_zeros;  ///< [M]; or null: symmetric
    const int8_t* w;         ///< [N, K], symmetric, as torch.nn.Linear stores it
    const float* w_scales;   ///< [N]
    const int32_t* w_sums;   ///< [N] sums of the rows of w; not used without x_zeros
    const float* bias;       ///< [N]; or null
};

/// y = x W^T + bias, of rows in 8 bits:
///
///     y[m, n] = (the sum over k of (x[m, k] - x_zeros[m]) * w[n, k])
///               * x_scales[m] * w_scales[n] + bias[n]
///
/// The sum is made of whole numbers: the sum of x * w, less x_zeros[m] * w_sums[n].
///
/// @param y       [M, N] device memory, overwritten
/// @param stream  where the work is queued; the function returns without waiting
///
/// If M or N is 0 there is nothing to do, and nothing is launched; with K = 0 each row
/// of y is the bias, or 0, whatever the scales are.
///
/// Work     2 M N K operations
/// Traffic  reads (M + N) K B and writes M N * 2 B at least
/// Error    the sum is exact: K is so small that no sum can leave 32 bits, if |x_zeros|
///          <= 128 and w_sums are right. Then four roundings to float, and one to bf16
/// NaN      a scale that is NaN makes its row or column of y NaN, and nothing else; one
///          that is infinite makes it infinite, or NaN where the sum is 0. A scale of 0
///          makes it the bias. int8_check_weights() of check_weights.h refuses such
///          w_scales, once
/// Throws   wb::InvalidArgument for sizes that are negative or above 2^30 (K: 2^16), an
///          N that is no multiple of 8, a K that is none of 16, a null, host or
///          misaligned pointer (x, w, w_scales, w_sums, bias and y: multiples of 16
///          bytes), a y that shares memory with anything else, and on a GPU before
///          sm_80
void int8_matmul(const Int8Shape& shape,
                 const Int8Inputs& in,
                 __nv_bfloat16* y,
                 cudaStream_t stream);
