// model.cpp: given with this exercise.
#include "model.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/model/text.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "checks.h"

using wb::model::GptParameter;
using wb::model::GptShape;

namespace {

/// The parameter of this name.
const GptParameter& find(const std::vector<GptParameter>& parameters,
                         const std::string& name) {
    return *std::find_if(parameters.begin(), parameters.end(), [&](const auto& it) {
        return it.name == name;
    });
}

Places places_of(const GptShape& shape) {
    const std::vector<GptParameter> all = wb::model::gpt_parameters(shape);
    const auto pair = [&](const std::string& name) {
        return Pair{find(all, name + ".weight").offset,
                    find(all, name + ".bias").offset};
    };
    const auto first = [&](const char* name) {
        return pair(std::string("layers.0.") + name);
    };
    Places p{};
    p.embed_in = find(all, "embed_in.weight").offset;
    p.norm1 = first("norm1");
    p.qkv = first("attention.qkv");
    p.out = first("attention.out");
    p.norm2 = first("norm2");
    p.up = first("mlp.up");
    p.down = first("mlp.down");
    if (shape.layers > 1)
        p.layer_stride = find(all, "layers.1.norm1.weight").offset - p.norm1.weight;
    p.norm = pair("norm");
    p.embed_out = find(all, "embed_out.weight").offset;
    p.elements = wb::model::gpt_elements(all);
    return p;
}

void check_shape(const DecoderShape& s) {
    wb::Arguments("Model")
        .require(s.gpt.width % 4 == 0 && s.gpt.width <= kMostWidth,
                 "gpt.width",
                 s.gpt.width,
                 "must be a multiple of 4, at most 8192")
        .require(s.gpt.head_dim() % 2 == 0,
                 "gpt.head_dim()",
                 s.gpt.head_dim(),
                 "must be even")
        .require(s.gpt.hidden % 4 == 0,
                 "gpt.hidden",
                 s.gpt.hidden,
                 "must be a multiple of 4")
        .size("sinks", s.sinks)
        .positive("window", s.window)
        .require(s.slots() <= 8192, "sinks + window", s.slots(), "must be at most 8192")
        .positive("page_size", s.page_size)
        .positive("tokens", s.tokens);
}

template <class T>
void upload(T* to, const std::vector<T>& values) {
    CUDA_CHECK(cudaMemcpy(
        to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

/// cos and sin of position * 10000^(-2 j / rotary).
std::vector<float2> angles_of(const DecoderShape& s) {
    std::vector<float2> angles;
    for (int64_t position = 0; position < s.tokens; ++position) {
        for (int64_t j = 0; j < s.gpt.rotary / 2; ++j) {
            const double turn =
                -2.0 * static_cast<double>(j) / static_cast<double>(s.gpt.rotary);
            const double angle =
                static_cast<double>(position) * std::pow(10000.0, turn);
            angles.push_back({static_cast<float>(std::cos(angle)),
                              static_cast<float>(std::sin(angle))});
        }
    }
    return angles;
}

}  // namespace

std::vector<float> random_weights(const GptShape& shape, uint64_t seed) {
    const auto parameters = wb::model::gpt_parameters(shape);
    std::vector<float> weights(
        static_cast<size_t>(wb::model::gpt_elements(parameters)));
    std::mt19937_64 random(seed);
    // The sum of four uniform numbers: nearly normal, and the same everywhere.
    const auto normal = [&random] {
        double sum = -2.0;
        for (int i = 0; i < 4; ++i)
            sum += static_cast<double>(random() >> 11) * 0x1p-53;
        return sum * std::sqrt(3.0);
    };
    for (const GptParameter& it : parameters) {
        const bool is_matrix = it.shape.size() == 2;
        const bool is_embedding = it.name == "embed_in.weight";
        const bool is_factor = !is_matrix &&
                               it.name.find("norm") != std::string::npos &&
                               it.name.find(".weight") != std::string::npos;
        const double inputs = is_matrix ? static_cast<double>(it.shape[1]) : 1.0;
        const double size = is_embedding ? 1.0
                            : is_matrix  ? 1.0 / std::sqrt(inputs)
                                         : 0.2;
        for (int64_t i = 0; i < it.elements(); ++i)
            weights[static_cast<size_t>(it.offset + i)] =
                static_cast<float>((is_factor ? 1.0 : 0.0) + size * normal());
    }
    return weights;
}

std::vector<float> weights_of(const wb::model::Checkpoint& checkpoint,
                              const GptShape& shape) {
    const auto parameters = wb::model::gpt_parameters(shape);
    std::vector<float> weights(
        static_cast<size_t>(wb::model::gpt_elements(parameters)));
    checkpoint.require_finite();
    using enum wb::model::ElementType;
    for (const GptParameter& it : parameters) {
        const auto found = checkpoint.tensors.find(it.name);
        const bool is_bf16 =
            found != checkpoint.tensors.end() && found->second.type == bf16;
        const wb::model::Tensor& tensor =
            checkpoint.tensor(it.name, is_bf16 ? bf16 : f32, it.shape);
        float* const to = weights.data() + it.offset;
        if (!is_bf16) {
            std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
            continue;
        }
        for (size_t i = 0; i < tensor.bytes.size() / 2; ++i) {
            uint16_t upper = 0;  // half of a float
            std::memcpy(&upper, &tensor.bytes[2 * i], sizeof upper);
            to[i] = std::bit_cast<float>(uint32_t{upper} << 16);
        }
    }
    return weights;
}

template <class T>
T* Model::allocate(int64_t count) {
    void* memory = nullptr;
    const size_t bytes = static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T);
    CUDA_CHECK(cudaMalloc(&memory, bytes));
    memory_.push_back(memory);
    CUDA_CHECK(cudaMemset(memory, 0xFF, bytes));  // NaN
    return static_cast<T*>(memory);
}

Model::Model(const DecoderShape& shape,
             const std::vector<float>& weights,
             uint64_t order) {
    check_shape(shape);
    Decoder& d = decoder_;
    d.shape = shape;
    d.places = places_of(shape.gpt);
    wb::Arguments("Model").require(
        static_cast<int64_t>(weights.size()) == d.places.elements,
        "weights.size()",
        static_cast<int64_t>(weights.size()),
        "must be gpt_elements() of the shape");
    const wb::model::GptShape& gpt = shape.gpt;
    auto* const device_weights = allocate<float>(d.places.elements);
    upload(device_weights, weights);
    d.weights = device_weights;
    std::vector<int32_t> pages(static_cast<size_t>(shape.pages()));
    std::iota(pages.begin(), pages.end(), 0);
    std::mt19937_64 random(order);
    for (size_t i = pages.size(); i > 1; --i)
        std::swap(pages[i - 1], pages[random() % i]);
    auto* const device_pages = allocate<int32_t>(shape.pages());
    upload(device_pages, pages);
    d.pages = device_pages;
    auto* const angles = allocate<float2>(shape.tokens * gpt.rotary / 2);
    upload(angles, angles_of(shape));
    d.angles = angles;
    d.k_cache = allocate<float>(gpt.layers * shape.layer_cache());
    d.v_cache = allocate<float>(gpt.layers * shape.layer_cache());
    d.text = allocate<int32_t>(shape.tokens + 1);
    d.position = allocate<int32_t>(1);
    given_ = allocate<int32_t>(1);
    d.given = given_;
    d.x = allocate<float>(gpt.width);
    d.n = allocate<float>(gpt.width);
    d.qkv = allocate<float>(3 * gpt.width);
    d.mixed = allocate<float>(gpt.width);
    d.deltas = allocate<float>(2 * gpt.width);
    d.hidden = allocate<float>(gpt.hidden);
    d.logits = allocate<float>(wb::model::kVocabulary);
    d.losses = allocate<float>(shape.tokens);
    d.picks = allocate<int32_t>(shape.tokens);
    d.add_norm_calls = allocate<int32_t>(1);
    trace_ = allocate<float>((2 * gpt.layers + 1) * gpt.width);
}

Model::~Model() {
    for (void* memory : memory_)
        (void)cudaFree(memory);
}

void Model::keep_trace(bool wanted) {
    decoder_.trace = wanted ? trace_ : nullptr;
}

void Model::start(const std::vector<int32_t>& text) const {
    const Decoder& d = decoder_;
    const auto count = static_cast<int64_t>(text.size());
    if (count == 0) throw wb::model::TextError("the text is empty");
    const wb::Arguments arguments("Model::begin");
    arguments.require(count <= d.shape.tokens,
                      "tokens",
                      count,
                      "must be at most the tokens of the shape");
    for (const int32_t token : text)
        arguments.require(token >= 0 && token < wb::model::kVocabulary,
                          "token",
                          token,
                          "must be a byte");
    const auto bytes =
        static_cast<size_t>(d.shape.gpt.layers * d.shape.layer_cache()) * sizeof(float);
    CUDA_CHECK(cudaMemset(d.k_cache, 0xFF, bytes));
    CUDA_CHECK(cudaMemset(d.v_cache, 0xFF, bytes));
    CUDA_CHECK(cudaMemset(d.position, 0, sizeof(int32_t)));
    CUDA_CHECK(cudaMemset(d.add_norm_calls, 0, sizeof(int32_t)));
    upload(given_, {static_cast<int32_t>(count)});
    upload(d.text, text);
    CUDA_CHECK(cudaDeviceSynchronize());
}

void Model::begin(const std::vector<int32_t>& prompt) const {
    const auto count = static_cast<int64_t>(prompt.size());
    wb::Arguments("Model::begin")
        .require(count <= decoder_.shape.slots(),
                 "prompt tokens",
                 count,
                 "must be at most the slots of the cache");
    start(prompt);
}

void Model::begin_text(const std::vector<int32_t>& text) const {
    start(text);
}

std::vector<StepInfo> steps_of(int64_t layers, bool is_parallel) {
    std::vector<StepInfo> steps = {{"embed", Spread::element, kText, kX}};
    const StepInfo add_attention = {"add", Spread::element, kX | kAttentionDelta, kX};
    for (int64_t layer = 0; layer < layers; ++layer) {
        steps.push_back({"norm", Spread::whole, kX, kN});
        steps.push_back({"qkv", Spread::rows, kN, kQ | kK | kV});
        steps.push_back(
            {"rotate_append", Spread::head, kQ | kK | kV | kCache, kQ | kCache});
        steps.push_back({"attend", Spread::head, kQ | kCache, kMixed});
        steps.push_back({"out", Spread::rows, kMixed, kAttentionDelta});
        if (!is_parallel) steps.push_back(add_attention);
        steps.push_back({"norm", Spread::whole, kX, kN});
        steps.push_back({"up", Spread::rows, kN, kHidden});
        steps.push_back({"down", Spread::rows, kHidden, kMlpDelta});
        if (is_parallel) steps.push_back(add_attention);
        steps.push_back({"add", Spread::element, kX | kMlpDelta, kX});
    }
    steps.push_back({"norm", Spread::whole, kX, kN});
    steps.push_back({"logits", Spread::rows, kN, kLogits});
    steps.push_back({"pick", Spread::whole, kLogits | kText, kText});
    return steps;
}
