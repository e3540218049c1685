/// trained_share.h: a rank's share of a layer that chapter 08 has trained.
#pragma once

#include <wb/model/checkpoint.h>

#include <charconv>
#include <cstring>
#include <string>

#include "block_reference.h"

// #region share
/// Rows and columns of a matrix of the checkpoint, transposed: PyTorch's layers have
/// [out, in], the block has [in, out].
///
/// @return  [columns, rows]
inline std::vector<float> transposed_part(const wb::model::Tensor& matrix,
                                          int64_t first_row,
                                          int64_t rows,
                                          int64_t first_column,
                                          int64_t columns) {
    using wb::model::ElementType;
    const int64_t width = matrix.shape.at(1);
    std::vector<float> part(static_cast<size_t>(rows * columns));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const int64_t at = (first_row + r) * width + first_column + c;
            const std::byte* const from =
                matrix.bytes.data() + at * wb::model::size_of(matrix.type);
            uint32_t bits = 0;
            if (matrix.type == ElementType::f32) {
                std::memcpy(&bits, from, sizeof bits);
            } else {  // BF16: the upper half of a float
                uint16_t upper = 0;
                std::memcpy(&upper, from, sizeof upper);
                bits = uint32_t{upper} << 16;
            }
            std::memcpy(&part[static_cast<size_t>(c * rows + r)], &bits, sizeof bits);
        }
    return part;
}

/// The weights of a layer's four products that one rank needs: rows of the matrices
/// whose results are shared out, columns of those whose sums are. Norms and biases stay
/// behind, which the block of this chapter does not have.
///
/// @param ranks  divides the model's heads and its hidden layer
/// Throws wb::model::CheckpointError where the layer has other matrices
inline BlockWeights share_of_layer(const wb::model::Checkpoint& model,
                                   int64_t layer,
                                   const BlockShape& shape,
                                   int rank,
                                   int ranks) {
    const int64_t W = shape.width();
    const int64_t F = shape.hidden;
    const int64_t own = W / ranks;
    const int64_t hidden = F / ranks;
    const auto matrix = [&](const char* name,
                            int64_t rows,
                            int64_t columns) -> const wb::model::Tensor& {
        const std::string full =
            "layers." + std::to_string(layer) + "." + name + ".weight";
        const auto found = model.tensors.find(full);
        const bool is_bf16 = found != model.tensors.end() &&
                             found->second.type == wb::model::ElementType::bf16;
        return model.tensor(
            full,
            is_bf16 ? wb::model::ElementType::bf16 : wb::model::ElementType::f32,
            {rows, columns});
    };
    const auto& qkv = matrix("attention.qkv", 3 * W, W);
    BlockWeights share;
    share.qkv.resize(static_cast<size_t>(W * 3 * own));
    for (int64_t which = 0; which < 3; ++which) {
        const auto part = transposed_part(qkv, which * W + rank * own, own, 0, W);
        for (int64_t k = 0; k < W; ++k)
            std::copy_n(
                part.begin() + k * own, own, share.qkv.begin() + (k * 3 + which) * own);
    }
    share.out = transposed_part(matrix("attention.out", W, W), 0, W, rank * own, own);
    share.up = transposed_part(matrix("mlp.up", F, W), rank * hidden, hidden, 0, W);
    share.down = transposed_part(matrix("mlp.down", W, F), 0, W, rank * hidden, hidden);
    return share;
}
// #endregion share

/// Sizes of the model's blocks, which its notes tell.
///
/// Throws wb::model::CheckpointError where a note is missing or is no number, and for a
/// layer that the model has not.
inline BlockShape shape_of_model(const wb::model::Checkpoint& model,
                                 int64_t layer,
                                 int64_t tokens) {
    const auto note = [&](const char* name) {
        const auto found = model.notes.find(name);
        int64_t value = 0;
        if (found != model.notes.end()) {
            const std::string& text = found->second;
            std::from_chars(text.data(), text.data() + text.size(), value);
        }
        if (value < 1)
            throw wb::model::CheckpointError(std::string("the checkpoint's note '") +
                                             name + "' is missing, or no number");
        return value;
    };
    const int64_t width = note("width");
    const int64_t heads = note("heads");
    const int64_t layers = note("layers");
    if (width % heads != 0)
        throw wb::model::CheckpointError("a width of " + std::to_string(width) +
                                         " is no multiple of " + std::to_string(heads) +
                                         " heads");
    if (layer < 0 || layer >= layers)
        throw wb::model::CheckpointError("there is no layer " + std::to_string(layer) +
                                         ": the model has " + std::to_string(layers));
    return {tokens, heads, width / heads, note("hidden")};
}
