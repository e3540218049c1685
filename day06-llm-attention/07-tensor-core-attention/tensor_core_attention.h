/// tensor_core_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>

/// o = softmax(scale * q k^T) v for each head, both products on tensor cores: factors
/// of 16 bits, sums in float.
///
/// B = batch, Hq = query_heads, Hkv = kv_heads, N = queries, M = keys, D = head_dim.
/// Query head h reads the keys and values of head h / (Hq / Hkv). With shape.causal,
/// query i sees the keys 0 .. i + M - N: the last query sees the last key. A query that
/// sees no key gives a row of zeros, and -infinity in lse.
///
/// @param shape   sizes >= 0, Hq a multiple of Hkv, D is 64 or 128, any scale.
///                Without queries nothing is done; without keys every row is zeros
/// @param q       [B, Hq, N, D] row-major, device memory, 16-byte aligned, read only
/// @param k, v    [B, Hkv, M, D] the same
/// @param o       [B, Hq, N, D] 16-byte aligned, overwritten; must not overlap inputs
/// @param lse     [B, Hq, N] log of the sum of exp(score) of each row, natural
///                logarithm, float; may be null: not wanted
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments
/// Traffic  q, k, v read and o written once at least: (4 B Hq N D + 4 B Hkv M D) bytes
/// Work     4 B Hq N M D FLOP, half of it with a causal mask
/// Error    beside the exact result of these 16-bit inputs, with w the exact weights
///          and u = 2^-11 for __half and 2^-8 for __nv_bfloat16: that of a float kernel
///          (chapter 02); one rounding of each weight, which is a factor of the second
///          product: u * sum of w |v|; and one rounding of o: u |o|. In the mean over
///          many keys the second part is far smaller, and that is tested, too
/// Range    of scores: as in chapter 02
/// NaN      and subnormal numbers: as in chapter 01
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, for one that is not aligned, and on a GPU before sm_80
void tensor_core_attention(const wb::AttentionShape& shape,
                           const __half* q,
                           const __half* k,
                           const __half* v,
                           __half* o,
                           float* lse,
                           cudaStream_t stream);

/// The same for bfloat16.
void tensor_core_attention(const wb::AttentionShape& shape,
                           const __nv_bfloat16* q,
                           const __nv_bfloat16* k,
                           const __nv_bfloat16* v,
                           __nv_bfloat16* o,
                           float* lse,
                           cudaStream_t stream);
