/// hstu_attention.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Which keys a row sees, always among those of its own sequence.
enum class HstuMask : int32_t {
    full = 0,     ///< all of them
    causal = 1,   ///< itself, and what is before it
    local = 2,    ///< at most `left` before it to `right` behind it, and itself
    context = 3,  ///< as causal; and the first contexts[b], which every row sees
    target = 4,   ///< the last targets[b] rows are candidates: they see what is before
                  ///< the first of them, and themselves. All others as `context`
    arbitrary = 5,  ///< what its intervals say
};

/// An array for kernels, and its numbers for the launcher, which has to check them.
template <class T>
struct Twice {
    const T* device = nullptr;
    const T* host = nullptr;
};

// #region mask
/// A mask, and what belongs to it; what belongs to others is not looked at.
struct HstuMasks {
    HstuMask kind = HstuMask::causal;
    int64_t left = 0;               ///< local: >= 0
    int64_t right = 0;              ///< local: >= 0
    Twice<int32_t> contexts = {};   ///< context: [batch], 0 to the sequence's length;
                                    ///< target: the same, or null for none
    Twice<int32_t> targets = {};    ///< target: [batch], 0 to the length less contexts
    Twice<int32_t> offsets = {};    ///< arbitrary: [total + 1], from 0, not falling
    Twice<int32_t> intervals = {};  ///< arbitrary: [offsets[total], 2] begin and end of
                                    ///< keys, which row i has from offsets[i] on; each
                                    ///< has a key, none has a key of the one before;
                                    ///< 8-byte aligned
};
// #endregion mask

// #region bias
/// What is added to the scores: for each distance a number, and for each span of time.
///
///     bias(h, i, j) = positions[h, clamp(i - j, -M, M) + M]
///                     + times[h, min(buckets - 1, bits of |timestamps[i] -
///                                                         timestamps[j]|)]
///
/// where the bits of 0 are 0, those of 1 are 1, of 2 and 3 are 2, of 4 to 7 are 3.
struct HstuBias {
    const float* positions = nullptr;     ///< [heads, 2 M + 1], or null: no such bias
    int64_t max_distance = 0;             ///< M, 0 to 2^30
    const float* times = nullptr;         ///< [heads, buckets], or null: no such bias
    int64_t buckets = 0;                  ///< 1 to 65 if there are times
    const int64_t* timestamps = nullptr;  ///< [total] if there are times
};
// #endregion bias

// #region call
/// Sequences of many lengths, one behind the other: sequence b has the rows
/// cu_seqlens[b] to cu_seqlens[b + 1] - 1 of q, k, v and o.
template <class T>
struct HstuCall {
    const T* q;                 ///< [total, heads, head_dim]
    const T* k;                 ///< the same
    const T* v;                 ///< the same
    T* o;                       ///< the same; the backward pass does not look at it
    int64_t batch;              ///< sequences, >= 0
    int64_t total;              ///< rows of all of them, 0 to 2^30
    int64_t heads;              ///< H, 1 to 65535
    int64_t head_dim;           ///< D: 32, 64, 128 or 256
    float alpha;                ///< of q . k, usually 1 / sqrt(D); finite
    int64_t scaling_length;     ///< N >= 1, usually the longest that a sequence may be
    Twice<int32_t> cu_seqlens;  ///< [batch + 1], from 0 to total, not falling
    HstuMasks mask;
    HstuBias bias;
};

/// What the backward pass is given besides, and what it writes.
template <class T>
struct HstuGradients {
    const T* d_o;        ///< [total, heads, head_dim]
    T* dq;               ///< the same, overwritten
    T* dk;               ///< the same, overwritten
    T* dv;               ///< the same, overwritten
    float* d_positions;  ///< [heads, 2 M + 1] overwritten; null if bias.positions is
    float* d_times;      ///< [heads, buckets] overwritten; null if bias.times is
};
// #endregion call

