// Grades day07-tuning/08-train-a-gpt: loss and gradients.
#include "grading.h"

#include <wb/testing/covering.h>

using namespace gpt_grading;

TEST_CASE("one layer, one head, one sequence") {
    grade_gradients({small(GENERATE(true, false), 1, 1), 1, 3, 1});
}

TEST_CASE("two layers of two heads, three sequences") {
    grade_gradients({small(GENERATE(true, false), 2), 3, 7, 2});
}

TEST_CASE("two layers of one head, a longer sequence") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    grade_gradients({small(GENERATE(true, false), 1), 1, 37, 3});
}

TEST_CASE("the way that has the same bits each time") {
    grade_gradients({small(GENERATE(true, false), 2), 3, 5, 4}, true);
}

TEST_CASE("a single token, which sees itself alone") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    grade_gradients({small(true, 2), 1, 1, 5});
}

TEST_CASE("heads of more than 64 numbers, all of which turn") {
    GptShape shape = small(false, 1, 1);
    shape.width = 72;
    shape.rotary = 72;
    grade_gradients({shape, 2, 4, 6});
}

TEST_CASE("heads of 64 and of 128 numbers, none of which turns", "[large]") {
    GptShape shape = small(true, 1, 1);
    shape.width = GENERATE(64, 128);
    shape.rotary = 0;
    grade_gradients({shape, 1, 5, 7});
}

TEST_CASE("more than 1024 tokens, in many short sequences") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(false, 1, 1);
    shape.width = 8;
    shape.hidden = 8;
    shape.rotary = 4;
    grade_gradients({shape, 521, 8, 13}, true);  // 4,168: past 12 bits
}

TEST_CASE("a wide layer, wide heads, a long sequence") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 2, 1);
    shape.width = 144;
    shape.hidden = 140;
    shape.rotary = 72;
    shape.context = 130;
    grade_gradients({shape, 1, 130, 14}, true);
}

TEST_CASE("an eps that is far from the usual") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 2, 1);
    shape.eps = 0.5;
    grade_gradients({shape, 1, 4, 8});
}

TEST_CASE("the loss alone, and the logits") {
    const Problem p(small(GENERATE(true, false), 2), 2, 5, 9);
    const Expected e = expect(p);
    Grader grade("gpt_loss", p.text());
    const OnDevice on(grade, p, false);
    float* const logits = grade.output<float>("logits", {p.batch * p.length, 256});
    grade.run([&](cudaStream_t stream) {
        gpt_loss(on.call, stream);
        CUDA_CHECK(
            cudaMemcpyAsync(logits,
                            static_cast<const char*>(on.call.memory) + on.plan.logits,
                            e.logits.size() * sizeof(float),
                            cudaMemcpyDeviceToDevice,
                            stream));
    });
    grade.expect("logits", e.logits, [&](int64_t i) { return e.logit_bounds[at(i)]; });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
}

TEST_CASE("a token that is no byte is counted, and taken for 0") {
    Problem p(small(true, 1, 1), 2, 4, 10);
    p.tokens[1] = p.tokens[4] = p.tokens[7] = 0;
    const Expected e = expect(p);
    p.tokens[1] = 256;
    p.tokens[4] = -1;
    p.tokens[7] = INT32_MIN;
    Grader grade("gpt_gradients", p.text());
    const OnDevice on(grade, p, true);
    grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
    grade.expect("bad_tokens", {3.0}, [](int64_t) { return 0.0; });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
}

TEST_CASE("logits that are far apart") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Problem p(small(true, 1, 1), 1, 4, 11);
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        if (it.name == "embed_out.weight")
            for (int64_t i = 0; i < it.elements(); ++i)
                p.weights[at(it.offset + i)] *= 100.0f;
    grade_gradients(p);
}

TEST_CASE("logits that are all far below zero") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Problem p(small(true, 1, 1), 1, 4, 15);
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        for (int64_t i = 0; i < it.elements(); ++i) {
            float& weight = p.weights[at(it.offset + i)];
            if (it.name == "embed_out.weight") weight = -std::abs(weight);
            if (it.name == "norm.bias") weight = 40.0f;
        }
    grade_gradients(p);
}

TEST_CASE("right whatever order the threads run in") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    wb::testing::shuffle_threads(GENERATE(as<unsigned>(), 1, 2));
    grade_gradients({small(false, 2, 1), 2, 5, 12});
    wb::testing::shuffle_threads(0);
}
