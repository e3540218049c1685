// trainer.cpp: given with this exercise: see trainer.h.
#include "trainer.h"

#include <wb/arguments.h>
#include <wb/model/gpt.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

using wb::model::GptParameter;
using wb::model::Part;

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Uniform in (0, 1): never 0, whose logarithm nobody wants.
double uniform(std::mt19937_64& random) {
    return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal, by Box and Muller. Not std::normal_distribution, whose numbers
/// differ between standard libraries.
double normal(std::mt19937_64& random) {
    const double radius = std::sqrt(-2.0 * std::log(uniform(random)));
    return radius * std::cos(2.0 * kPi * uniform(random));
}

bool ends_in(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<float> first_weights(const TrainingOptions& options) {
    const auto parameters = wb::model::gpt_parameters(options.shape);
    std::vector<float> weights(
        static_cast<size_t>(wb::model::gpt_elements(parameters)));
    std::mt19937_64 random(options.seed);
    for (const GptParameter& it : parameters) {
        const bool ends_in_residual =
            ends_in(it.name, "out.weight") || ends_in(it.name, "down.weight");
        double size = 0.02;
        if (ends_in_residual && it.name != "embed_out.weight")
            size /= std::sqrt(2.0 * static_cast<double>(options.shape.layers));
        const bool is_factor = !it.decays && ends_in(it.name, ".weight");
        for (int64_t i = 0; i < it.elements(); ++i) {
            float& weight = weights[static_cast<size_t>(it.offset + i)];
            if (it.decays)
                weight = static_cast<float>(size * normal(random));
            else
                weight = is_factor ? 1.0f : 0.0f;
        }
    }
    return weights;
}

std::vector<uint8_t> decays_of(const TrainingOptions& options) {
    const auto parameters = wb::model::gpt_parameters(options.shape);
    std::vector<uint8_t> decays(
        static_cast<size_t>(wb::model::gpt_elements(parameters) / 64));
    for (const GptParameter& it : parameters)
        for (int64_t i = it.offset; i < it.offset + it.elements(); i += 64)
            decays[static_cast<size_t>(i / 64)] = it.decays ? 1 : 0;
    return decays;
}

const TrainingOptions& checked(const TrainingOptions& options) {
    wb::Arguments("Trainer")
        .positive("steps", options.steps)
        .size("warm_up", options.warm_up)
        .above_zero("rate", double{options.rate})
        .not_negative("decay", double{options.decay})
        .not_negative("clip", double{options.clip});
    return options;
}

}  // namespace

float TrainingOptions::rate_of(int64_t step) const {
    const auto now = static_cast<double>(step);
    if (step < warm_up)
        return static_cast<float>(double{rate} * (now + 1.0) /
                                  static_cast<double>(warm_up));
    const auto rest = static_cast<double>(std::max<int64_t>(steps - warm_up, 1));
    const double share = std::min(1.0, (now - static_cast<double>(warm_up)) / rest);
    return static_cast<float>(double{rate} * (0.55 + 0.45 * std::cos(kPi * share)));
}

Trainer::Trainer(const TrainingOptions& options, wb::model::Text text)
    : options_(checked(options)),
      text_(std::move(text)),
      plan_(plan_step(options.shape, options.batch, options.length)),
      bf16_plan_(options.bf16 ? std::optional(plan_bf16_step(
                                    options.shape, options.batch, options.length))
                              : std::nullopt),
      weights_(plan_.parameters.elements),
      gradients_(plan_.parameters.elements),
      first_(plan_.parameters.elements),
      second_(plan_.parameters.elements),
      decays_(plan_.parameters.elements / 64),
      memory_(bf16_plan_ ? bf16_plan_->bytes : plan_.bytes),
      tokens_(plan_.batch * (plan_.length + 1)),
      bad_tokens_(1),
      loss_(1),
      norm_(1),
      parts_(kNormParts) {
    (void)text_.pieces(Part::training, 0, 0, 1, options.length);  // long enough?
    weights_.upload(first_weights(options));
    decays_.upload(decays_of(options));
}

void Trainer::gradients() {
    if (options_.graph && has_run_ && !recorded_)
        recorded_.emplace([this](cudaStream_t stream) { queue_gradients(stream); });
    if (recorded_)
        recorded_->launch(nullptr);
    else
        queue_gradients(nullptr);
    has_run_ = true;
}

void Trainer::queue_gradients(cudaStream_t stream) {
    const auto call_with = [this](auto call, const auto* plan) {
        call.plan = plan;
        call.weights = weights_.data();
        call.tokens = tokens_.data();
        call.memory = memory_.data();
        call.bytes = plan->bytes;
        call.loss = loss_.data();
        call.gradients = gradients_.data();
        call.bad_tokens = bad_tokens_.data();
        call.deterministic = options_.deterministic;
        call.cublas = options_.cublas;
        return call;
    };
    if (bf16_plan_)
        gpt_gradients_bf16(call_with(Bf16Call{}, &*bf16_plan_), stream);
    else
        gpt_gradients(call_with(GptCall{}, &plan_), stream);
}

int64_t Trainer::step() {
    tokens_.upload(text_.pieces(
        Part::training, options_.seed, done_, options_.batch, options_.length));
    gradients();

    AdamW end = {};
    end.elements = weights_.size();
    end.weights = weights_.data();
    end.gradients = gradients_.data();
    end.first = first_.data();
    end.second = second_.data();
    end.decays = decays_.data();
    end.parts = parts_.data();
    end.norm = norm_.data();
    end.step = done_ + 1;
    end.rate = options_.rate_of(done_);
    end.decay = options_.decay;
    end.clip = options_.clip;
    adamw(end, nullptr);
    return ++done_;
}

float Trainer::loss() {
    const float loss = loss_.download()[0];
    const float length = norm();
    if (!std::isfinite(loss) || !std::isfinite(length))
        throw std::runtime_error(
            "step " + std::to_string(done_) + ": the loss is " + std::to_string(loss) +
            ", the length of its gradients " + std::to_string(length) +
            "; the weights are those of the step before");
    losses_.emplace_back(done_, loss);
    return loss;
}

double Trainer::validation_loss(int64_t batches) {
    wb::Arguments("validation_loss").positive("batches", batches);
    const DeviceArray<char> memory(plan_.bytes);  // a step in bf16 has less
    DeviceArray<int32_t> tokens(tokens_.size());
    DeviceArray<float> loss(1);
    GptCall call = {};
    call.plan = &plan_;
    call.weights = weights_.data();
    call.tokens = tokens.data();
    call.memory = memory.data();
    call.bytes = plan_.bytes;
    call.loss = loss.data();
    call.bad_tokens = bad_tokens_.data();
    double sum = 0.0;
    for (int64_t i = 0; i < batches; ++i) {
        tokens.upload(text_.pieces(
            Part::validation, options_.seed, i, options_.batch, options_.length));
        gpt_loss(call, nullptr);
        sum += double{loss.download()[0]};
    }
    return sum / static_cast<double>(batches);
}

std::string Trainer::sample(const std::string& prompt,
                            int64_t count,
                            double temperature) {
    const int64_t context = options_.shape.context;
    const auto length = static_cast<int64_t>(prompt.size());
    wb::Arguments("sample")
        .positive("prompt.size()", length)
        .require(
            length <= context, "prompt.size()", length, "must be at most shape.context")
        .size("count", count)
        .above_zero("temperature", temperature);
    // Once over all that fits for each byte: what comes behind a token changes nothing
    // of it. The next chapter keeps keys and values instead.
    const StepPlan plan = plan_step(options_.shape, 1, context);
    const DeviceArray<char> memory(plan.bytes);
    DeviceArray<int32_t> tokens(context + 1);
    GptCall call = {};
    call.plan = &plan;
    call.weights = weights_.data();
    call.tokens = tokens.data();
    call.memory = memory.data();
    call.bytes = plan.bytes;
    call.loss = loss_.data();
    call.bad_tokens = bad_tokens_.data();
    const float last_loss = loss_.download()[0];
    std::mt19937_64 random(options_.seed + static_cast<uint64_t>(done_));
    std::string text = prompt;
    for (int64_t i = 0; i < count; ++i) {
        const auto size = static_cast<int64_t>(text.size());
        const int64_t seen = std::min(size, context);
        std::vector<int32_t> shown(static_cast<size_t>(context + 1));
        for (int64_t t = 0; t < seen; ++t)
            shown[static_cast<size_t>(t)] =
                static_cast<unsigned char>(text[static_cast<size_t>(size - seen + t)]);
        tokens.upload(shown);
        gpt_loss(call, nullptr);
        float logits[wb::model::kVocabulary];
        CUDA_CHECK(cudaMemcpy(logits,
                              memory.data() + plan.logits +
                                  (seen - 1) * static_cast<int64_t>(sizeof logits),
                              sizeof logits,
                              cudaMemcpyDeviceToHost));
        const double most = *std::max_element(std::begin(logits), std::end(logits));
        double sum = 0.0;
        for (const float logit : logits)
            sum += std::exp((double{logit} - most) / temperature);
        double rest = uniform(random) * sum;
        int next = 0;
        while (next + 1 < int{wb::model::kVocabulary}) {
            rest -= std::exp((double{logits[next]} - most) / temperature);
            if (rest < 0.0) break;
            ++next;
        }
        text += static_cast<char>(next);
    }
    loss_.upload({last_loss});
    return text.substr(prompt.size());
}
