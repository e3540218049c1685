// Times day07-tuning/08-train-a-gpt: a step of training, and AdamW by itself.
#include "train_a_gpt.h"

#include <wb/bench/bench.h>
#include <wb/device.h>

#include <cmath>
#include <string>
#include <vector>

#include "bf16_step.h"
#include "graph.h"
#include "library.h"

using namespace wb::bench;

namespace {

struct Size {
    int64_t layers, width, heads, batch, length;

    wb::model::GptShape shape() const {
        wb::model::GptShape s;
        s.layers = layers;
        s.width = width;
        s.heads = heads;
        s.hidden = 4 * width;
        s.context = length;
        return s;
    }
    std::string text() const {
        return std::to_string(layers) + " x " + std::to_string(width) + " B" +
               std::to_string(batch) + " N" + std::to_string(length);
    }
    double tokens() const { return static_cast<double>(batch * length); }

    /// Products: 2 FLOP for each weight and token on the way forward, 4 on the way
    /// back. Attention with a causal mask: 2 width length for a token on the way
    /// forward, 5 width length on the way back.
    double operations() const {
        const auto w = static_cast<double>(width);
        const double weights = static_cast<double>(layers) * 12.0 * w * w + 256.0 * w;
        const double attention =
            static_cast<double>(layers) * 7.0 * w * static_cast<double>(length);
        return tokens() * (6.0 * weights + attention);
    }
};

/// Weights of a model that knows nothing yet.
std::vector<float> weights_of(Bench& bench, const StepPlan& plan) {
    std::vector<float> weights = bench.random_normal(plan.parameters.elements).host();
    for (float& weight : weights)
        weight *= 0.02f;
    const auto ones = [&](const ParameterPair& norm) {
        for (int64_t i = 0; i < plan.shape.width; ++i)
            weights[static_cast<size_t>(norm.weight + i)] = 1.0f;
    };
    for (int64_t i = 0; i < plan.shape.layers; ++i) {
        ones(plan.parameters.layer[i].norm1);
        ones(plan.parameters.layer[i].norm2);
    }
    ones(plan.parameters.norm);
    return weights;
}

/// Whether this GPU has the instructions.
bool runs_bf16() {
#if defined(SIMT_CPU)
    return true;
#else
    return wb::compute_capability() == 90;
#endif
}

void time_step(Bench& bench, const Size& size) {
    const StepPlan plan = plan_step(size.shape(), size.batch, size.length);
    const int64_t elements = plan.parameters.elements;
    if (!bench.fits(static_cast<double>(plan.bytes + 24 * elements))) return;
    Array<float> weights(elements);
    weights.upload(weights_of(bench, plan));
    std::vector<int32_t> bytes;
    for (int64_t i = 0; i < size.batch * (size.length + 1); ++i)
        bytes.push_back(static_cast<int32_t>(i * 7919 % 251));
    Array<int32_t> tokens(static_cast<int64_t>(bytes.size()));
    tokens.upload(bytes);
    const auto memory = bench.output<float>(plan.bytes / 4);
    const auto loss = bench.output<float>(1);
    const auto gradients = bench.output<float>(elements);
    const auto bad_tokens = bench.output<unsigned long long>(1);
    Array<float> first(elements), second(elements);
    Array<uint8_t> decays(elements / 64);
    const auto clear = [&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemsetAsync(first.data(), 0, first.bytes(), stream));
        CUDA_CHECK(cudaMemsetAsync(second.data(), 0, second.bytes(), stream));
        CUDA_CHECK(cudaMemsetAsync(decays.data(), 1, decays.bytes(), stream));
    };
    const auto parts = bench.output<double>(kNormParts);
    const auto norm = bench.output<float>(1);
    AdamW end = {};
    end.elements = elements;
    end.weights = weights.data();
    end.gradients = gradients.data();
    end.first = first.data();
    end.second = second.data();
    end.decays = decays.data();
    end.parts = parts.data();
    end.norm = norm.data();
    end.step = 1;
    end.rate = 0.0f;  // all of the work, and the weights stay: so does the loss

    // Of a GptCall or a Bf16Call, all but the plan and its memory.
    const auto fill = [&](auto call) {
        call.weights = weights.data();
        call.tokens = tokens.data();
        call.loss = loss.data();
        call.gradients = gradients.data();
        call.bad_tokens = bad_tokens.data();
        return call;
    };
    const auto problem_under = [&](Ceiling ceiling) {
        Spec spec = {size.text(), ceiling, size.operations()};
        spec.tokens = size.tokens();
        auto problem = bench.problem(spec);
        problem.restore(clear);
        // Logits are small, so that all bytes are about as likely.
        problem.expect("loss", loss, [](int64_t) {
            return Expected{std::log(256.0), 0.3};
        });
        return problem;
    };