/// Pointwise attention of a recommender (HSTU): no softmax, a SiLU of each score.
///
///     s(i, j)    = alpha * q[i, h, :] . k[j, h, :] + bias(h, i, j)
///     a(i, j)    = silu(s(i, j)) / N          if row i sees key j, else 0
///     o[i, h, :] = sum over j of a(i, j) * v[j, h, :]
///     silu(s)    = s / (1 + exp(-s))
///
/// @param call    q, k, v and o begin at multiples of 16 bytes, and o shares no byte
///                with what is read. Copies on the host are read before the function
///                returns
/// @param stream  where the work is queued; the function returns without waiting
///
/// A row that sees no key gives zeros. With total == 0 nothing is launched.
///
/// Traffic  reads q, k and v once at least, writes o: 4 * total * H * D * sizeof(T) B
/// Work     4 D FLOP for each pair of a row and a key that it sees, and one SiLU
/// Error    beside the exact result of these inputs, in float: gamma(D + 4) of |alpha|
///          sum |q| |k| + |bias| in each score, as much again in the SiLU, whose slope
///          is 1.1 at most, and gamma(keys + 8) in the sum over keys. For 16 bits each
///          silu(s) may be rounded once to T, with u = 2^-11 or 2^-8: u * sum |silu(s)|
///          |v| / N; and o is rounded: u |o|
/// Range    inputs are finite. Where a row sees a key, float holds sum |q| |k|, s and
///          the sums over keys, also without 1 / N; for __half |s| <= 65504 there. The
///          scores of all other pairs may be infinite
/// Throws   wb::InvalidArgument, which names the parameter, its place and its value,
///          for sizes and numbers that are not as above, cu_seqlens that does not begin
///          with 0, falls or does not end at total, a window below 0, contexts and
///          targets that a sequence does not have, intervals that overlap, are empty,
///          fall or leave their sequence; a null, host or misaligned pointer, and
///          arrays that overlap; a GPU before sm_80
void hstu_attention_fp32(const HstuCall<float>& call, cudaStream_t stream);
void hstu_attention_fp16(const HstuCall<__half>& call, cudaStream_t stream);
void hstu_attention_bf16(const HstuCall<__nv_bfloat16>& call, cudaStream_t stream);

/// The backward pass: what the gradient d_o of o makes of q, k, v and of the bias.
///
///     a(i, j)     = silu(s(i, j)) / N                    if row i sees key j, else 0
///     ds(i, j)    = (d_o[i, h, :] . v[j, h, :]) * silu'(s(i, j)) / N, or 0 as well
///     dq[i, h, :] = alpha * sum over j of ds(i, j) k[j, h, :]
///     dk[j, h, :] = alpha * sum over i of ds(i, j) q[i, h, :]
///     dv[j, h, :] = sum over i of a(i, j) d_o[i, h, :]
///     d_positions, d_times: sums of ds(i, j) over the pairs that have this number
///     silu'(s)    = sigma (1 + s (1 - sigma)), with sigma = 1 / (1 + exp(-s))
///
/// Scores are computed again: nothing is kept of the forward pass.
///
/// @param call       as above; o is not looked at
/// @param gradients  arrays of T begin at multiples of 16 bytes; what is written shares
///                   no byte with anything else
///
/// With total == 0 the gradients of the bias are set to zeros, and nothing else is
/// done.
///
/// Traffic  reads q, k, v and d_o once at least, writes dq, dk and dv
/// Work     10 D FLOP for each pair that is seen: five products
/// Error    in float: that of s as above, times 1.1 in a and times 0.5 |da| in ds, the
///          slopes of silu and silu'; gamma(D + 8) in da; gamma(terms + 8) in the sums.
///          For 16 bits each silu(s) of dv and each ds of dq and dk may be rounded once
///          to T: u * sum |silu(s)| |d_o| / N, and u * |alpha| sum |ds| |k| or |q|; and
///          each result is rounded. Gradients of the bias are sums in float always
/// Range    as above; |alpha| / N is 0 or at least 2^-126; for __half also |d_o . v|
///          <= 32768
/// Order    dq, dk and dv are the same in each run. The gradients of the bias are sums
///          of floats in any order
/// Throws   as above
void hstu_backward_fp32(const HstuCall<float>& call,
                        const HstuGradients<float>& gradients,
                        cudaStream_t stream);
void hstu_backward_fp16(const HstuCall<__half>& call,
                        const HstuGradients<__half>& gradients,
                        cudaStream_t stream);
void hstu_backward_bf16(const HstuCall<__nv_bfloat16>& call,
                        const HstuGradients<__nv_bfloat16>& gradients,
                        cudaStream_t stream);
