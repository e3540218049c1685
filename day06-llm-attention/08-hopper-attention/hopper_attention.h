/// hopper_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/paged_cache.h>

#include <cstdint>

/// o = softmax(scale * q k^T) v for each head, by the tensor cores of a GPU of compute
/// capability 9.0 (H100, H200, GH200): q, k, v, the weights and o in 16 bits a number,
/// scores, softmax and sums in float.
///
/// B = batch, H = query_heads, G = kv_heads, N = queries, M = keys, D = head_dim. Query
/// head h uses K/V head h / (H / G). With shape.causal, query i sees the keys
/// 0 .. i + M - N: the last query sees the last key. A query that sees no key gives a
/// row of zeros, and -infinity in lse, whatever it holds.
///
/// @param shape   sizes >= 0, D is 64, 128 or 256, any scale from 0 to 2^127. Without
///                queries nothing is done; without keys every row is zeros
/// @param q       [B, H, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, G, M, D] the same
/// @param o       [B, H, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, H, N] log of the sum of exp(score) of each row, natural
///                logarithm, float; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   up to 850 KB a multiprocessor beyond the arguments, 110 MB on an H100, for
///          parts of sums: without a mask only
/// Work     4 B H N M D FLOP, half of it with a causal mask
/// Error    |error| <= u (sum of weight |v| + |o|) and what a float kernel has (chapter
///          02), where u = 2^-11 for __half and 2^-8 for __nv_bfloat16: the weights are
///          rounded once, and so is o
/// Range    of scores: as in chapter 02
/// NaN      and subnormal numbers: as in chapter 01
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, one that is not aligned, and on any other GPU: chapter 07 has
///          kernels for those
void hopper_attention(const wb::AttentionShape& shape,
                      const __half* q,
                      const __half* k,
                      const __half* v,
                      __half* o,
                      float* lse,
                      cudaStream_t stream);

/// The same for bfloat16.
void hopper_attention(const wb::AttentionShape& shape,
                      const __nv_bfloat16* q,
                      const __nv_bfloat16* k,
                      const __nv_bfloat16* v,
                      __nv_bfloat16* o,
                      float* lse,
                      cudaStream_t stream);

/// Sequences of different lengths, one after the other in one tensor, without padding.
///
///     query_starts = {0, 3, 3, 7}     rows of q:   0 1 2 | | 3 4 5 6
///                                     sequence:      0   1     2       (1 is empty)
struct PackedShape {
    int64_t sequences = 0;      ///< S, less than 2^31
    int64_t query_heads = 1;    ///< H
    int64_t kv_heads = 1;       ///< G; divides query_heads
    int64_t total_queries = 0;  ///< rows of q in all
    int64_t total_keys = 0;     ///< rows of k in all
    int64_t max_queries = 0;    ///< no sequence has more queries; if one has, its rows
                                ///< past it, and no others, may be left as they are;
                                ///< 0: nothing is done
    int64_t head_dim = 64;      ///< D: 64, 128 or 256
    int64_t query_stride = 0;   ///< elements from one row of q to the next; 0: H * D
    int64_t kv_stride = 0;      ///< the same of k and v; 0: G * D
    bool causal = false;        ///< as in wb::AttentionShape, for each sequence
    float scale = 1.0f;         ///< from 0 to 2^127
};

/// Attention within each sequence s, whose queries are the rows query_starts[s] to
/// query_starts[s + 1] - 1 of q and whose keys are the rows key_starts[s] to
/// key_starts[s + 1] - 1 of k and v.
///
/// @param q                         [total_queries, H, D], rows query_stride apart
/// @param k, v                      [total_keys, G, D], rows kv_stride apart: the three
///                                  may be parts of one projection
/// @param query_starts, key_starts  [S + 1] device memory, not decreasing, the first 0,
///                                  the last the total
/// @param o                         [total_queries, H, D] dense
/// @param lse                       [H, total_queries] or null
///
/// What a row holds does not touch other sequences: not even a NaN does. No memory is
/// taken for each sequence.
/// Throws wb::InvalidArgument as above, and for strides that are no multiples of 8 or
/// shorter than a row.
void hopper_attention_packed(const PackedShape& shape,
                             const __half* q,
                             const __half* k,
                             const __half* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __half* o,
                             float* lse,
                             cudaStream_t stream);

/// The same for bfloat16.
void hopper_attention_packed(const PackedShape& shape,
                             const __nv_bfloat16* q,
                             const __nv_bfloat16* k,
                             const __nv_bfloat16* v,
                             const int32_t* query_starts,
                             const int32_t* key_starts,
                             __nv_bfloat16* o,
                             float* lse,
                             cudaStream_t stream);

/// Packed queries against a paged cache (chapter 04): a prompt that is cut into chunks,
/// each seeing all tokens before it. Sequence s has the keys 0 .. cache.lengths[s] - 1.
///
/// @param shape      sequences = cache.batch, kv_heads and head_dim as the cache has
///                   them; total_keys and kv_stride, legal ones, are not used
/// @param workspace  one for each stream; only its status is used
///
/// A page that does not exist is not read, what o then holds for this sequence is
/// unspecified, all others are right, and workspace.check() throws
/// wb::PagedCacheError. So it does for a length that the table has no room for, which
/// counts as 0. Pages and lengths of a sequence without queries need not be looked at.
/// A fault of an earlier call, which nobody has asked for yet, changes nothing.
void hopper_attention_paged(const PackedShape& shape,
                            const wb::PagedCache& cache,
                            const __nv_bfloat16* q,
                            const int32_t* query_starts,
                            __nv_bfloat16* o,
                            float* lse,
                            const wb::PagedWorkspace& workspace,
                            cudaStream_t stream);
