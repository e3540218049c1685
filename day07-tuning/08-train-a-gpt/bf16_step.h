/// bf16_step.h: given with this exercise: a step whose products and attention have
/// factors of bf16, and whose weights are floats all the same.
///
///     const Bf16Plan plan = plan_bf16_step(shape, 32, 256);
///     gpt_gradients_bf16({&plan, weights, …}, stream);
///     adamw(…);                                      // in float, as ever
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "train_a_gpt.h"

// #region plan
/// What a norm writes: offsets in bytes.
struct Bf16NormArrays {
    int64_t y;     ///< bf16 [tokens, width]
    int64_t mean;  ///< float [tokens]
    int64_t rstd;  ///< float [tokens]
};

/// What a layer leaves for the way back: offsets in bytes. bf16, but lse.
struct Bf16LayerArrays {
    int64_t x;  ///< [tokens, width] what the layer is given
    Bf16NormArrays norm1;
    int64_t q, k, v;  ///< [B, H, N, D], q and k turned; zeros behind the head's numbers
    int64_t o;        ///< [B, H, N, D]
    int64_t lse;      ///< float [B, H, N]
    int64_t attended;  ///< [tokens, width] o, by tokens
    int64_t middle;    ///< [tokens, width] x + attention
    Bf16NormArrays norm2;
    int64_t up;      ///< [tokens, hidden] before the GELU, with its bias
    int64_t hidden;  ///< [tokens, hidden] after it
    int64_t y;       ///< [tokens, width] the x of the next layer
};

/// What all layers use, one after the other. bf16, but where it is said.
struct Bf16SharedArrays {
    int64_t weights;  ///< [parameters.elements] rounded
    int64_t targets;  ///< int32 [tokens]
    int64_t one_hot;  ///< [256, tokens] 1 where token t has byte r
    int64_t angles;   ///< float2 [length, rotary / 2]
    Bf16NormArrays norm;
    int64_t logits;     ///< [tokens, 256] then their gradients, in the same place
    int64_t losses;     ///< float [tokens]
    int64_t qkv;        ///< [tokens, 3 width] with its bias; then its gradient
    int64_t d;          ///< [tokens, width] of what passes from layer to layer
    int64_t d_normed;   ///< [tokens, width] of the y of norm1
    int64_t d_normed2;  ///< [tokens, width] of the y of norm2
    int64_t d_hidden;   ///< [tokens, hidden] of hidden, then of up
    // What the gradients of matrices are given turned: [columns, tokens].
    int64_t turned_d[2];    ///< of layers with an even number, and of those with an odd
    int64_t turned_middle;  ///< of a sequential layer: d between its halves
    int64_t turned_up, turned_qkv, turned_logits;
    int64_t pieces;  ///< float [bf16_shares.h] of the gradients of a layer's matrices
    int64_t sums;    ///< float [ceil(tokens / 64), sum_columns()] of norms and biases
    int64_t d_o, d_q, d_k, d_v;  ///< [B, H, N, D]
};

/// Numbers of a layer that are sums over tokens: the gradients of two norms, and of the
/// biases of qkv, out, up and down.
inline int64_t sums_of_layer(const wb::model::GptShape& shape) {
    return 9 * shape.width + shape.hidden;
}

/// The memory of a step. Unlike that of StepPlan, arrays of the way back are those of
/// all layers: the next one overwrites them. So no moments are needed.
struct Bf16Plan {
    wb::model::GptShape shape;
    int64_t batch;     ///< sequences
    int64_t length;    ///< tokens of each
    int64_t head_dim;  ///< 64 or 128: of the arrays by heads
    ParameterPlaces parameters;
    Bf16LayerArrays layer[kMostLayers];
    Bf16SharedArrays shared;
    int64_t bytes;  ///< all of it, a multiple of 256

    int64_t tokens() const { return batch * length; }
    /// With the norm behind all layers.
    int64_t sum_columns() const {
        return shape.layers * sums_of_layer(shape) + 2 * shape.width;
    }
};

/// Plans such a step.
///
/// Throws wb::InvalidArgument as plan_step() does, and for a width, a hidden, a head or
/// a number of tokens that is no multiple of 8, and a rotary that is none of 16: the
/// TMA unit takes rows of whole 16 bytes, and kernels here take 16 bytes at a time
Bf16Plan plan_bf16_step(const wb::model::GptShape& shape,
                        int64_t batch,
                        int64_t length);
// #endregion plan

// #region call
/// As GptCall is. The weights are rounded to bf16 at the beginning of each step: what
/// AdamW changes of them may be far smaller than a bf16 can show.
struct Bf16Call {
    const Bf16Plan* plan;   ///< of plan_bf16_step(); on the host
    const float* weights;   ///< [plan->parameters.elements] read only
    const int32_t* tokens;  ///< [batch, length + 1]
    void* memory;           ///< plan->bytes or more, aligned to 256; overwritten
    int64_t bytes;          ///< of it
    float* loss;            ///< [1] overwritten
    float* gradients;       ///< [plan->parameters.elements] overwritten, gaps are 0
    unsigned long long* bad_tokens;  ///< [1] as of GptCall
    bool deterministic = false;      ///< the same bits for the same numbers, always
    unsigned cublas = 0;             ///< kinds of products that cuBLAS does: library.h
};

/// The loss and all gradients, by the kernels of chapters 04/04, 06/08 and
/// 06/12: products of bf16 with sums in float.
///
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments, but what the launchers of earlier chapters take
/// Error    each array that it stores is rounded to bf16, 2^-9 of a number; so are the
///          weights of attention. Sums, the statistics of norms, the loss and all
///          gradients of parameters are float
/// Throws   wb::InvalidArgument as gpt_gradients() does, and on a GPU that is no H100,
///          H200 or GH200 (compute capability 9.0)
void gpt_gradients_bf16(const Bf16Call& call, cudaStream_t stream);
// #endregion call
