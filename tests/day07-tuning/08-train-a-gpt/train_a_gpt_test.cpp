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
    grade_gradients({shape, 597, 7, 13}, true);  // 4,179: past 12 bits
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
    GptShape shape = small(GENERATE(true, false), 2, 1);
    shape.eps = 0.5;
    grade_gradients({shape, 1, 4, 8});
}

namespace {

void grade_loss_alone(const Problem& p) {
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

}  // namespace

TEST_CASE("the loss alone, and the logits") {
    grade_loss_alone({small(GENERATE(true, false), 2), 2, 5, 9});
}

TEST_CASE("the loss alone, of more than 1024 tokens") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 1, 1);
    shape.width = shape.hidden = 8;
    shape.rotary = 4;
    grade_loss_alone({shape, 132, 8, 24});
}

TEST_CASE("a token that is no byte is counted, and taken for 0") {
    Problem p(small(true, 1, 1), 2, 4, 10);
    p.tokens[1] = p.tokens[4] = p.tokens[7] = p.tokens[8] = 0;
    const Expected e = expect(p);
    p.tokens[1] = 256;
    p.tokens[4] = -1;
    p.tokens[7] = INT32_MIN;
    p.tokens[8] = 300;
    Grader grade("gpt_gradients", p.text());
    const OnDevice on(grade, p, true);
    grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
    const double bad = double{kBadBefore} + 4.0;
    grade.expect("bad_tokens", {bad}, [](int64_t) { return 0.0; });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });

    Grader alone("gpt_loss", p.text());
    const OnDevice forward(alone, p, false);
    alone.run([&](cudaStream_t stream) { gpt_loss(forward.call, stream); });
    alone.expect("bad_tokens", {bad}, [](int64_t) { return 0.0; });
    alone.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
}

TEST_CASE("a weight that is no number makes a loss that is none, and gradients") {
    // So that a training stops: see Trainer::loss(), and adamw().
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Problem p(small(true, 1, 1), 1, 3, 18);
    // One logit of each token is NaN; or all of them.
    const std::string where = GENERATE("embed_out.weight", "norm.bias");
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        if (it.name == where) p.weights[at(it.offset + 5)] = NAN;
    Grader grade("gpt_gradients", p.text() + ", NaN in " + where);
    const OnDevice on(grade, p, true);
    grade.run([&](cudaStream_t stream) { gpt_gradients(on.call, stream); });
    CHECK(std::isnan(grade.read("loss")[0]));
    const Numbers gradients = grade.read("gradients");
    CHECK(std::any_of(
        gradients.begin(), gradients.end(), [](double g) { return std::isnan(g); }));
}

TEST_CASE("many heads, and many layers") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 9, 1);
    shape.width = 36;
    shape.rotary = 4;
    grade_gradients({shape, 1, 3, 19});
    const bool is_parallel = GENERATE(true, false);
    shape = small(is_parallel, 1, is_parallel ? 20 : kMostLayers);
    shape.width = shape.hidden = 8;
    shape.rotary = 4;
    grade_gradients({shape, 1, 2, 20});
}

TEST_CASE("more hidden numbers than 10 bits count") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(false, 1, 1);
    shape.width = 8;
    shape.rotary = 4;
    shape.hidden = 1032;
    grade_gradients({shape, 1, 3, 21});
}

TEST_CASE("more positions than a byte counts") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    GptShape shape = small(true, 1, 1);
    shape.width = 8;
    shape.hidden = 8;
    shape.rotary = 4;
    shape.context = 270;
    grade_gradients({shape, 1, 266, 22});
}

TEST_CASE("numbers far from zero before the GELU") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Problem p(small(true, 1, 1), 1, 3, 23);
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        if (it.name.ends_with("up.bias"))
            for (int64_t i = 0; i < it.elements(); ++i)
                p.weights[at(it.offset + i)] = i % 2 == 0 ? 30.0f : -30.0f;
    grade_gradients(p);
}

TEST_CASE("logits that are far apart") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    Problem p(small(true, 1, 1), 1, 4, 11);
    for (const auto& it : wb::model::gpt_parameters(p.shape))
        if (it.name == "embed_out.weight")
            for (int64_t i = 0; i < it.elements(); ++i)
                p.weights[at(it.offset + i)] *= 1000.0f;
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