    auto in_float = problem_under(Ceiling::fp32);
    GptCall call = fill(GptCall{});
    call.plan = &plan;
    call.memory = memory.data();
    call.bytes = plan.bytes;
    const auto time_float = [&](const char* rung, const char* idea) {
        in_float.time(rung, idea, [&](cudaStream_t stream) {
            gpt_gradients(call, stream);
            adamw(end, stream);
        });
    };
    time_float("train_a_gpt_v1", "a step in float");
    call.deterministic = true;
    time_float("train_a_gpt_v1 deterministic", "the same bits each time");
    call.deterministic = false;
    call.cublas = kAllProducts;
    if (has_cublas()) time_float("train_a_gpt_v1 cuBLAS", "its products by cuBLAS");

    if (!runs_bf16()) return;
    const Bf16Plan bf16_plan = plan_bf16_step(size.shape(), size.batch, size.length);
    if (!bench.fits(static_cast<double>(bf16_plan.bytes))) return;
    const auto bf16_memory = bench.output<float>(bf16_plan.bytes / 4);
    auto in_bf16 = problem_under(Ceiling::bf16);
    Bf16Call narrow = fill(Bf16Call{});
    narrow.plan = &bf16_plan;
    narrow.memory = bf16_memory.data();
    narrow.bytes = bf16_plan.bytes;
    const auto time_bf16 = [&](const char* rung, const char* idea) {
        in_bf16.time(rung, idea, [&](cudaStream_t stream) {
            gpt_gradients_bf16(narrow, stream);
            adamw(end, stream);
        });
    };
    time_bf16("train_a_gpt_v2", "products and attention in bf16");
    narrow.deterministic = true;
    time_bf16("train_a_gpt_v2 deterministic", "the same bits each time");
    narrow.deterministic = false;
    narrow.cublas = kInputGradients | kWeightGradients;
    if (has_cublas()) time_bf16("train_a_gpt_v2 cuBLAS", "dx and dw by cuBLAS");
    narrow.cublas = 0;
    const RecordedStep recorded(
        [&](cudaStream_t stream) { gpt_gradients_bf16(narrow, stream); });
    in_bf16.time(
        "train_a_gpt_v2 graph", "launched as a graph", [&](cudaStream_t stream) {
            recorded.launch(stream);
            adamw(end, stream);
        });
}

void time_adamw(Bench& bench, int64_t elements) {
    if (!bench.fits(20.0 * static_cast<double>(elements))) return;
    const auto weights = bench.random_normal(elements);
    const auto gradients = bench.random_normal(elements);
    Array<float> first(elements), second(elements);
    Array<uint8_t> decays(elements / 64);
    const auto begin = [&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemsetAsync(first.data(), 0, first.bytes(), stream));
        CUDA_CHECK(cudaMemsetAsync(second.data(), 0, second.bytes(), stream));
    };
    begin(nullptr);
    const auto parts = bench.output<double>(kNormParts);
    const auto norm = bench.output<float>(1);
    AdamW call = {};
    call.elements = elements;
    call.weights = weights.data();
    call.gradients = gradients.data();
    call.first = first.data();
    call.second = second.data();
    call.decays = decays.data();
    call.parts = parts.data();
    call.norm = norm.data();
    call.step = 1;
    call.rate = 1e-3f;
    double squares = 0.0;
    for (const float g : gradients.host())
        squares += double{g} * double{g};
    // Gradients twice, the two means and the weights; all but gradients written.
    auto problem = bench.problem({"AdamW n = " + std::to_string(elements),
                                  Ceiling::copy,
                                  32.0 * static_cast<double>(elements)});
    problem.restore(begin);
    problem.expect("norm", norm, [squares](int64_t) {
        return Expected{std::sqrt(squares), 1e-6 * std::sqrt(squares)};
    });
    problem.time("adamw", "norm, then all", [&call](cudaStream_t stream) {
        adamw(call, stream);
    });
}

}  // namespace

WB_BENCH(train_a_gpt, bench) {
    for (const Size& size : bench.sizes<Size>(
             {{2, 32, 2, 1, 16}}, {{4, 128, 2, 8, 128}}, {{8, 320, 5, 32, 256}}))
        time_step(bench, size);
    for (const int64_t elements :
         bench.sizes<int64_t>({640}, {1 << 20}, {10'000'000 / 64 * 64}))
        time_adamw(bench, elements);
}
