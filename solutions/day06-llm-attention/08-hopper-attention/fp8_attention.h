/// fp8_attention.h: v6 of Hopper attention, for who wants the last factor and can bear
/// the error.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>

/// hopper_attention (hopper_attention.h) with both products on e4m3 numbers, of which
/// there are 8 between 1 and 2. q, k and v are rounded by this function: q with one
/// scale for 64 rows, k for 128 keys, v for a head; weights are rounded, too.
///
/// @param shape  head_dim is 128, and batch times heads below 65536; all else as for
///               hopper_attention
///
/// Memory   one byte for each number of q, k and v, and scales
/// Error    beside the exact result of the inputs as they are: see the chapter's
///          day06_hopper_fp8, which prints it. The number of keys adds nothing to it:
///          tensor cores sum the products of 128 keys, and floats these sums
/// Range    numbers below 2^-115 lose digits, and those below 2^-118 are taken for
///          zeros: a scale has an inverse
/// NaN      as for hopper_attention. An infinite number makes its whole block of q or
///          k, or its head of v, zeros or NaN: it is the block's scale
/// Throws   as hopper_attention
void hopper_attention_fp8(const wb::AttentionShape& shape,
                          const __nv_bfloat16* q,
                          const __nv_bfloat16* k,
                          const __nv_bfloat16* v,
                          __nv_bfloat16* o,
                          float* lse,
                          cudaStream_t stream);
