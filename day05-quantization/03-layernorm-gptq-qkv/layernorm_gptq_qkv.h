/// layernorm_gptq_qkv.h: the contract of this exercise.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "../02-gptq-int4/gptq_int4.h"

/// Sizes of a layer's first step: rows of x are normalised and multiplied with W
/// [hidden, 3 hidden] in 4 bits, whose columns are those of Q, of K, and of V.
struct QkvShape {
    int64_t batch;
    int64_t seq;     ///< rows of x in each of the batch
    int64_t hidden;  ///< columns of x, a multiple of 8
    /// Rows of W that share a scale and a zero, as in GptqShape.
    int64_t group = 128;
    bool zeros_minus_one = true;

    int64_t rows() const { return batch * seq; }
    /// W, as chapter 02 describes it.
    GptqShape weights() const {
        return {rows(), 3 * hidden, hidden, group, zeros_minus_one};
    }
};

/// What a LayerNorm has besides its rows.
struct QkvNorm {
    const __half* weight;  ///< [hidden] factors, or null: all are 1
    const __half* bias;    ///< [hidden] what is added, or null: nothing
    float eps = 1e-5f;     ///< >= 0, finite
};

/// How much memory qkv_repack() fills, in units of 16 bytes. Throws as it does, for
/// what is wrong with the shape.
///
/// @param has_order  whether there is a g_idx
int64_t qkv_packed_vectors(const QkvShape& shape, bool has_order);

/// Brings W into the order of chapter 02's layout.h. A model does it once, when it is
/// loaded, behind qkv_check_weights() of check_weights.h.
///
/// @param tensors   qweight [hidden / 8, 3 hidden], qzeros [groups, 3 hidden / 8],
///                  scales [groups, 3 hidden], g_idx [hidden] or null
/// @param packed    [qkv_packed_vectors()] device memory, overwritten
/// @param bad_rows  [1] device memory, to which the number of rows is added whose g_idx
///                  is outside of [0, groups). It may be null where g_idx is
/// @param stream    where the work is queued; the function returns without waiting
///
/// If hidden is 0 there is nothing to do, and nothing is launched. Throws as
/// layernorm_gptq_qkv().
void qkv_repack(const QkvShape& shape,
                const GptqTensors& tensors,
                uint4* packed,
                unsigned long long* bad_rows,
                cudaStream_t stream);

/// Queries, keys and values of a layer, from its input:
///
///     mean[m] = sum of x[m, k] / hidden
///     rstd[m] = 1 / sqrt(sum of (x[m, k] - mean[m])^2 / hidden + eps)
///     h[m, k] = (x[m, k] - mean[m]) * rstd[m] * weight[k] + bias[k]
///     qkv[p, m, n] = the sum over k of h[m, k] * w[k, p hidden + n]
///
/// where w is (q - zero) * scale, rounded once to half, as gptq_dequantize() gives it.
/// Statistics are floats, and h is rounded once to half.
///
/// @param norm     the LayerNorm's weight and bias
/// @param tensors  W as GPTQ stores it, as for qkv_repack()
/// @param packed   the same W, as qkv_repack() has packed it with the same hidden,
///                 group and zeros_minus_one; a version may use either
/// @param input    x, [batch, seq, hidden] device memory, read only
/// @param qkv      [3, batch, seq, hidden] device memory, overwritten; shares no memory
///                 with the others
///
/// If batch, seq or hidden is 0 there is nothing to do, and nothing is launched. Rows
/// of W whose g_idx is outside of [0, groups) are zeros; columns of x that meet them
/// are elements of the LayerNorm as all others are.
///
/// Traffic  reads 3 hidden^2 / 2 B, zeros, scales and rows hidden * 2 B; writes 3 rows
///          hidden * 2 B, at least
/// Error    with b[k] how far h[m, k] may be off, which is day 3's bound of a LayerNorm
///          and the rounding to half: the sum of b[k] |w[k, n]|, and gamma(2 hidden +
///          16) of 2^-23 times the sum of (|h| + b) |w|, and the rounding to half. Two
///          calls with the same arguments on the same GPU give the same bits
/// NaN      and infinities in row m of x make all of its Q, K and V NaN, and no other
///          row. So does a row of equal elements with eps = 0
/// Throws   wb::InvalidArgument for sizes that are negative, batch * seq above 2^30, a
///          hidden above 2^25 or that is no multiple of 8 or of the group, a group that
///          GptqShape does not allow, a tensor whose length is not what the shape asks
///          for, an eps that is negative or not finite, a null, host or misaligned
///          pointer (all but qzeros, g_idx and bad_rows: multiples of 16 bytes), for an
///          output that shares memory with anything else, and on a GPU before sm_80.
///          The values of scales and of g_idx are in the GPU's memory, where a launcher
///          cannot see them
void layernorm_gptq_qkv(const QkvShape& shape,
                        const QkvNorm& norm,
                        const GptqTensors& tensors,
                        const uint4* packed,
                        const __half* input,
                        __half* qkv,
                        cudaStream_t stream);
