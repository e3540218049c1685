/// block_sparse_attention.h: v7 of Hopper attention, over the blocks that a pattern of
/// chapter 05 lists.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/sparse_pattern.h>

/// block_sparse_attention of chapter 05 by the tensor cores of a GPU of compute
/// capability 9.0, q, k, v and o in bfloat16:
///
///     o[b, h, i, :] = sum over the keys j that the pattern lists for query i of
///                     softmax_j(scale * q[b, h, i, :] . k[b, g, j, :]) * v[b, g, j, :]
///
/// Query head h uses K/V head g = h / (query_heads / kv_heads). One pattern serves all
/// batches and heads.
///
/// @param shape    sizes >= 0, D = head_dim is 64 or 128, scale >= 0, causal false: the
///                 pattern says what a query sees. Without queries nothing is done;
///                 without keys every row is zeros, whatever the lists hold
/// @param pattern  lists for each row of blocks, device memory. A block that is listed
///                 twice counts twice. Wrong offsets are taken as an empty list, an
///                 index that does not exist as not listed, an entry of `order` that is
///                 no row of blocks is skipped: all are noted in status, and nothing is
///                 read where they point
/// @param q        [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v     [B, G, M, D] the same. The values of a listed block must be finite,
///                 seen or not: the weight of a key that is not seen is 0, and 0 times
///                 infinity is NaN
/// @param o        [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse      [B, H, N] log of the sum of exp(score) of each row, natural
///                 logarithm, float; -infinity for a row that sees no key; may be null
/// @param status   device memory; see wb::PatternCheck. Never reset here
/// @param stream   where the work is queued; the function returns without waiting
///
/// Memory   4 bytes beyond the arguments
/// Work     4 B H D FLOP for each of the 128 * 64 pairs of every listed block
/// Error    that of hopper_attention over the listed keys: |error| <=
///          2^-8 (sum of weight |v| + |o|) and what a float kernel has
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, one that is not aligned, and on any other GPU
void hopper_block_sparse_attention(const wb::AttentionShape& shape,
                                   const wb::BlockPattern& pattern,
                                   const __nv_bfloat16* q,
                                   const __nv_bfloat16* k,
                                   const __nv_bfloat16* v,
                                   __nv_bfloat16* o,
                                   float* lse,
                                   wb::PatternStatus* status,
                                   cudaStream_t stream);
