// Grades day07-tuning/08-train-a-gpt: arguments, plans, and calls that have nothing in
// common.
#include "grading.h"
#include "written.h"

#include <wb/testing/covering.h>
#include <wb/testing/fail.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/refuses.h>
#include <wb/testing/same_numbers.h>

using namespace gpt_grading;
using wb::testing::expect_refused;
using wb::testing::misaligned;

TEST_CASE("a plan of a model that cannot be is refused by name") {
    require_written();
    const auto refused = [](const char* part, auto change) {
        GptShape shape;
        int64_t batch = 2;
        int64_t length = 16;
        change(shape, batch, length);
        expect_refused(
            "plan_step", part, part, [&] { (void)plan_step(shape, batch, length); });
    };
    refused("layers is 0", [](GptShape& s, auto&, auto&) { s.layers = 0; });
    refused("shape.layers is 65", [](GptShape& s, auto&, auto&) { s.layers = 65; });
    refused("width is 321", [](GptShape& s, auto&, auto&) { s.width = 321; });
    refused("shape.width is 65600", [](GptShape& s, auto&, auto&) {
        s.width = 65600;
        s.heads = 1025;
    });
    refused("shape.hidden is 65537",
            [](GptShape& s, auto&, auto&) { s.hidden = 65537; });
    refused("shape.width / shape.heads is 160",
            [](GptShape& s, auto&, auto&) { s.heads = 2; });
    refused("batch is 0", [](GptShape&, int64_t& batch, auto&) { batch = 0; });
    refused("length is 0", [](GptShape&, auto&, int64_t& length) { length = 0; });
    refused("length is 257", [](GptShape&, auto&, int64_t& length) { length = 257; });
    refused("batch * length is 4194320",
            [](GptShape&, int64_t& batch, auto&) { batch = (1 << 18) + 1; });
    // up: 2^22 tokens of 1280 numbers.
    refused("elements of the largest array is 5368709120",
            [](GptShape&, int64_t& batch, int64_t& length) {
                batch = 1 << 14;
                length = 256;
            });
    refused("elements of the largest array is 2147483648",
            [](GptShape& s, int64_t& batch, int64_t& length) {
                s.hidden = 1 << 13;
                batch = 1 << 10;
                length = 256;
            });
}

TEST_CASE("the memory of a step is less than all of its arrays") {
    require_written();
    GptShape shape;
    const StepPlan plan = plan_step(shape, 4, 256);
    // What the way forward keeps of each layer is needed at once: x, two norms, q, k,
    // v, o, attended, and the two arrays of the MLP, 8 width + 2 hidden. The way back
    // of a layer, and the logits, come on top.
    const int64_t kept = 4 * plan.tokens() * (8 * shape.width + 2 * shape.hidden);
    CHECK(plan.bytes >= shape.layers * kept);
    CHECK(plan.bytes < (shape.layers + 2) * kept);
    CHECK(plan.bytes % 256 == 0);
    // The lesson's worked numbers: all arrays side by side are 2,988,982,272 bytes.
    CHECK(plan_step(shape, 32, 256).bytes == 1397047296);
}

TEST_CASE("wrong arguments are refused by name, and nothing is launched") {
    const Problem p(small(true, 1, 1), 1, 3, 1);
    const bool has_gradients = GENERATE(true, false);
    const char* const function = has_gradients ? "gpt_gradients" : "gpt_loss";
    Grader grade(function, "wrong arguments");
    const OnDevice on(grade, p, has_gradients);
    const wb::testing::Refuses<GptCall> refuse = {
        function, has_gradients ? gpt_gradients : gpt_loss, on.call};
    refuse("plan is 0", [](auto& a) { a.plan = nullptr; });
    static const StepPlan none = {};
    refuse("plan->bytes is 0", [](auto& a) { a.plan = &none; });
    refuse("bytes is", [](auto& a) { a.bytes -= 1; });
    refuse("weights is a null", [](auto& a) { a.weights = nullptr; });
    refuse("tokens is a null", [](auto& a) { a.tokens = nullptr; });
    refuse("memory is a null", [](auto& a) { a.memory = nullptr; });
    refuse("loss is a null", [](auto& a) { a.loss = nullptr; });
    refuse("bad_tokens is a null", [](auto& a) { a.bad_tokens = nullptr; });
    refuse("weights is not aligned",
           [](auto& a) { a.weights = misaligned(a.weights); });
    refuse("must be a multiple of 256",
           [](auto& a) { a.memory = static_cast<char*>(a.memory) + 128; });
    refuse("loss - weights in bytes is 0",
           [](auto& a) { a.loss = const_cast<float*>(a.weights); });
    float host[4] = {};
    refuse("loss is a host pointer", [&](auto& a) { a.loss = host; });
    if (!has_gradients) {
        refuse("gradients given", [](auto& a) { a.gradients = a.loss; });
        return;
    }
    refuse("gradients is a null", [](auto& a) { a.gradients = nullptr; });
    refuse("gradients - weights in bytes is 0",
           [](auto& a) { a.gradients = const_cast<float*>(a.weights); });
}

