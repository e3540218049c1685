/// decoder.h: given with this exercise: a small GPT that makes one token at a time, and
/// where its numbers are. What it computes: <wb/model/gpt.h>.
#pragma once

#include <cuda_runtime.h>
#include <wb/gpt_shape.h>

#include <cstdint>
#include <vector>

#include "fusion_case_study.h"

// #region shape
/// The sizes of a decoder. Its cache keeps the first `sinks` tokens of a text, and the
/// last `window` ones: token t lies in slot t if t < sinks, else in slot
/// sinks + (t - sinks) % window. So it never grows, however long the text is.
struct DecoderShape {
    wb::model::GptShape gpt;
    int64_t sinks = 4;
    int64_t window = 252;
    int64_t page_size = 16;  ///< slots of a page of the cache
    int64_t tokens = 1024;   ///< the most tokens of a text

    int64_t slots() const { return sinks + window; }
    int64_t pages() const { return (slots() + page_size - 1) / page_size; }
    /// Numbers of K of a layer, and of V.
    int64_t layer_cache() const { return pages() * page_size * gpt.width; }
};
// #endregion shape

/// Where a product's or a norm's parameters begin, in elements.
struct Pair {
    int64_t weight;
    int64_t bias;
};

/// Where the parameters are: those of a layer `layer_stride` behind those of the layer
/// before.
struct Places {
    int64_t embed_in;
    Pair norm1, qkv, out, norm2, up, down;  ///< of layer 0
    int64_t layer_stride;
    Pair norm;
    int64_t embed_out;
    int64_t elements;  ///< of all of them
};

/// A decoder's memory, all of it on the device. Owned by Model (model.h).
struct Decoder {
    DecoderShape shape;
    Places places;
    const float* weights;     ///< [places.elements]
    const int32_t* pages;     ///< [shape.pages()] where each page lies in the pool
    const float2* angles;     ///< [tokens, rotary / 2] cosine and sine
    float* k_cache;           ///< [layers, pages, heads, page_size, head_dim]
    float* v_cache;           ///< the same
    int32_t* text;            ///< [tokens + 1] tokens, given or made
    int32_t* position;        ///< [1] of the token that the next step reads
    const int32_t* given;     ///< [1] tokens of the text that are given
    float* x;                 ///< [width] the hidden state
    float* n;                 ///< [width] what the norm gave
    float* qkv;               ///< [3, width] q, k and v
    float* mixed;             ///< [width] what attention gave, before its last product
    float* deltas;            ///< [2, width] what attention gave, and what the MLP gave
    float* hidden;            ///< [hidden] inside of the MLP
    float* logits;            ///< [256]
    float* losses;            ///< [tokens] -log of the probability of the given token
    int32_t* picks;           ///< [tokens] the likeliest token after each
    int32_t* add_norm_calls;  ///< [1] counted by the kernel of add_norm() itself
    float* trace;             ///< [2 layers + 1, width], or null: nobody looks
};

/// The arrays of a step, as bits of StepInfo::reads and writes.
enum StepArray : uint32_t {
    kX = 1u << 0,
    kN = 1u << 1,
    kQ = 1u << 2,
    kK = 1u << 3,
    kV = 1u << 4,
    kCache = 1u << 5,
    kMixed = 1u << 6,
    kAttentionDelta = 1u << 7,
    kMlpDelta = 1u << 8,
    kHidden = 1u << 9,
    kLogits = 1u << 10,
    kText = 1u << 11,
};

/// What unfused_step() launches, in its order, for diagnose().
std::vector<StepInfo> steps_of(int64_t layers, bool is_parallel);
