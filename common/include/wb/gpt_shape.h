/// wb/gpt_shape.h: the sizes of a small GPT, for kernels and for programs. What the
/// model computes, and its parameters by name: <wb/model/gpt.h>.
#pragma once

#include <cstdint>

namespace wb::model {

/// Bytes as tokens.
constexpr int64_t kVocabulary = 256;

// #region shape
struct GptShape {
    int64_t layers = 8;
    int64_t width = 320;  ///< numbers of a token: a multiple of heads
    int64_t heads = 5;
    int64_t hidden = 1280;  ///< numbers of a token between the two layers of the MLP
    int64_t context = 256;  ///< the most tokens of a sequence
    int64_t rotary = 16;    ///< numbers of a head that turn: even, at most head_dim()
    bool is_parallel = true;
    double eps = 1e-5;  ///< of all norms

    int64_t head_dim() const { return heads > 0 ? width / heads : 0; }
};
// #endregion shape

}  // namespace wb::model
