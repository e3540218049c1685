/// attention_backward.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>

// #region call
/// One layer of attention, as the way back sees it. B = batch, Hq = query_heads,
/// Hkv = kv_heads, N = queries, M = keys, D = head_dim, as in chapters 07 and 08.
template <class T>
struct AttentionBackward {
    wb::AttentionShape shape;
    const T* q;                  ///< [B, Hq, N, D]
    const T* k;                  ///< [B, Hkv, M, D]
    const T* v;                  ///< [B, Hkv, M, D]
    const T* o;                  ///< [B, Hq, N, D] what the forward pass gave
    const float* lse;            ///< [B, Hq, N] and its log-sum-exp, natural logarithm
    const T* d_o;                ///< [B, Hq, N, D] the gradient of o
    T* dq;                       ///< [B, Hq, N, D] overwritten
    T* dk;                       ///< [B, Hkv, M, D] overwritten
    T* dv;                       ///< [B, Hkv, M, D] overwritten
    bool deterministic = false;  ///< the same bits for the same numbers, always
};
// #endregion call

/// The gradients of o = softmax(scale * q k^T) v. With i a query, j a key that it sees,
///
///     P[i, j]  = exp(scale * q[i] . k[j] - lse[i])
///     delta[i] = d_o[i] . o[i]
///     S[i, j]  = P[i, j] * (d_o[i] . v[j] - delta[i])       the gradient of a score
///     dv[j]    = sum over i of P[i, j] * d_o[i]
///     dk[j]    = scale * sum over i of S[i, j] * q[i]
///     dq[i]    = scale * sum over j of S[i, j] * k[j]
///
/// for each head; sums for a key go over all query heads that read it, those of h with
/// h / (Hq / Hkv) equal. With shape.causal, query i sees the keys 0 .. i + M - N. Where
/// there is nothing to add up the gradient is 0: of a query that sees no key, of a key
/// that no query sees. These formulas hold for any o and lse.
///
/// @param call    sizes >= 0, Hq a multiple of Hkv, D is 64 or 128, any scale. Arrays
///                are in device memory, 16-byte aligned, lse 4-byte aligned; one
///                without elements may be null. dq, dk and dv overlap nothing
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   4 (D + 2) B Hq N bytes beyond the arguments at most, for a moment; and, if
///          deterministic, 4 for each 64 queries of a head, or part of them, and 4 more
/// Traffic  q, k, v, o, d_o and lse read and dq, dk, dv written once at least:
///          (4 B Hq N D + 4 B Hkv M D) * sizeof(T) + 4 B Hq N bytes
/// Work     10 B Hq N M D FLOP, half of it with a causal mask
/// Error    beside the exact result of these numbers: of a score, gamma(D + 4) of
///          2^-24 times scale * sum |q k|, which is a relative error of P; of the two
///          sums in S, gamma(D + 2) each; of a sum over n terms, gamma(2 n + 20). In
///          bf16, P and S (or scale * S) may be rounded to bf16 once each before they
///          are multiplied, and the results are. A P or a result below 2^-126 may be 0
/// NaN      and infinities go where the formulas take them, by a weight of 0, too, and
///          to no other head of keys. A pair that the mask hides may be multiplied with
///          a weight of 0: a NaN or an infinity of its key or of its query may make NaN
///          of the gradients of both. So dq of a query that sees no key is 0, or NaN if
///          its q, o or d_o is not finite. An infinity of q, k, v, o or d_o may become
///          NaN on its way: rows past the last are zeros in a tile
/// Throws   wb::InvalidArgument for a shape as above that is not met, for a null or a
///          host pointer, for one that is not aligned, and for outputs that overlap
void attention_backward_fp32(const AttentionBackward<float>& call, cudaStream_t stream);

/// The same for bfloat16; sums are float. Needs sm_80, and refuses an older GPU.
void attention_backward_bf16(const AttentionBackward<__nv_bfloat16>& call,
                             cudaStream_t stream);
