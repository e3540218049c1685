// bf16_attend.cuh: given with this exercise: attention of a step in bf16, and its way
// back. There is nothing to write here.
#pragma once

#include <wb/attention.h>

#include <cmath>

#include "../../day06-llm-attention/08-hopper-attention/hopper_attention.h"
#include "../../day06-llm-attention/12-attention-backward/attention_backward.h"
#include "bf16_launches.cuh"

namespace {

Bf16Heads heads_of(const Bf16Step& s) {
    const Bf16Plan& p = s.plan;
    return {static_cast<uint32_t>(p.batch),
            static_cast<uint32_t>(p.shape.heads),
            static_cast<uint32_t>(p.length),
            static_cast<uint32_t>(p.shape.head_dim()),
            static_cast<uint32_t>(p.head_dim),
            static_cast<uint32_t>(p.shape.rotary)};
}

wb::AttentionShape attention_of(const Bf16Step& s) {
    wb::AttentionShape shape;
    shape.batch = s.plan.batch;
    shape.query_heads = shape.kv_heads = s.plan.shape.heads;
    shape.queries = shape.keys = s.plan.length;
    shape.head_dim = s.plan.head_dim;
    shape.causal = true;
    shape.scale = 1.0f / sqrtf(static_cast<float>(s.plan.shape.head_dim()));
    return shape;
}

/// Blocks for a thread for each vector of an array by heads.
unsigned head_blocks(const Bf16Step& s) {
    return blocks_of(s.tokens() * s.plan.shape.heads * (s.plan.head_dim / 8));
}

/// attended = attention(qkv).
void attend(const Bf16Step& s, const Bf16LayerArrays& a) {
    const Bf16Heads h = heads_of(s);
    bf16_split_heads_kernel<<<head_blocks(s), kBf16Threads, 0, s.stream>>>(
        h,
        s.at(s.shared.qkv),
        s.at<const float2>(s.shared.angles),
        s.at(a.q),
        s.at(a.k),
        s.at(a.v));
    CUDA_CHECK_LAUNCH();
    hopper_attention(attention_of(s),
                     s.at(a.q),
                     s.at(a.k),
                     s.at(a.v),
                     s.at(a.o),
                     s.at<float>(a.lse),
                     s.stream);
    bf16_merge_heads_kernel<false>
        <<<head_blocks(s), kBf16Threads, 0, s.stream>>>(h, s.at(a.o), s.at(a.attended));
    CUDA_CHECK_LAUNCH();
}

/// shared.qkv = the gradient of qkv, from that of attended; turned, too.
void attend_backward(const Bf16Step& s, int64_t i, int64_t d_attended) {
    const Bf16LayerArrays& a = s.plan.layer[i];
    const Bf16Heads h = heads_of(s);
    const Bf16SharedArrays& m = s.shared;
    bf16_merge_heads_kernel<true><<<head_blocks(s), kBf16Threads, 0, s.stream>>>(
        h, s.at(d_attended), s.at(m.d_o));
    CUDA_CHECK_LAUNCH();
    attention_backward_bf16({attention_of(s),
                             s.at(a.q),
                             s.at(a.k),
                             s.at(a.v),
                             s.at(a.o),
                             s.at<float>(a.lse),
                             s.at(m.d_o),
                             s.at(m.d_q),
                             s.at(m.d_k),
                             s.at(m.d_v),
                             s.call.deterministic},
                            s.stream);
    const LayerSums sums = LayerSums::of(s.plan.shape, i);
    turn(s,
         FromHeads{h,
                   s.at(m.d_q),
                   s.at(m.d_k),
                   s.at(m.d_v),
                   s.at<const float2>(m.angles),
                   s.at(m.qkv)},
         turned_of(s, m.turned_qkv, 3 * s.width(), sums.qkv));
}

}  // namespace