TEST_CASE("AdamW refuses wrong arguments by name") {
    Grader grade("adamw", "wrong arguments");
    const std::vector<float> zeros(128);
    AdamW right = {};
    right.elements = 128;
    right.weights = grade.in_out<float>("weights", {128}, zeros);
    right.gradients = grade.input("gradients", zeros);
    right.first = grade.in_out<float>("first", {128}, zeros);
    right.second = grade.in_out<float>("second", {128}, zeros);
    right.decays = grade.input("decays", std::vector<uint8_t>(2));
    right.parts = grade.output<double>("parts", {kNormParts});
    right.norm = grade.output<float>("norm", {1});
    right.step = 1;
    const wb::testing::Refuses<AdamW> refuse = {"adamw", adamw, right};
    refuse("elements is -64", [](auto& a) { a.elements = -64; });
    refuse("elements is 63", [](auto& a) { a.elements = 63; });
    refuse("step is 0", [](auto& a) { a.step = 0; });
    refuse("rate is -1", [](auto& a) { a.rate = -1.0f; });
    refuse("rate is", [](auto& a) { a.rate = NAN; });
    refuse("beta1 is 1", [](auto& a) { a.beta1 = 1.0f; });
    refuse("beta2 is -0.5", [](auto& a) { a.beta2 = -0.5f; });
    refuse("beta2 is", [](auto& a) { a.beta2 = NAN; });
    refuse("eps is 0", [](auto& a) { a.eps = 0.0f; });
    refuse("decay is -1", [](auto& a) { a.decay = -1.0f; });
    refuse("clip is", [](auto& a) { a.clip = INFINITY; });
    refuse("weights is a null", [](auto& a) { a.weights = nullptr; });
    refuse("gradients is a null", [](auto& a) { a.gradients = nullptr; });
    refuse("first is a null", [](auto& a) { a.first = nullptr; });
    refuse("second is a null", [](auto& a) { a.second = nullptr; });
    refuse("decays is a null", [](auto& a) { a.decays = nullptr; });
    refuse("parts is a null", [](auto& a) { a.parts = nullptr; });
    refuse("norm is a null", [](auto& a) { a.norm = nullptr; });
    refuse("second - first in bytes is 0", [](auto& a) { a.second = a.first; });
}

TEST_CASE("calls have nothing in common") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    wb::testing::expect_independent(
        [] {
            grade_gradients({small(true, 1, 1), 1, 3, 1});
        },
        [] {
            GptShape other = small(false, 2, 1);
            other.width = 24;
            other.hidden = 36;
            grade_gradients({other, 2, 2, 2});
        });
    wb::testing::on_another_device([] {
        grade_gradients({small(true, 1, 1), 1, 3, 1});
    });
}

TEST_CASE("nothing in the memory, or the gradients, is kept for the next step") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const Problem p(small(true, 1, 1), 1, 3, 25);
    const Expected e = expect(p);
    Grader grade("gpt_gradients", p.text() + ", the second of two steps");
    const OnDevice on(grade, p, true);
    grade.run([&](cudaStream_t stream) {
        gpt_gradients(on.call, stream);
        CUDA_CHECK(cudaMemsetAsync(on.call.memory, 0xFF, at(on.call.bytes), stream));
        CUDA_CHECK(cudaMemsetAsync(
            on.call.gradients, 0x40, p.weights.size() * sizeof(float), stream));
        gpt_gradients(on.call, stream);
    });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
}

TEST_CASE("deterministic: the same bits in any order of threads and blocks") {
    if (wb::testing::is_watched()) return;  // bits are compared here
    // Sums of more than two terms: few tokens, each many times, and several tiles.
    GptShape shape = small(true, 1, 1);
    shape.width = shape.hidden = 8;
    shape.rotary = 4;
    shape.context = 140;
    Problem p(shape, 2, 140, 17);
    for (int32_t& token : p.tokens)
        token %= 4;
    std::vector<double> first;
    for (const unsigned seed : {0u, 1u, 2u}) {
        wb::testing::shuffle_threads(seed);
        Grader grade("gpt_gradients", p.text() + ", in another order of threads");
        OnDevice on(grade, p, true);
        on.call.deterministic = true;
        grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
        const std::vector<double> now = grade.read("gradients");
        wb::testing::shuffle_threads(0);
        if (seed == 0) first = now;
        if (!wb::testing::same_numbers(now, first))
            wb::testing::fail(
                wb::testing::Kind::contract,
                "gpt_gradients gives other bits in another order of threads and blocks",
                "likely cause: atomic additions of floats, whose sum depends on the "
                "order");
    }
    CHECK(first.size() == p.weights.size());
}
