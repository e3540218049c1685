/// grouped_query_attention.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>

/// o = softmax(scale * q k^T) v, where several query heads share one key/value head.
///
/// B = batch, Hq = query_heads, Hkv = kv_heads, N = queries, M = keys, D = head_dim.
/// The query heads are in groups of G = Hq / Hkv neighbours: query head h uses the keys
/// and values of head h / G. G = 1 is multi-head attention (MHA), Hkv = 1 multi-query
/// attention (MQA), and all between is called grouped-query attention (GQA). Mask,
/// empty rows, scale and lse are as in chapter 02.
///
/// @param shape   sizes >= 0, Hq a multiple of Hkv, D is 32, 64, 128 or 256, any finite
///                scale. Without queries nothing is done; without keys every row is
///                zeros. D = 256 needs 74 KB of shared memory a block: sm_80 or later
/// @param q       [B, Hq, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, Hkv, M, D] the same
/// @param o       [B, Hq, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, Hq, N] log of the sum of exp(score) of each row, natural
///                logarithm; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments
/// Traffic  at least q, o, k and v once: 4 D (2 B Hq N + 2 B Hkv M) B. For a single
///          query that is nearly all k and v, G times less than without groups
/// Work     4 B Hq N M D FLOP, half of it with a causal mask
/// Error    as in chapter 02
/// NaN      and subnormal numbers: as in chapter 01
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, or one that is not aligned
void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream);
