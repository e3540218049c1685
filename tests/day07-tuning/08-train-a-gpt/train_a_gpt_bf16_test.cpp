// Grades what day07-tuning/08-train-a-gpt is given for bf16: it comes after what the
// learner writes.
#include <cuda_bf16.h>

#include "bf16_step.h"
#include "grading.h"
#include "written.h"

using namespace gpt_grading;

namespace {

/// Sizes that bf16 takes.
GptShape even(bool is_parallel, int64_t layers) {
    GptShape shape = small(is_parallel, 2, layers);
    shape.hidden = 56;
    shape.rotary = 16;
    return shape;
}

/// Half as large matrices: through steep layers, what a rounding to bf16 changes grows
/// until a bound says little.
Problem tame(Problem p) {
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        for (int64_t i = it.offset; it.decays && i < it.offset + it.elements(); ++i)
            p.weights[at(i)] *= 0.5f;
    return p;
}

/// The model that the products see: with rounded weights.
Problem rounded(Problem p) {
    for (float& weight : p.weights)
        weight = __bfloat162float(__float2bfloat16(weight));
    return p;
}

/// A step in bf16, in a grader.
struct OnDeviceBf16 {
    Bf16Plan plan;
    Bf16Call call;

    OnDeviceBf16(Grader& grade, const Problem& p)
        : plan(plan_bf16_step(p.shape, p.batch, p.length)) {
        call = {};
        call.plan = &plan;
        call.weights = grade.input("weights", p.weights);
        call.tokens = grade.input("tokens", p.tokens);
        call.memory = grade.output<uint8_t>("memory", {plan.bytes});
        call.bytes = plan.bytes;
        call.loss = grade.output<float>("loss", {1});
        call.gradients =
            grade.output<float>("gradients", {static_cast<int64_t>(p.weights.size())});
        call.bad_tokens = grade.in_out<unsigned long long>("bad_tokens", {1}, {0});
        call.deterministic = true;
    }
    OnDeviceBf16(const OnDeviceBf16&) = delete;
    OnDeviceBf16& operator=(const OnDeviceBf16&) = delete;
};

/// A number is off by 2^-9 of itself at most where it is rounded to bf16. An array here
/// may be rounded twice: v, say, where a product ends and the weights that it is
/// multiplied with, or the sum of two residuals.
constexpr double kRounding = 0x1p-8;

void grade_bf16(const Problem& p) {
    const Expected e = expect(rounded(p), kRounding);
    Grader grade("gpt_gradients_bf16", p.text());
    const OnDeviceBf16 on(grade, p);
    grade.run([&](cudaStream_t stream) { gpt_gradients_bf16(on.call, stream); });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
    grade.expect("bad_tokens", {0.0}, [](int64_t) { return 0.0; });
}

}  // namespace

TEST_CASE("a step in bf16 has the gradients of its rounded weights") {
    require_written();
    grade_bf16(tame({even(GENERATE(true, false), 1), 2, 12, 21}));
}
