/// instruments.h: given with this exercise: what tells two models apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.h"
#include "step.h"

using DecodeStep = void (*)(Step&);

/// What a decoder did.
struct Record {
    std::vector<int32_t> text;   ///< tokens, given and made
    std::vector<int32_t> picks;  ///< [steps] the likeliest token after each
    std::vector<float> losses;   ///< [steps] of the token that came next
    std::vector<float> hidden;   ///< [steps, places, width], if they were kept
    int64_t places = 0;          ///< 2 layers + 1: Decoder::trace
    int64_t width = 0;
    int64_t launches = 0;        ///< of a step, as Step counts them
    int64_t nodes = 0;           ///< of a step: kernels in its graph
    int64_t bytes = 0;           ///< of a step
    int32_t add_norm_calls = 0;  ///< of all steps, counted by the kernel itself
    double ms = 0.0;             ///< a token, by the host's clock

    const float* at(int64_t step, int64_t place) const {
        return hidden.data() + (step * places + place) * width;
    }
};

/// A step, captured: one launch for all of it. The position lies in device memory, so
/// that the graph stays as it is.
class StepGraph {
 public:
    /// Captures the step. Nothing is run.
    StepGraph(const Decoder& decoder, DecodeStep step);
    ~StepGraph();
    StepGraph(const StepGraph&) = delete;
    StepGraph& operator=(const StepGraph&) = delete;

    void launch(cudaStream_t stream) const;
    /// How many kernels it has.
    int64_t kernels() const { return kernels_; }

 private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
    int64_t kernels_ = 0;
};

/// How steps are launched.
enum class How { one_by_one, as_a_graph };

/// Makes tokens after a prompt: as many steps as the prompt has tokens, less one, and
/// `made` more. Keeps the hidden states of one by one.
Record generate(Model& model,
                DecodeStep step,
                const std::vector<int32_t>& prompt,
                int64_t made,
                How how = How::one_by_one);

/// Reads a text that is given in full: all tokens but the last are read, and each has
/// the loss of the next one.
Record read_text(Model& model,
                 DecodeStep step,
                 const std::vector<int32_t>& text,
                 How how = How::one_by_one);

/// Where two records part.
struct Parting {
    int64_t step = -1;  ///< the first with a difference above what is allowed; -1: none
    int64_t place = -1;            ///< there, the first place
    double difference = 0.0;       ///< there, the largest
    std::vector<double> by_place;  ///< [places] the largest of all steps
};

/// Compares hidden states, number by number. NaN is a difference.
Parting first_parting(const Record& a, const Record& b, double allowed);

/// The first step after which two models pick different tokens; -1: none.
int64_t first_different_token(const Record& a, const Record& b);

/// exp of the mean loss: among how many tokens the model hesitates.
double perplexity(const Record& record);

/// "layer 3, behind the MLP".
std::string name_of_place(int64_t place);
