/// paged_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/paged_cache.h>

#include <cstdint>

/// Writes new tokens into the pages of their sequences: a prompt of any length
/// (prefill), one token of each sequence (decode), or both at once.
///
///     for each token i, with s = sequences[i] and p = positions[i]:
///     cache.k[page, h, p % page_size, :] = k[i, h, :]        for every K/V head h
///     cache.v[page, h, p % page_size, :] = v[i, h, :]
///     where page = cache.block_table[s, p / page_size]
///
/// @param cache      layout and picture in wb/paged_cache.h. k and v are changed in
///                   these slots only; `lengths` plays no part
/// @param k, v       [tokens, kv_heads, head_dim] device memory, 16-byte aligned
/// @param sequences  [tokens] device memory, each in [0, cache.batch)
/// @param positions  [tokens] device memory, each in [0, cache.capacity()); no two
///                   tokens have the same place
/// @param tokens     >= 0
/// @param workspace  one for each stream
/// @param stream     where the work is queued; the function returns without waiting
///
/// A token whose sequence, position or page does not exist is not written, nor is any
/// other memory; workspace.check() then throws wb::PagedCacheError. All other tokens
/// are written.
///
/// Traffic  reads and writes 2 * tokens * kv_heads * head_dim * 2 B
/// Throws   wb::InvalidArgument for what check_paged_cache() refuses, a negative number
///          of tokens, a null or a host pointer, or one that is not aligned
void append_kv(const wb::PagedCache& cache,
               const __nv_bfloat16* k,
               const __nv_bfloat16* v,
               const int32_t* sequences,
               const int32_t* positions,
               int64_t tokens,
               const wb::PagedWorkspace& workspace,
               cudaStream_t stream);

/// Decoding: one query of each sequence and query head against all its keys.
///
///     o[s, h, :] = sum over t < lengths[s] of softmax_t(scale * q[s, h, :] . k[s, t])
///                  * v[s, t]                  with the K/V head h / (Hq / Hkv)
///     lse[s, h]  = log of the sum over t of exp(scale * q[s, h, :] . k[s, t])
///
/// @param cache        layout and picture in wb/paged_cache.h; read only
/// @param q            [batch, query_heads, head_dim] device memory, 16-byte aligned
/// @param o            like q, overwritten; a sequence of length 0 gives zeros,
///                     whatever q holds
/// @param lse          [batch, query_heads] device memory, overwritten, or null if
///                     nobody wants it; a sequence of length 0 gives -inf
/// @param query_heads  Hq, a multiple of cache.kv_heads
/// @param scale        of q . k before the softmax; usually 1 / sqrt(head_dim)
/// @param workspace    one for each stream, batch * query_heads counters at least
/// @param stream       where the work is queued; the function returns without waiting
///
/// A length that the table has no room for counts as 0. A page that does not exist is
/// not read; what o and lse then hold for this sequence is unspecified, all others are
/// right. Either way workspace.check() throws wb::PagedCacheError.
///
/// Numbers  bfloat16 in memory, sums and softmax in float; the weights may be rounded
///          to bfloat16 before they are multiplied with v, as tensor cores want it
/// Traffic  reads 2 * kv_heads * head_dim * 2 B a token, and q; writes o
/// Error    |error| <= 2^-8 * (sum of weight * |v| + |o|), and small terms for float:
///          see wb/testing/paged.h
/// NaN      in q makes its row of o and lse NaN if there are keys, in k the rows of its
///          group; NaN or infinity in v reaches its column of o there. No other row
///          changes; slots behind the end of a sequence may hold anything. Subnormal
///          values are not taken for zeros
/// Throws   wb::InvalidArgument for what check_paged_cache() refuses, heads that do not
///          divide, a scale that is NaN or farther from 0 than 2^127, too few counters,
///          a null or a host pointer, or one that is not aligned
void paged_attention(const wb::PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const wb::PagedWorkspace& workspace,
                     cudaStream_t stream);
