// Grades what day07-tuning/08-train-a-gpt is given for bf16: it comes after what the
// learner writes.
#include <cuda_bf16.h>

#include "bf16_step.h"
#include "grading.h"
#include "library.h"
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
    if (wb::testing::is_watched() || !runs_bf16()) return;
    grade_bf16(tame({even(GENERATE(true, false), 1), 2, 12, 21}));
}

TEST_CASE("two layers in bf16, more tokens and columns than a tile has") {
    require_written();
    if (wb::testing::is_watched() || !runs_bf16()) return;
    GptShape shape = even(GENERATE(true, false), 2);
    shape.hidden = 72;
    grade_bf16(tame({shape, 9, 8, 22}));
}

TEST_CASE("heads of 64 and of 128 numbers in bf16", "[large]") {
    require_written();
    if (wb::testing::is_watched() || !runs_bf16()) return;
    GptShape shape = even(true, 1);
    shape.width = GENERATE(64, 128);
    shape.heads = 1;
    shape.rotary = shape.width == 64 ? 0 : 32;
    grade_bf16(tame({shape, 1, 16, 23}));
}

TEST_CASE("rows in bf16 that are wider than the registers of eight threads") {
    require_written();
    if (wb::testing::is_watched() || !runs_bf16()) return;
    GptShape shape = even(GENERATE(true, false), 1);
    shape.width = 384;
    shape.heads = 3;
    shape.hidden = 8;
    grade_bf16(tame({shape, 1, 8, 27}));
}

TEST_CASE("a token that is no byte is counted in bf16, too, and taken for 0") {
    require_written();
    if (wb::testing::is_watched() || !runs_bf16()) return;
    Problem p = tame({even(true, 1), 2, 4, 24});
    p.tokens[1] = p.tokens[4] = p.tokens[7] = 0;
    const Expected e = expect(rounded(p), kRounding);
    p.tokens[1] = 256;
    p.tokens[4] = -1;
    p.tokens[7] = INT32_MIN;
    Grader grade("gpt_gradients_bf16", p.text());
    const OnDeviceBf16 on(grade, p);
    grade.run([&](cudaStream_t stream) { gpt_gradients_bf16(on.call, stream); });
    grade.expect("bad_tokens", {3.0}, [](int64_t) { return 0.0; });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
}

TEST_CASE("a step that bf16 cannot do is refused by name") {
    require_written();
    if (!runs_bf16()) return;
    const auto refused = [](const char* why, auto change) {
        GptShape shape = even(true, 1);
        int64_t length = 8;
        change(shape, length);
        expect_error(why, [&] { (void)plan_bf16_step(shape, 1, length); });
    };
    refused("shape.hidden is 52", [](GptShape& s, int64_t&) { s.hidden = 52; });
    refused("shape.width / shape.heads is 4", [](GptShape& s, int64_t&) {
        s.width = 8;
        s.rotary = 0;
    });
    refused("shape.rotary is 8", [](GptShape& s, int64_t&) { s.rotary = 8; });
    refused("batch * length is 7", [](GptShape&, int64_t& length) { length = 7; });
    refused("length is 41", [](GptShape&, int64_t& length) { length = 41; });

    const Problem p = tame({even(true, 1), 1, 8, 25});
    Grader grade("gpt_gradients_bf16", p.text());
    const OnDeviceBf16 on(grade, p);
    const auto wrong = [&](const char* why, auto change) {
        Bf16Call call = on.call;
        change(call);
        expect_error(why, [&] { gpt_gradients_bf16(call, nullptr); });
    };
    wrong("plan is 0", [](Bf16Call& c) { c.plan = nullptr; });
    wrong("bytes is", [](Bf16Call& c) { --c.bytes; });
    wrong("weights", [](Bf16Call& c) { c.weights = nullptr; });
    wrong("memory is",
          [](Bf16Call& c) { c.memory = static_cast<char*>(c.memory) + 4; });
    wrong("gradients",
          [](Bf16Call& c) { c.gradients = const_cast<float*>(c.weights); });
}

TEST_CASE("products by cuBLAS, where there is one, and else a refusal") {
    require_written();
    if (wb::testing::is_watched()) return;
    const Problem p = tame({even(false, 1), 1, 8, 26});
    const Expected e = expect(p);
    Grader grade("gpt_gradients", p.text() + ", products by cuBLAS");
    OnDevice on(grade, p, true);
    on.call.cublas = 8;
    expect_error("cublas is 8", [&] { gpt_gradients(on.call, nullptr); });
    on.call.cublas = kAllProducts;
    if (!has_cublas()) {
        expect_error("this program has no cuBLAS",
                     [&] { gpt_gradients(on.call, nullptr); });
        return;
    }
    grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
}
