// 02_heads.cuh: given with this exercise: attention, from qkv by tokens to heads and
// back. There is nothing to write here.
#pragma once

#include <wb/attention.h>

#include "../../day06-llm-attention/02-flash-attention/flash_attention.h"
#include "../../day06-llm-attention/12-attention-backward/attention_backward.h"
#include "call.h"

// #region heads
/// Sizes of arrays by heads, [batch, heads, length, D], and by tokens.
struct Heads {
    int64_t batch, heads, length;
    int64_t head_dim;  ///< numbers of a head
    int64_t D;         ///< head_dim or more: 64 or 128, zeros behind the head's numbers
    int64_t rotary;    ///< the first numbers of a head that turn: i with i + rotary / 2

    __host__ __device__ int64_t tokens() const { return batch * length; }
    __host__ __device__ int64_t width() const { return heads * head_dim; }
    __host__ __device__ int64_t elements() const { return tokens() * heads * D; }

    /// Where number d of a token's head is, by heads.
    __device__ int64_t place(int64_t token, int64_t head, int64_t d) const {
        const int64_t b = token / length;
        return ((b * heads + head) * length + token % length) * D + d;
    }
};

inline Heads heads_of(const Step& s) {
    const StepPlan& p = s.plan;
    return {p.batch,
            p.shape.heads,
            p.length,
            p.shape.head_dim(),
            p.head_dim,
            p.shape.rotary};
}

/// An element of an array by heads.
struct HeadElement {
    int64_t token, head, d;

    __device__ HeadElement(const Heads& h, int64_t at)
        : token(at / h.D / h.length / h.heads * h.length + at / h.D % h.length),
          head(at / h.D / h.length % h.heads),
          d(at % h.D) {}
};
// #endregion heads

// #region split
/// q, k and v by heads: with its bias added, number d of a head turns with number
/// d + rotary / 2, by the angle of the token's position; those of v do not.
///
/// Launch   grid (a thread for each element, 3), block kElementThreads
/// Traffic  reads qkv, 12 B a token and number, and writes q, k, v
/// Error    gamma(4) * (|a c| + |b s|), a and b the two numbers with their biases
__global__ void __launch_bounds__(kElementThreads)
    split_heads_kernel(const Heads h,
                       const float* qkv,      // [tokens, 3 width]
                       const float* bias,     // [3 width]
                       const float2* angles,  // [length, rotary / 2]
                       float* q,              // [batch, heads, length, D], k and v too
                       float* k,
                       float* v) {
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= h.elements()) return;
    const HeadElement e(h, at);
    const int part = static_cast<int>(blockIdx.y);
    float* const out = part == 0 ? q : part == 1 ? k : v;
    if (e.d >= h.head_dim) {
        out[at] = 0.0f;
        return;
    }
    const int64_t first = part * h.width() + e.head * h.head_dim;
    const float* const row = qkv + e.token * 3 * h.width() + first;
    const float mine = row[e.d] + bias[first + e.d];
    if (part == 2 || e.d >= h.rotary) {
        out[at] = mine;
        return;
    }
    const int64_t half = h.rotary / 2;
    const int64_t other = e.d < half ? e.d + half : e.d - half;
    const float partner = row[other] + bias[first + other];
    const float2 angle = angles[e.token % h.length * half + e.d % half];
    out[at] = e.d < half ? mine * angle.x - partner * angle.y
                         : mine * angle.x + partner * angle.y;
}

/// The gradient of qkv: what split_heads_kernel() turned is turned back.
///
/// Launch   grid (a thread for each of [tokens, width], 3), block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    split_heads_backward_kernel(const Heads h,
                                const float* d_q,  // [batch, heads, length, D]
                                const float* d_k,
                                const float* d_v,
                                const float2* angles,  // [length, rotary / 2]
                                float* d_qkv) {        // [tokens, 3 width]
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= h.tokens() * h.width()) return;
    const int64_t token = at / h.width();
    const int64_t col = at % h.width();
    const int64_t head = col / h.head_dim;
    const int64_t d = col % h.head_dim;
    const int part = static_cast<int>(blockIdx.y);
    const float* const from = part == 0 ? d_q : part == 1 ? d_k : d_v;
    float value = from[h.place(token, head, d)];
    if (part < 2 && d < h.rotary) {
        const int64_t half = h.rotary / 2;
        const int64_t other = d < half ? d + half : d - half;
        const float partner = from[h.place(token, head, other)];
        const float2 angle = angles[token % h.length * half + d % half];
        value = d < half ? value * angle.x + partner * angle.y
                         : value * angle.x - partner * angle.y;
    }
    d_qkv[(token * 3 + part) * h.width() + col] = value;
}
// #endregion split

