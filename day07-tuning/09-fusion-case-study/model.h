/// model.h: given with this exercise: a decoder's memory, its weights, and texts.
#pragma once

#include <wb/model/checkpoint.h>
#include <wb/model/gpt.h>

#include <cstdint>
#include <string>
#include <vector>

#include "decoder.h"

/// Weights of a model that has learned nothing: products of a size that keeps a token's
/// size, norms near 1. The same seed gives the same ones.
std::vector<float> random_weights(const wb::model::GptShape& shape, uint64_t seed);

/// Weights of a file, as day07-tuning/08-train-a-gpt writes it: of type F32 or BF16.
///
/// Throws wb::model::CheckpointError if a parameter is missing, is of another type, has
/// another shape, or has an element that is NaN or infinite
std::vector<float> weights_of(const wb::model::Checkpoint& checkpoint,
                              const wb::model::GptShape& shape);

/// Owns a decoder's memory.
class Model {
 public:
    /// @param weights  gpt_elements() of them, in the order of gpt_parameters()
    /// @param order    of the cache's pages in their pool: a seed
    /// Throws wb::InvalidArgument for what gpt_parameters() refuses, a width that is no
    /// multiple of 4 or above 8192, an odd head dimension, a hidden that is no multiple
    /// of 4, sinks below 0, a window, page size or number of tokens below 1, more than
    /// 8192 slots, and another number of weights
    Model(const DecoderShape& shape,
          const std::vector<float>& weights,
          uint64_t order = 1);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const Decoder& decoder() const { return decoder_; }

    /// Empties the cache, which then holds NaN, and puts the position to the beginning
    /// of a text. Waits.
    ///
    /// Throws wb::model::TextError for an empty prompt, wb::InvalidArgument for a token
    /// that is no byte, a prompt of more tokens than the cache has slots, and a text of
    /// more tokens than the shape's
    void begin(const std::vector<int32_t>& prompt) const;

    /// The same for a text that is given in full, whatever the cache has room for.
    void begin_text(const std::vector<int32_t>& text) const;

    /// Whether steps keep their hidden states, Decoder::trace.
    void keep_trace(bool wanted);

 private:
    template <class T>
    T* allocate(int64_t count);
    void start(const std::vector<int32_t>& text) const;

    Decoder decoder_{};
    int32_t* given_ = nullptr;
    float* trace_ = nullptr;
    std::vector<void*> memory_;
};
