/// train_a_gpt.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <wb/gpt_shape.h>

#include <cstdint>

/// The most layers of a model.
inline constexpr int64_t kMostLayers = 64;

// #region parameters
/// Where a layer of weights has its parameters, or a norm its factors and summands: in
/// elements from the beginning of the array that has all parameters.
struct ParameterPair {
    int64_t weight;
    int64_t bias;
};

/// The parameters of a layer of the model, as <wb/model/gpt.h> names them.
struct LayerParameters {
    ParameterPair norm1, qkv, out, norm2, up, down;
};

/// Where all parameters are, in an array of `elements` numbers.
struct ParameterPlaces {
    int64_t embed_in;
    LayerParameters layer[kMostLayers];
    ParameterPair norm;
    int64_t embed_out;
    int64_t elements;  ///< a multiple of 64, gaps between parameters included
};
// #endregion parameters

// #region plan
/// What a norm writes: offsets in bytes.
struct NormArrays {
    int64_t y;     ///< [tokens, width]
    int64_t mean;  ///< [tokens]
    int64_t rstd;  ///< [tokens]
};

/// What a layer computes: offsets in bytes. B = batch, H = heads, N = length, D the
/// head dimension of the plan. All of them are floats.
struct LayerArrays {
    // The way forward; all but qkv are read on the way back.
    int64_t x;  ///< [tokens, width] what the layer is given
    NormArrays norm1;
    int64_t qkv;      ///< [tokens, 3 width] without its bias
    int64_t q, k, v;  ///< [B, H, N, D], q and k turned; zeros behind the head's numbers
    int64_t o;        ///< [B, H, N, D]
    int64_t lse;      ///< [B, H, N]
    int64_t attended;  ///< [tokens, width] o, by tokens
    int64_t middle;    ///< [tokens, width] what norm2 reads; of a parallel layer x
    NormArrays norm2;
    int64_t up;      ///< [tokens, hidden] before the GELU, with its bias
    int64_t hidden;  ///< [tokens, hidden] after it
    int64_t y;       ///< [tokens, width] the x of the next layer
    // The way back: gradients of the arrays that they are named after.
    int64_t d_hidden;       ///< then of up, in the same place
    int64_t d_normed2;      ///< of norm2.y
    int64_t d_middle;       ///< what comes through norm2
    int64_t d_attended;     ///< [tokens, width]
    int64_t d_o;            ///< [B, H, N, D]
    int64_t d_q, d_k, d_v;  ///< [B, H, N, D]
    int64_t d_qkv;          ///< [tokens, 3 width]
    int64_t d_normed1;      ///< of norm1.y
    int64_t d_first;        ///< what comes through norm1
};

/// The memory of a step, planned before the first one.
struct StepPlan {
    wb::model::GptShape shape;
    int64_t batch;     ///< sequences
    int64_t length;    ///< tokens of each
    int64_t head_dim;  ///< 64 or 128: of the arrays by heads
    ParameterPlaces parameters;

    int64_t inputs;   ///< int64 [tokens]
    int64_t targets;  ///< int32 [tokens]
    int64_t angles;   ///< float2 [length, rotary / 2] cosine and sine
    LayerArrays layer[kMostLayers];
    NormArrays norm;
    int64_t logits;    ///< [tokens, 256] then their gradients, in the same place
    int64_t losses;    ///< [tokens]
    int64_t d_normed;  ///< [tokens, width] the gradient of norm.y
    int64_t d;         ///< [tokens, width] of what passes from layer to layer
    int64_t bytes;     ///< all of it, a multiple of 256

    int64_t tokens() const { return batch * length; }
};

/// Plans the memory of a step with wb::model::ArenaPlan: arrays that are never in use
/// at the same time share memory.
///
/// @param batch   sequences of a step, >= 1
/// @param length  tokens of each, 1 to shape.context
/// Throws wb::InvalidArgument for a shape that wb::model::gpt_parameters() refuses, for
/// more than 64 layers, heads of more than 128 numbers, a width or hidden above 2^16,
/// more than 2^22 tokens, and an array of 2^31 elements or more
StepPlan plan_step(const wb::model::GptShape& shape, int64_t batch, int64_t length);
// #endregion plan

