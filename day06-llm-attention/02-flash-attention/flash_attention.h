/// flash_attention.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>

/// o = softmax(scale * q k^T) v for each head, exactly as in chapter 01, but without a
/// matrix of scores: no more memory than the inputs and the outputs have.
///
/// B = batch, H = query_heads = kv_heads, N = queries, M = keys, D = head_dim. With
/// shape.causal, query i sees the keys 0 .. i + M - N: the last query sees the last
/// key. A query that sees no key gives a row of zeros, and -infinity in lse.
///
/// @param shape   sizes >= 0, D is 32, 64, 128 or 256, any scale. Without
///                queries nothing is done; without keys every row is zeros
/// @param q       [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, H, M, D] the same
/// @param o       [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, H, N] log of the sum of exp(score) of each row, natural
///                logarithm; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments; versions that share the keys of few queries out
///          to several blocks: at most as much as k and v have
/// Work     4 B H N M D FLOP, half of it with a causal mask
/// Error    as in chapter 01, and up to M rescalings of the sums, 9 roundings each;
///          <wb/testing/attention.h> adds them up
/// Range    a score, times log2(e), is within 2^30 of 0, or a float as it is. Others
///          may make NaN of their row: the largest is rounded, and what it is
///          subtracted from is not, in an fma
/// NaN      and subnormal numbers: as in chapter 01
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, or one that is not aligned
void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream);
