/// naive_attention.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>

/// o = softmax(scale * q k^T) v for each head, as it is written in the textbook, with
/// the whole matrix of scores in memory.
///
/// B = batch, H = query_heads = kv_heads, N = queries, M = keys, D = head_dim. With
/// shape.causal, query i sees the keys 0 .. i + M - N: the last query sees the last
/// key. A query that sees no key gives a row of zeros, and -infinity in lse.
///
/// @param shape   sizes >= 0, D is 32, 64, 128 or 256, any scale. Without
///                queries nothing is done; without keys every row is zeros
/// @param q       [B, H, N, D] row-major, device memory, read only
/// @param k, v    [B, H, M, D] the same
/// @param o       [B, H, N, D] overwritten; must not overlap the inputs
/// @param lse     [B, H, N] log of the sum of exp(score) of each row, natural
///                logarithm; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   B * H * N * M floats for the scores (wb::Scratch), given back on the stream
/// Work     4 B H N M D FLOP
/// Error    score: gamma_(D + 1) * |scale| * sum of |q k| in the exponent; sums over
///          the keys: gamma_M; <wb/testing/attention.h> adds them up
/// NaN      in q makes its row of o and lse NaN, in k the rows that see the key; NaN
///          or infinity in v reaches its column of o in these rows. No other row
///          changes, if each value that is hidden from a row is finite: it may be
///          multiplied with a weight of 0. Subnormal values are not taken for zeros
/// Throws   wb::InvalidArgument for a shape as above that is not met, a null or a host
///          pointer; wb::CudaError if there is no memory for the scores
void naive_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream);