// #region call
/// A step of training, but for its end. Arrays are in device memory, and share no byte.
struct GptCall {
    const StepPlan* plan;   ///< of plan_step(); on the host
    const float* weights;   ///< [plan->parameters.elements] read only
    const int32_t* tokens;  ///< [batch, length + 1] token i + 1 is what follows token i
    void* memory;           ///< plan->bytes or more, aligned to 256; overwritten
    int64_t bytes;          ///< of it
    float* loss;            ///< [1] overwritten
    float* gradients;       ///< [plan->parameters.elements] overwritten, gaps are 0;
                            ///< of gpt_loss() null
    unsigned long long* bad_tokens;  ///< [1] each token outside of [0, 256) adds 1, and
                                     ///< is taken for 0
    bool deterministic = false;      ///< the same bits for the same numbers, always
    unsigned cublas = 0;             ///< kinds of products that cuBLAS does: library.h
};

/// The way forward, and the loss: the mean, over all tokens, of -log of the probability
/// that the model gives to the next one. plan->logits of the memory then has the logits
/// of all tokens, from which to choose the next.
///
/// @param stream  where the work is queued; the function returns without waiting
///
/// Memory   none beyond the arguments, but what the launchers of earlier chapters take
/// Error    each product as in chapter 04/01, each norm as in 03/04, attention as in
///          06/02; GELU, rotation, and cross entropy: a few roundings each. So are both
///          factors of the GELU's slope, sigma(2 u) and sigma(-2 u): where one of them
///          is near 1, a difference from 1 has no digits of the other one
/// Range    what goes into the GELU is smaller than 2^40: its cube is a float
/// Throws   wb::InvalidArgument for a null plan, too little memory, memory that is not
///          aligned, and for null, host or misaligned arrays, or ones that overlap
void gpt_loss(const GptCall& call, cudaStream_t stream);

/// The same, and the gradient of the loss for each parameter. plan->logits is not to be
/// read afterwards.
void gpt_gradients(const GptCall& call, cudaStream_t stream);
// #endregion call

// #region adamw
/// Blocks, each of which adds up a part of the squares.
inline constexpr int kNormParts = 128;

/// The end of a step. All arrays are in device memory, and share no byte.
struct AdamW {
    int64_t elements;        ///< a multiple of 64, >= 0
    float* weights;          ///< [elements] updated
    const float* gradients;  ///< [elements] read only
    float* first;            ///< [elements] updated: a mean of gradients, at first 0
    float* second;          ///< [elements] updated: a mean of their squares, at first 0
    const uint8_t* decays;  ///< [elements / 64] 1 where 64 numbers decay, else 0
    double* parts;          ///< [kNormParts] overwritten
    float* norm;            ///< [1] overwritten: the length of the gradients, unclipped
    int64_t step;           ///< t, which counts from 1
    float rate;             ///< >= 0
    float beta1 = 0.9f;     ///< in [0, 1)
    float beta2 = 0.95f;    ///< in [0, 1)
    float eps = 1e-8f;      ///< > 0
    float decay = 0.1f;     ///< >= 0
    float clip = 1.0f;      ///< the longest that gradients may be; 0: any length
};

/// With g the gradients, clipped: times clip / norm, if clip is not 0 and norm, the
/// root of the sum of all squares, is larger; for each element
///
///     first   = beta1 * first + (1 - beta1) * g
///     second  = beta2 * second + (1 - beta2) * g^2
///     m       = first / (1 - beta1^t)
///     v       = second / (1 - beta2^t)
///     weight -= rate * (m / (sqrt(v) + eps) + decay * weight)
///
/// where decay is 0 for weights that do not decay.
///
/// If norm is not finite, nothing but norm changes: the caller sees it, and has the
/// weights of before.
///
/// @param stream  where the work is queued; the function returns without waiting
///
/// Numbers  the sum of squares is double, in an order that depends on elements alone:
///          results have the same bits each time. All else is float
/// Memory   none beyond the arguments
/// Traffic  reads 20 B an element (gradients twice), writes 12 B
/// Error    of first: gamma(6) of its terms, of second gamma(10) of its terms, with
///          u = 2^-24; of weight: gamma(10) of its terms, given those two
/// Source   I. Loshchilov, F. Hutter, Decoupled weight decay regularization, 2019,
///          algorithm 2
/// Throws   wb::InvalidArgument for sizes and numbers that are not as above, and for
///          null, host or misaligned arrays, or ones that overlap
void adamw(const AdamW& call, cudaStream_t stream);
// #endregion adamw
