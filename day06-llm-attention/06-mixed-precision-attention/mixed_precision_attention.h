/// mixed_precision_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>

/// o = softmax(scale * q k^T) v for each head, with q, k, v and o in 16 bits a number,
/// and everything in between in float: scores, their maximum, the weights and their
/// sum, the sum of the values. Nothing but o is rounded to 16 bits, and that once.
///
/// B = batch, H = query_heads = kv_heads, N = queries, M = keys, D = head_dim. With
/// shape.causal, query i sees the keys 0 .. i + M - N: the last query sees the last
/// key. A query that sees no key gives a row of zeros, and -infinity in lse.
///
/// @param shape   sizes >= 0, D is 32, 64 or 128, any scale. Without queries
///                nothing is done; without keys every row is zeros
/// @param q       [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, H, M, D] the same
/// @param o       [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, H, N] log of the sum of exp(score) of each row, natural
///                logarithm, float; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments
/// Traffic  q, k, v read and o written once at least: (4 B H N D + 4 B H M D) bytes
/// Work     4 B H N M D FLOP, half of it with a causal mask
/// Error    beside the exact result of these 16-bit inputs: that of a float kernel
///          (chapter 02), and one rounding of o: u |o|, where u = 2^-11 for __half and
///          2^-8 for __nv_bfloat16
/// NaN      and subnormal numbers: as in chapter 01
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, or one that is not aligned
void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __half* q,
                               const __half* k,
                               const __half* v,
                               __half* o,
                               float* lse,
                               cudaStream_t stream);

/// The same for bfloat16.
void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __nv_bfloat16* q,
                               const __nv_bfloat16* k,
                               const __nv_bfloat16* v,
                               __nv_bfloat16* o,
                               float* lse,
                               cudaStream_t stream);
