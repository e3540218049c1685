// Times day07-tuning/09-fusion-case-study: a token of a decoder, unfused and fused, one
// launch after the other and as a graph, and what S0 has made of it.
#include "fusion_case_study.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "instruments.h"

using namespace wb::bench;

namespace {

struct Size {
    int64_t layers, width, heads, rotary, window;

    DecoderShape shape(bool is_simulated) const {
        DecoderShape s;
        s.gpt.layers = layers;
        s.gpt.width = width;
        s.gpt.heads = heads;
        s.gpt.hidden = 4 * width;
        s.gpt.rotary = rotary;
        s.gpt.is_parallel = false;
        s.window = window;
        s.page_size = 16;
        // Each launch is a token: room for all that a benchmark may launch.
        s.tokens = is_simulated ? 4096 : 1 << 20;
        return s;
    }
    std::string text() const {
        return std::to_string(layers) + " x " + std::to_string(width);
    }
};

/// Random weights of one layer, which all layers share: only their size counts.
std::vector<float> weights_of_layers(const wb::model::GptShape& shape) {
    wb::model::GptShape one = shape;
    one.layers = 1;
    const std::vector<float> weights = random_weights(one, 1);
    const auto parameters = wb::model::gpt_parameters(one);
    const auto offset = [&](const char* name) {
        for (const auto& it : parameters)
            if (it.name == name) return it.offset;
        return int64_t{0};
    };
    const auto begin = weights.begin() + offset("layers.0.norm1.weight");
    const auto end = weights.begin() + offset("norm.weight");
    std::vector<float> all;
    all.reserve(static_cast<size_t>(shape.layers + 1) * weights.size());
    all.assign(weights.begin(), begin);
    for (int64_t layer = 0; layer < shape.layers; ++layer)
        all.insert(all.end(), begin, end);
    all.insert(all.end(), end, weights.end());
    return all;
}

/// A full cache, whose keys and values are 0, and the token behind it.
void fill_cache(const Model& model) {
    const Decoder& d = model.decoder();
    const auto slots = static_cast<size_t>(d.shape.slots());
    model.begin_text(std::vector<int32_t>(slots + 1, 65));
    const auto bytes =
        static_cast<size_t>(d.shape.gpt.layers * d.shape.layer_cache()) * sizeof(float);
    CUDA_CHECK(cudaMemset(d.k_cache, 0, bytes));
    CUDA_CHECK(cudaMemset(d.v_cache, 0, bytes));
    const auto position = static_cast<int32_t>(slots);
    CUDA_CHECK(
        cudaMemcpy(d.position, &position, sizeof position, cudaMemcpyHostToDevice));
}

/// The logits, as a benchmark sees an array.
struct Logits {
    const Model* model;
    int64_t size() const { return wb::model::kVocabulary; }
    float at(int64_t i) const {
        float value = 0.0f;
        CUDA_CHECK(cudaMemcpy(
            &value, model->decoder().logits + i, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }
    void poison() const {
        CUDA_CHECK(cudaMemset(
            model->decoder().logits, 0xFF, wb::model::kVocabulary * sizeof(float)));
    }
};

void time_size(Bench& bench, const Size& size, bool is_simulated) {
    const DecoderShape shape = size.shape(is_simulated);
    const auto elements = static_cast<double>(
        wb::model::gpt_elements(wb::model::gpt_parameters(shape.gpt)));
    if (!bench.fits(4.5 * elements)) return;
    const Model model(shape, weights_of_layers(shape.gpt));
    const Decoder& d = model.decoder();
    const Logits logits{&model};
    int64_t bytes = 0;
    const auto logits_of = [&](DecodeStep step) {
        fill_cache(model);
        Step one(d, nullptr);
        step(one);
        CUDA_CHECK(cudaDeviceSynchronize());
        bytes = one.counts().bytes;
        std::vector<double> values;
        for (int64_t i = 0; i < logits.size(); ++i)
            values.push_back(double{logits.at(i)});
        return values;
    };
    const std::vector<double> wrong_ones = logits_of(s0_step);
    const std::vector<double> right = logits_of(unfused_step);
    // Whether it is the same model: layers amplify the last bits of two orders of
    // adding. Hidden states are what the tests compare.
    const auto near = [](const std::vector<double>& values) {
        double largest = 0.0;
        for (const double value : values)
            largest = std::max(largest, std::abs(value));
        return [&values, largest](int64_t i) {
            return Expected{values[static_cast<size_t>(i)], 0.01 * largest};
        };
    };
    for (const bool host_time : {false, true}) {
        Spec spec{size.text() + (host_time ? ", host" : ""),
                  Ceiling::read,
                  static_cast<double>(bytes)};
        spec.cache = Cache::hot;
        spec.tokens = 1.0;
        spec.host_time = host_time;
        auto problem = bench.problem(spec);
        problem.expect("logits", logits, near(right));
        problem.restore([&](cudaStream_t) { fill_cache(model); });
        for (const auto& [name, idea, step] :
             wb::implementations("decode_step", decode_step)) {
            problem.time(name, idea, [&d, step = step](cudaStream_t stream) {
                Step one(d, stream);
                step(one);
            });
        }
        for (const auto& [name, idea, step] :
             wb::implementations("decode_step", decode_step)) {
            const StepGraph graph(d, step);
            problem.time(name + "_graph", idea + ", as a graph", [&](cudaStream_t s) {
                graph.launch(s);
            });
        }
        // It makes another text: its own.
        spec.size += ", S0";
        auto wrong = bench.problem(spec);
        wrong.expect("logits", logits, near(wrong_ones));
        wrong.restore([&](cudaStream_t) { fill_cache(model); });
        wrong.time("s0", "LN(x) + residual", [&d](cudaStream_t stream) {
            Step one(d, stream);
            s0_step(one);
        });
    }
}

}  // namespace

WB_BENCH(decode_step, bench) {
#ifdef SIMT_CPU
    constexpr bool kSimulated = true;
#else
    constexpr bool kSimulated = false;
#endif
    for (const Size& size :
         bench.sizes<Size>({{1, 32, 2, 8, 6}},
                           {{8, 320, 5, 16, 252}},
                           {{8, 320, 5, 16, 252}, {32, 2560, 32, 20, 508}}))
        time_size(bench, size, kSimulated);
}
