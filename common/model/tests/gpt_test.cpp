// The parameters of a GPT, and its reference: gradients by finite differences.
#include <wb/errors.h>
#include <wb/model/gpt.h>
#include <wb/reference/gpt.h>
#include <wb/testing/catch.h>

#include <random>

#include "support.h"

using wb::model::GptParameter;
using wb::model::GptShape;
using wb::reference::Gpt;
using wb::reference::Numbers;
using wb::testing::contains;

namespace {

GptShape tiny(bool is_parallel) {
    GptShape shape;
    shape.layers = 2;
    shape.width = 8;
    shape.heads = 2;
    shape.hidden = 12;
    shape.context = 5;
    shape.rotary = 2;
    shape.is_parallel = is_parallel;
    return shape;
}

Numbers random_weights(const GptShape& shape) {
    const auto parameters = wb::model::gpt_parameters(shape);
    Numbers weights(static_cast<std::size_t>(wb::model::gpt_elements(parameters)));
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0.0, 0.5);
    for (double& weight : weights)
        weight = normal(random);
    return weights;
}

/// Two sequences of five tokens and what follows; one token comes twice.
const std::vector<int32_t> kTokens = {3, 255, 0, 3, 17, 40, 9, 8, 255, 7, 7, 1};
constexpr int64_t kBatch = 2;
constexpr int64_t kLength = 5;

}  // namespace

TEST_CASE("parameters have their names, shapes and places") {
    const GptShape shape;
    const auto all = wb::model::gpt_parameters(shape);
    REQUIRE(all.size() == 1 + 8 * 12 + 3);
    CHECK(all.front().name == "embed_in.weight");
    CHECK(all[3].name == "layers.0.attention.qkv.weight");
    CHECK(all[3].shape == std::vector<int64_t>{960, 320});
    CHECK(all[3].decays);
    CHECK_FALSE(all[4].decays);
    CHECK(all.back().name == "embed_out.weight");
    int64_t next = 0;
    int64_t count = 0;
    for (const GptParameter& it : all) {
        CHECK(it.offset % 64 == 0);
        CHECK(it.offset >= next);
        CHECK(it.offset < next + 64);
        next = it.offset + it.elements();
        count += it.elements();
    }
    CHECK(wb::model::gpt_elements(all) >= next);
    CHECK(count ==
          8 * (12 * 320 * 320 + (3 + 1 + 4 + 1 + 4) * 320) + 2 * 320 + 2 * 256 * 320);
}

TEST_CASE("a shape that makes no model is refused, and the parameter is named") {
    const auto refused = [](auto change, const char* why) {
        GptShape shape;
        change(shape);
        CHECK_THROWS_WITH(wb::model::gpt_parameters(shape), contains(why));
        CHECK_THROWS_AS(wb::model::gpt_parameters(shape), wb::InvalidArgument);
    };
    refused([](GptShape& s) { s.layers = 0; }, "layers is 0");
    refused([](GptShape& s) { s.width = -320; }, "width is -320");
    refused([](GptShape& s) { s.heads = 0; }, "heads is 0");
    refused([](GptShape& s) { s.heads = 3; }, "must be a multiple of heads");
    refused([](GptShape& s) { s.hidden = 0; }, "hidden is 0");
    refused([](GptShape& s) { s.context = 0; }, "context is 0");
    refused([](GptShape& s) { s.rotary = 15; }, "rotary is 15, but must be even");
    refused([](GptShape& s) { s.rotary = 66; }, "must be at most width / heads");
    refused([](GptShape& s) { s.eps = 0.0; }, "eps is 0");
    refused([](GptShape& s) { s.hidden = INT64_MAX / 4; }, "width * (width + hidden)");
}

TEST_CASE("a model that knows nothing has the loss of a guess") {
    const GptShape shape = tiny(true);
    Numbers weights = random_weights(shape);
    for (const GptParameter& it : wb::model::gpt_parameters(shape))
        if (it.name == "embed_out.weight")
            std::fill_n(
                &weights[static_cast<std::size_t>(it.offset)], it.elements(), 0.0);
    const auto states = Gpt(shape, weights).forward(kTokens, kBatch, kLength);
    CHECK(std::abs(states.loss - std::log(256.0)) < 1e-12);
}

TEST_CASE("a token changes nothing that comes before it, and nothing in its batch") {
    const Gpt gpt(tiny(false), random_weights(tiny(false)));
    const auto before = gpt.forward(kTokens, kBatch, kLength).logits;
    auto tokens = kTokens;
    tokens[3] = 99;  // the fourth of the first sequence
    const auto after = gpt.forward(tokens, kBatch, kLength).logits;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::size_t token = i / 256;
        if (token != 3 && token != 4) REQUIRE(after[i] == before[i]);
    }
    CHECK(after[3 * 256] != before[3 * 256]);
    CHECK(after[4 * 256] != before[4 * 256]);
}

TEST_CASE("the reference's gradients are those of finite differences") {
    const bool is_parallel = GENERATE(true, false);
    CAPTURE(is_parallel);
    const GptShape shape = tiny(is_parallel);
    const Numbers weights = random_weights(shape);
    const Gpt gpt(shape, weights);
    const Numbers gradient =
        gpt.backward(gpt.forward(kTokens, kBatch, kLength), kTokens, kBatch, kLength);
    // Central differences are off by h^2 / 6 of the third derivative, which is below
    // 100 here, and by the loss's rounding errors over h.
    constexpr double kStep = 1e-5;
    constexpr double kBound = 100.0 * kStep * kStep / 6.0 + 64.0 * 0x1p-53 / kStep;
    for (const GptParameter& it : wb::model::gpt_parameters(shape)) {
        CAPTURE(it.name);
        // Of the tables, all of some tokens: those of the text, and one that is not.
        const bool is_table = it.shape[0] == wb::model::kVocabulary;
        for (int64_t i = 0; i < it.elements(); ++i) {
            const int64_t row = i / shape.width;
            if (is_table && row != 3 && row != 7 && row != 255 && row != 100) continue;
            const auto at = static_cast<std::size_t>(it.offset + i);
            double loss[2];
            for (const int side : {0, 1}) {
                Numbers moved = weights;
                moved[at] += side == 0 ? -kStep : kStep;
                loss[side] =
                    Gpt(shape, std::move(moved)).forward(kTokens, kBatch, kLength).loss;
            }
            CAPTURE(i);
            const double slope = (loss[1] - loss[0]) / (2.0 * kStep);
            REQUIRE(std::abs(slope - gradient[at]) <= kBound);
        }
    }
}
