/// wb/model/gpt.h: the sizes of a small GPT, and its parameters by name.
///
/// The model reads bytes and guesses the next one. With a token's vector x of `width`
/// numbers, taken from a table, each layer does
///
///     parallel     x + attention(norm1(x)) + mlp(norm2(x))
///     sequential   h = x + attention(norm1(x)), then h + mlp(norm2(h))
///
/// and the end is logits = norm(x) embed_out^T. Attention is causal, with `heads` heads
/// whose first `rotary` numbers turn with the position; the MLP is two layers with a
/// GELU between them. All norms are LayerNorms, all layers but embed_out have a bias.
///
/// Source: S. Black et al., GPT-NeoX-20B: an open-source autoregressive language model,
/// 2022, section 2.
#pragma once

#include <wb/gpt_shape.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wb::model {

/// A parameter: a matrix or a vector that is trained.
struct GptParameter {
    std::string name;
    std::vector<int64_t> shape;  ///< of a matrix: [outputs, inputs]
    int64_t offset;              ///< of its first element, if all lie in one array
    bool decays;                 ///< whether weight decay is for it: matrices

    int64_t elements() const;
};

/// All parameters, in the order of the way forward:
///
///     embed_in.weight                      [256, width]
///     layers.0.norm1.weight, .bias         [width]
///     layers.0.attention.qkv.weight        [3 width, width]  rows of Q, of K, of V;
///     layers.0.attention.qkv.bias          [3 width]         each of them by heads
///     layers.0.attention.out.weight, .bias [width, width], [width]
///     layers.0.norm2.weight, .bias         [width]
///     layers.0.mlp.up.weight, .bias        [hidden, width], [hidden]
///     layers.0.mlp.down.weight, .bias      [width, hidden], [width]
///     …
///     norm.weight, .bias                   [width]
///     embed_out.weight                     [256, width]
///
/// Offsets are multiples of 64 elements, so that each begins at a multiple of 256 bytes
/// of floats and of 128 bytes of 16-bit numbers.
///
/// Throws wb::InvalidArgument for a size that is not above 0 (rotary: below 0), a width
/// that is no multiple of heads, a rotary that is odd or more than a head has, and an
/// eps that is not above 0.
std::vector<GptParameter> gpt_parameters(const GptShape& shape);

/// Elements of an array that has all parameters, gaps included.
int64_t gpt_elements(const std::vector<GptParameter>& parameters);

}  // namespace wb::model
