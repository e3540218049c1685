/// sparse_attention.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/sparse_pattern.h>

/// Attention of each query over the keys that its row of a pattern lists:
///
///     o[b, h, i, :] = sum over the listed keys j of
///                     softmax_j(scale * q[b, h, i, :] . k[b, h, j, :]) * v[b, h, j, :]
///
/// One pattern serves all batches and heads. A causal mask is a pattern like any other.
/// The keys of a row may come in any order; a key that is listed twice counts twice. An
/// empty row gives a row of zeros, and -infinity in lse.
///
/// @param shape    sizes >= 0, D = head_dim is 32, 64 or 128, any scale, causal
///                 false, kv_heads = query_heads. Without queries nothing is done
/// @param pattern  [queries] rows of keys, device memory. A row whose offsets are wrong
///                 is taken as empty, an index outside of [0, keys) as not listed; both
///                 are noted in status, and nothing is read where they point
/// @param q        [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v     [B, H, M, D] the same
/// @param o        [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse      [B, H, N] log of the sum of exp(score) of each row, natural
///                 logarithm; may be null: not wanted
/// @param status   device memory; see wb::PatternCheck. Never reset here
/// @param stream   where the work is queued; the function returns without waiting
///
/// Work     4 B H D FLOP for each index
/// Error    that of dense attention over the listed keys: <wb/testing/attention.h>
/// NaN      in q makes its row of o and lse NaN, in k the rows that list the key; NaN
///          or infinity in v reaches its column of o in these rows. No other row
///          changes, for none reads a key that it does not list. Subnormal values are
///          not taken for zeros
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, or one that is not aligned
void sparse_attention(const wb::AttentionShape& shape,
                      const wb::CsrPattern& pattern,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      wb::PatternStatus* status,
                      cudaStream_t stream);

/// The same for a pattern of blocks, each of 128 queries and 64 keys.
///
/// @param pattern  lists for each row of blocks, device memory. A wrong index and wrong
///                 offsets are treated as above. Blocks at the edges may reach past the
///                 last query and the last key: what does not exist is not seen,
///                 whatever the masks say. `order` must be a permutation; who follows
///                 it notes an entry that is no row of blocks in status, and skips it
/// @param v        the values of a listed block must be finite, seen or not: the weight
///                 of a key that is not seen is 0, and 0 * infinity is no number
///
/// Work     4 B H D FLOP for each of the 128 * 64 pairs of every listed block
void block_sparse_attention(const wb::AttentionShape& shape,
                            const wb::BlockPattern& pattern,
                            const float* q,
                            const float* k,
                            const float* v,
                            float* o,
                            float* lse,
                            wb::PatternStatus* status,
                            cudaStream_t stream);
