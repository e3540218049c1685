// trainer_checkpoint.cpp: given with this exercise: what a training leaves behind, and
// how it goes on from there. See trainer.h.
#include <cuda_bf16.h>
#include <wb/model/gpt.h>

#include <cstdio>
#include <cstring>
#include <iterator>

#include "trainer.h"

using wb::model::Checkpoint;
using wb::model::CheckpointError;
using wb::model::ElementType;
using wb::model::GptParameter;
using wb::model::Part;
using wb::model::Tensor;

namespace {

/// Tensors of an array that has all parameters.
void add_tensors(Checkpoint& to,
                 const std::string& prefix,
                 const std::vector<GptParameter>& parameters,
                 const std::vector<float>& values) {
    for (const GptParameter& it : parameters) {
        Tensor tensor;
        tensor.shape = it.shape;
        tensor.bytes.resize(static_cast<size_t>(it.elements()) * sizeof(float));
        std::memcpy(
            tensor.bytes.data(), values.data() + it.offset, tensor.bytes.size());
        to.tensors[prefix + it.name] = std::move(tensor);
    }
}

/// The other way.
std::vector<float> read_tensors(const Checkpoint& from,
                                const std::string& prefix,
                                const std::vector<GptParameter>& parameters) {
    std::vector<float> values(static_cast<size_t>(wb::model::gpt_elements(parameters)));
    for (const GptParameter& it : parameters) {
        const Tensor& tensor =
            from.tensor(prefix + it.name, ElementType::f32, it.shape);
        std::memcpy(
            values.data() + it.offset, tensor.bytes.data(), tensor.bytes.size());
    }
    return values;
}

/// What a checkpoint calls the losses so far: pairs of a step and its loss.
constexpr const char* kLosses = "training.losses";

using Losses = std::vector<std::pair<int64_t, float>>;

Tensor tensor_of(const Losses& losses) {
    Tensor tensor;
    tensor.shape = {static_cast<int64_t>(losses.size()), 2};
    for (const auto& [step, loss] : losses) {
        const float pair[] = {static_cast<float>(step), loss};
        const auto* const bytes = reinterpret_cast<const std::byte*>(pair);
        tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof pair);
    }
    return tensor;
}

Losses losses_of(const Checkpoint& checkpoint) {
    const auto found = checkpoint.tensors.find(kLosses);
    const auto count = found == checkpoint.tensors.end() || found->second.shape.empty()
                           ? 0
                           : found->second.shape[0];
    const Tensor& tensor = checkpoint.tensor(kLosses, ElementType::f32, {count, 2});
    Losses losses;
    for (int64_t i = 0; i < count; ++i) {
        float pair[2];
        std::memcpy(pair,
                    tensor.bytes.data() + i * static_cast<int64_t>(sizeof pair),
                    sizeof pair);
        losses.emplace_back(static_cast<int64_t>(pair[0]), pair[1]);
    }
    return losses;
}

}  // namespace

std::map<std::string, std::string> Trainer::shape_notes() const {
    const wb::model::GptShape& s = options_.shape;
    return {{"layers", std::to_string(s.layers)},
            {"width", std::to_string(s.width)},
            {"heads", std::to_string(s.heads)},
            {"hidden", std::to_string(s.hidden)},
            {"context", std::to_string(s.context)},
            {"rotary", std::to_string(s.rotary)},
            {"residual", s.is_parallel ? "parallel" : "sequential"}};
}

std::map<std::string, std::string> Trainer::notes() const {
    const TrainingOptions& o = options_;
    char numbers[128];
    // All digits of the floats: as hexadecimal numbers.
    std::snprintf(numbers,
                  sizeof numbers,
                  "%a %a %a %a",
                  double{o.rate},
                  double{o.decay},
                  double{o.clip},
                  o.shape.eps);
    std::map<std::string, std::string> notes = shape_notes();
    notes.insert({{"products", o.bf16 ? "bf16" : "float"},
                  {"products by cuBLAS", std::to_string(o.cublas)},
                  {"batch", std::to_string(o.batch)},
                  {"length", std::to_string(o.length)},
                  {"seed", std::to_string(o.seed)},
                  {"steps", std::to_string(o.steps)},
                  {"warm_up", std::to_string(o.warm_up)},
                  {"rate, decay, clip, eps", numbers},
                  {"text", std::to_string(text_.size(Part::training)) + " bytes"}});
    return notes;
}

Checkpoint Trainer::weights() const {
    Checkpoint result;
    result.notes = shape_notes();
    char eps[32];
    std::snprintf(eps, sizeof eps, "%a", options_.shape.eps);
    result.notes["eps"] = eps;
    result.notes["step"] = std::to_string(done_);
    const std::vector<float> all = weights_.download();
    for (const GptParameter& it : wb::model::gpt_parameters(options_.shape)) {
        Tensor tensor;
        tensor.type = ElementType::bf16;
        tensor.shape = it.shape;
        for (int64_t i = it.offset; i < it.offset + it.elements(); ++i) {
            const __nv_bfloat16 rounded = __float2bfloat16(all[static_cast<size_t>(i)]);
            std::byte bytes[sizeof rounded];
            std::memcpy(bytes, &rounded, sizeof bytes);
            tensor.bytes.insert(tensor.bytes.end(), std::begin(bytes), std::end(bytes));
        }
        result.tensors[it.name] = std::move(tensor);
    }
    return result;
}

Checkpoint Trainer::checkpoint() const {
    const auto parameters = wb::model::gpt_parameters(options_.shape);
    Checkpoint result;
    result.notes = notes();
    result.notes["step"] = std::to_string(done_);
    add_tensors(result, "", parameters, weights_.download());
    add_tensors(result, "first.", parameters, first_.download());
    add_tensors(result, "second.", parameters, second_.download());
    result.tensors[kLosses] = tensor_of(losses_);
    return result;
}

void Trainer::restore(const Checkpoint& checkpoint) {
    for (const auto& [name, value] : notes()) {
        const auto found = checkpoint.notes.find(name);
        if (found == checkpoint.notes.end())
            throw CheckpointError("the checkpoint does not say its " + name);
        if (found->second != value)
            throw CheckpointError("the checkpoint's " + name + " is " + found->second +
                                  ", but the training's is " + value);
    }
    const auto step = checkpoint.notes.find("step");
    const std::string text = step == checkpoint.notes.end() ? "" : step->second;
    if (text.empty() || text.size() > 15 ||
        text.find_first_not_of("0123456789") != std::string::npos)
        throw CheckpointError("the checkpoint's step is no number: \"" + text + "\"");
    checkpoint.require_finite();
    const auto parameters = wb::model::gpt_parameters(options_.shape);
    const auto weights = read_tensors(checkpoint, "", parameters);
    const auto first = read_tensors(checkpoint, "first.", parameters);
    const auto second = read_tensors(checkpoint, "second.", parameters);
    auto losses = losses_of(checkpoint);
    weights_.upload(weights);
    first_.upload(first);
    second_.upload(second);
    done_ = std::stoll(text);
    losses_ = std::move(losses);
}
