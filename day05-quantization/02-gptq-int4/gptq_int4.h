/// gptq_int4.h: the contract of this exercise.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Sizes of y = x W with W [K, N] in 4 bits, and how its groups are made.
struct GptqShape {
    int64_t M;  ///< rows of x and of y
    int64_t N;  ///< columns of W and of y, a multiple of 8
    int64_t K;  ///< rows of W, columns of x, a multiple of 8
    /// Rows of W that share a scale and a zero: 32, 64, 128 or another power of two
    /// that divides K; or K, or -1, which means K.
    int64_t group = 128;
    /// Whether qzeros has each zero minus one, as files of GPTQ have.
    bool zeros_minus_one = true;

    int64_t rows_of_group() const { return group == -1 ? K : group; }
    int64_t groups() const { return K == 0 ? 0 : K / rows_of_group(); }
};

/// W as GPTQ stores it, in device memory, read only. Each tensor comes with its length,
/// which must be what the shape asks for.
struct GptqTensors {
    const int32_t* qweight;  ///< [K / 8, N]: bits 4 i to 4 i + 3 of word [r, n] are the
                             ///< number of W[8 r + i, n]
    const int32_t* qzeros;  ///< [groups, N / 8]: bits 4 i to 4 i + 3 of word [g, c] are
                            ///< the zero of column 8 c + i
    const __half* scales;   ///< [groups, N]
    const int32_t* g_idx;   ///< [K]: the group of each row, in any order ("act-order");
                            ///< or null: row k is of group k / group
    int64_t qweight_words;
    int64_t qzeros_words;
    int64_t num_scales;
    int64_t g_idx_rows;  ///< K, or 0 where g_idx is null
};

/// W as numbers of 16 bits:
///
///     w[k, n] = (q[k, n] - zero[g, n]) * scale[g, n]  with g the group of row k,
///
/// the difference exact, the product rounded once to half. A row whose g_idx is outside
/// of [0, groups) is all zeros, and adds 1 to bad_rows.
///
/// @param shape     M is not used
/// @param w         [K, N] device memory, overwritten
/// @param bad_rows  [1] device memory; what is counted is added to it. It may be null
///                  where g_idx is
/// @param stream    where the work is queued; the function returns without waiting
///
/// If K or N is 0 there is nothing to do, and nothing is launched.
///
/// Traffic  reads K N / 2 B, and the zeros and scales; writes K N * 2 B
/// Error    none: each w is what one rounding of the exact product gives
/// NaN      and infinities of a scale go to its group's rows of its column, as in any
///          product; a scale of 0 gives zeros
/// Throws   wb::InvalidArgument for sizes that are negative or above 2^30 (K: 2^25), an
///          N or K that is no multiple of 8, a group that the shape does not allow, a
///          tensor whose length is not what the shape asks for, a null, host or
///          misaligned pointer (qweight, scales, w, x, y and packed: multiples of 16
///          bytes), and for an output that shares memory with anything else. The values
///          of scales and of g_idx are in the GPU's memory, where a launcher cannot see
///          them: gptq_check_weights() of check_weights.h does, once
void gptq_dequantize(const GptqShape& shape,
                     const GptqTensors& tensors,
                     __half* w,
                     unsigned long long* bad_rows,
                     cudaStream_t stream);

/// How much memory gptq_repack() fills, in units of 16 bytes. Throws as it does, for
/// what is wrong with the shape.
///
/// @param has_order  whether there is a g_idx
int64_t gptq_packed_vectors(const GptqShape& shape, bool has_order);

/// Brings W into an order that a GPU can read quickly; see layout.h. A model does it
/// once, when it is loaded, behind gptq_check_weights().
///
/// @param packed    [gptq_packed_vectors()] device memory, overwritten
/// @param bad_rows  as for gptq_dequantize()
///
/// If K or N is 0 there is nothing to do, and nothing is launched. Throws as
/// gptq_dequantize().
void gptq_repack(const GptqShape& shape,
                 const GptqTensors& tensors,
                 uint4* packed,
                 unsigned long long* bad_rows,
                 cudaStream_t stream);

/// y = x W:
///
///     y[m, n] = the sum over k of x[m, k] * w[k, n],  w as gptq_dequantize() gives it
///
/// @param tensors  W as GPTQ stores it
/// @param packed   the same W, as gptq_repack() has packed it with the same sizes; a
///                 version may use either
/// @param x        [M, K] device memory, read only
/// @param y        [M, N] device memory, overwritten; shares no memory with the others
///
/// If M or N is 0 there is nothing to do, and nothing is launched; with K = 0 all of y
/// becomes 0. Rows of W whose g_idx is outside of [0, groups) are zeros.
///
/// Traffic  reads K N / 2 B, zeros, scales and M K * 2 B; writes M N * 2 B, at least
/// Error    at most gamma(2 K + 16) of 2^-23, times the sum of |x[m, k]| |w[k, n]|, and
///          the rounding to half: products are exact, sums are floats. Two calls with
///          the same arguments on the same GPU give the same bits
/// NaN      and infinities of row m of x go to row m of y, as in any sum, and to no
///          other row. A scale that is NaN or infinite makes its column of y NaN or
///          infinite, and no other column
/// Throws   as gptq_dequantize(), and on a GPU before sm_80
void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream);