// #region merge
/// by_tokens[t, head, d] = by_heads[b, head, i, d]: copies.
///
/// Launch   a thread for each of [tokens, width], block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    merge_heads_kernel(const Heads h,
                       const float* by_heads,  // [batch, heads, length, D]
                       float* by_tokens) {     // [tokens, width]
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= h.tokens() * h.width()) return;
    const int64_t col = at % h.width();
    by_tokens[at] =
        by_heads[h.place(at / h.width(), col / h.head_dim, col % h.head_dim)];
}

/// The other way, with zeros behind the numbers of a head.
///
/// Launch   a thread for each of [batch, heads, length, D], block kElementThreads
__global__ void __launch_bounds__(kElementThreads)
    merge_heads_backward_kernel(const Heads h,
                                const float* by_tokens,  // [tokens, width]
                                float* by_heads) {       // [batch, heads, length, D]
    const int64_t at = int64_t{blockIdx.x} * kElementThreads + threadIdx.x;
    if (at >= h.elements()) return;
    const HeadElement e(h, at);
    by_heads[at] = e.d < h.head_dim
                       ? by_tokens[e.token * h.width() + e.head * h.head_dim + e.d]
                       : 0.0f;
}
// #endregion merge

inline wb::AttentionShape attention_of(const Step& s) {
    wb::AttentionShape shape;
    shape.batch = s.plan.batch;
    shape.query_heads = shape.kv_heads = s.plan.shape.heads;
    shape.queries = shape.keys = s.plan.length;
    shape.head_dim = s.plan.head_dim;
    shape.causal = true;
    shape.scale = 1.0f / sqrtf(static_cast<float>(s.plan.shape.head_dim()));
    return shape;
}

/// Blocks for a thread each.
inline unsigned blocks_of(int64_t count) {
    return wb::grid_size(count, kElementThreads);
}

// #region attend
/// attended = attention(qkv + bias).
inline void attend(const Step& s, const LayerArrays& a, int64_t bias) {
    const Heads h = heads_of(s);
    split_heads_kernel<<<dim3(blocks_of(h.elements()), 3),
                         kElementThreads,
                         0,
                         s.stream>>>(h,
                                     s.at(a.qkv),
                                     s.weight(bias),
                                     s.at<const float2>(s.plan.angles),
                                     s.at(a.q),
                                     s.at(a.k),
                                     s.at(a.v));
    CUDA_CHECK_LAUNCH();
    flash_attention(attention_of(s),
                    s.at(a.q),
                    s.at(a.k),
                    s.at(a.v),
                    s.at(a.o),
                    s.at(a.lse),
                    s.stream);
    merge_heads_kernel<<<blocks_of(h.tokens() * h.width()),
                         kElementThreads,
                         0,
                         s.stream>>>(h, s.at(a.o), s.at(a.attended));
    CUDA_CHECK_LAUNCH();
}

/// d_qkv, from d_attended.
inline void attend_backward(const Step& s, const LayerArrays& a) {
    const Heads h = heads_of(s);
    merge_heads_backward_kernel<<<blocks_of(h.elements()),
                                  kElementThreads,
                                  0,
                                  s.stream>>>(h, s.at(a.d_attended), s.at(a.d_o));
    CUDA_CHECK_LAUNCH();
    attention_backward_fp32({attention_of(s),
                             s.at(a.q),
                             s.at(a.k),
                             s.at(a.v),
                             s.at(a.o),
                             s.at(a.lse),
                             s.at(a.d_o),
                             s.at(a.d_q),
                             s.at(a.d_k),
                             s.at(a.d_v),
                             s.call.deterministic},
                            s.stream);
    split_heads_backward_kernel<<<dim3(blocks_of(h.tokens() * h.width()), 3),
                                  kElementThreads,
                                  0,
                                  s.stream>>>(h,
                                              s.at(a.d_q),
                                              s.at(a.d_k),
                                              s.at(a.d_v),
                                              s.at<const float2>(s.plan.angles),
                                              s.at(a.d_qkv));
    CUDA_CHECK_LAUNCH();
}
// #endregion attend
