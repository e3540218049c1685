/// trainer.h: given with this exercise: a training from its first step to its last, on
/// the functions of the contract. There is nothing to write here.
///
///     Trainer trainer(options, wb::model::Text::from_file("book.txt"));
///     while (trainer.step() < 200)
///         std::printf("%f\n", trainer.loss());
///     wb::model::write_checkpoint("gpt.safetensors", trainer.checkpoint());
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/model/checkpoint.h>
#include <wb/model/text.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bf16_step.h"
#include "graph.h"
#include "library.h"
#include "train_a_gpt.h"

// #region options
/// All that a training depends on, but its text.
struct TrainingOptions {
    wb::model::GptShape shape;
    int64_t batch = 32;     ///< sequences of a step, >= 1
    int64_t length = 256;   ///< tokens of each, 1 to shape.context
    uint64_t seed = 1;      ///< of the first weights, of the pieces of text, of samples
    int64_t steps = 2000;   ///< of the whole training, >= 1: the rate falls until then
    float rate = 1e-3f;     ///< the largest
    int64_t warm_up = 100;  ///< steps until it is reached, >= 0
    float decay = 0.1f;
    float clip = 1.0f;
    bool deterministic = false;
    unsigned cublas = 0;  ///< kinds of products that cuBLAS does: see library.h
    bool graph = false;  ///< from the second step on, its launches are a recorded graph
    bool bf16 = false;   ///< products and attention in bf16: see bf16_step.h

    /// The rate of a step, which count from 0: it rises to `rate` along a line, then
    /// falls to a tenth of that along half a cosine.
    float rate_of(int64_t step) const;
};
// #endregion options

/// Device memory that belongs to somebody.
template <class T>
class DeviceArray {
 public:
    /// @param count  > 0; all bytes are 0
    explicit DeviceArray(int64_t count) : count_(count) {
        CUDA_CHECK(cudaMalloc(&data_, bytes()));
        CUDA_CHECK(cudaMemset(data_, 0, bytes()));
    }
    ~DeviceArray() { (void)cudaFree(data_); }  // a destructor cannot throw
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* data() const { return data_; }
    int64_t size() const { return count_; }
    size_t bytes() const { return static_cast<size_t>(count_) * sizeof(T); }

    void upload(const std::vector<T>& from) {
        CUDA_CHECK(cudaMemcpy(
            data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> to(static_cast<size_t>(count_));
        CUDA_CHECK(cudaMemcpy(to.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return to;
    }

 private:
    int64_t count_;
    T* data_ = nullptr;
};

// #region trainer
/// A training.
class Trainer {
 public:
    /// The first weights: matrices are normal, of the deviation 0.02, and those that
    /// end in a residual less by the root of twice the layers; factors of norms are 1,
    /// all else is 0.
    ///
    /// Throws wb::InvalidArgument for options that are not as above, and
    /// wb::model::TextError for a text that is too short
    Trainer(const TrainingOptions& options, wb::model::Text text);

    /// One more step. Returns how many have been done. Does not wait for the GPU but to
    /// hand it its tokens.
    int64_t step();
    int64_t steps_done() const { return done_; }

    /// The tokens of the last step, [batch, length + 1].
    std::vector<int32_t> tokens() const { return tokens_.download(); }

    /// The loss of the last step, and the length of its gradients. They wait for it.
    /// Throws std::runtime_error if the loss or the length is not finite.
    float loss();
    float norm() const { return norm_.download()[0]; }
    /// The losses that have been asked for: (step, loss).
    const std::vector<std::pair<int64_t, float>>& losses() const { return losses_; }

    /// Text that goes on behind `prompt`, whose bytes are chosen by their
    /// probabilities, each to the power 1 / temperature (> 0).
    ///
    /// Throws wb::InvalidArgument for a prompt that is empty or longer than
    /// shape.context, and for a temperature that is not above 0
    std::string sample(const std::string& prompt, int64_t count, double temperature);

    /// The mean loss of pieces of the text's last tenth, which no step has seen: always
    /// the same ones, and in float.
    ///
    /// @param batches  of options.batch pieces each, > 0
    ///
    /// Throws wb::InvalidArgument, and wb::model::TextError if a tenth is too short
    double validation_loss(int64_t batches);

    /// The weights alone, rounded to bf16, under the names of <wb/model/gpt.h>; sizes
    /// and step as notes. A sixth of checkpoint()'s bytes.
    wb::model::Checkpoint weights() const;

    /// All that the training needs to go on: weights by name, and under the same names
    /// behind "first." and "second." AdamW's two means; losses() as "training.losses";
    /// step and options as notes.
    wb::model::Checkpoint checkpoint() const;

    /// Goes on where a checkpoint was made: the steps that follow have the same bits as
    /// if nothing had stopped (with options.deterministic).
    ///
    /// Throws wb::model::CheckpointError for a checkpoint of other options, without a
    /// tensor, with one of another shape, or with NaN. Then nothing has changed
    void restore(const wb::model::Checkpoint& checkpoint);

 private:
    std::map<std::string, std::string> shape_notes() const;
    std::map<std::string, std::string> notes() const;
    void gradients();
    void queue_gradients(cudaStream_t stream);

    TrainingOptions options_;
    wb::model::Text text_;
    StepPlan plan_;                      ///< of a step in float
    std::optional<Bf16Plan> bf16_plan_;  ///< of one in bf16, if that is wanted
    int64_t done_ = 0;
    DeviceArray<float> weights_, gradients_, first_, second_;
    DeviceArray<uint8_t> decays_;
    DeviceArray<char> memory_;
    DeviceArray<int32_t> tokens_;
    DeviceArray<unsigned long long> bad_tokens_;
    DeviceArray<float> loss_, norm_;
    DeviceArray<double> parts_;
    std::vector<std::pair<int64_t, float>> losses_;
    std::optional<RecordedStep> recorded_;
    bool has_run_ = false;
};
// #endregion trainer
