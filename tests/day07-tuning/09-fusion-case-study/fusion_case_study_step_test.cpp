// Grades day07-tuning/09-fusion-case-study: decode_step().
#include "fusion_case_study.h"

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>

#include <string>
#include <vector>

#include "instruments.h"
#include "reference.h"

namespace {

using wb::testing::Grader;
using wb::testing::result_of;

DecoderShape small(bool is_parallel, int64_t layers = 2) {
    DecoderShape s;
    s.gpt.layers = layers;
    s.gpt.width = 32;
    s.gpt.heads = 2;
    s.gpt.hidden = 64;
    s.gpt.rotary = 8;
    s.gpt.context = 16;
    s.gpt.is_parallel = is_parallel;
    if (is_parallel) s.gpt.eps = 0.25;  // far from the usual
    s.sinks = 2;
    s.window = 5;
    s.page_size = 4;
    s.tokens = 16;
    return s;
}

const char* kind(bool is_parallel) {
    return is_parallel ? "parallel" : "sequential";
}

const std::vector<int32_t> kWords = {87, 97, 114, 112, 98, 111, 111, 107, 46};

void copy_behind(float* to, const float* from, int64_t count, cudaStream_t stream) {
    CUDA_CHECK(cudaMemcpyAsync(to,
                               from,
                               static_cast<size_t>(count) * sizeof(float),
                               cudaMemcpyDeviceToDevice,
                               stream));
}

/// Hidden states behind all sub-layers of all steps, each from those before it.
struct Expected {
    std::vector<double> values, bounds;

    void add(const Reference::Vector& numbers) {
        for (const Near& number : numbers) {
            values.push_back(number.value);
            bounds.push_back(number.error);
        }
    }
};

/// The hidden states of a place in all steps up to one of them.
std::vector<std::vector<float>> history(const std::vector<double>& hidden,
                                        const DecoderShape& s,
                                        int64_t step,
                                        int64_t place) {
    std::vector<std::vector<float>> all;
    for (int64_t t = 0; t <= step; ++t) {
        const auto begin =
            hidden.begin() + (t * (2 * s.gpt.layers + 1) + place) * s.gpt.width;
        all.emplace_back(begin, begin + s.gpt.width);
    }
    return all;
}

Expected expected_hidden(const Reference& reference,
                         const DecoderShape& s,
                         const std::vector<int32_t>& text,
                         const std::vector<double>& hidden,
                         int64_t steps) {
    Expected expected;
    for (int64_t step = 0; step < steps; ++step) {
        expected.add(reference.embed(text[size_t(step)]));
        for (int64_t layer = 0; layer < s.gpt.layers; ++layer) {
            const auto before = history(hidden, s, step, 2 * layer);
            expected.add(
                Reference::sum(before.back(), reference.attention(before, layer)));
            const auto middle = history(hidden, s, step, 2 * layer + 1).back();
            expected.add(Reference::sum(
                middle,
                reference.mlp(s.gpt.is_parallel ? before.back() : middle, layer)));
        }
    }
    return expected;
}

void grade_step(const std::string& name,
                DecodeStep step,
                const DecoderShape& s,
                const std::vector<int32_t>& text) {
    const auto steps = static_cast<int64_t>(text.size()) - 1;
    const int64_t places = 2 * s.gpt.layers + 1;
    const int64_t width = s.gpt.width;
    const std::vector<float> weights = random_weights(s.gpt, 3);
    Model model(s, weights, 5);
    model.keep_trace(true);
    const Decoder& d = model.decoder();
    Grader grade(name,
                 std::string(kind(s.gpt.is_parallel)) + " layers, " +
                     std::to_string(steps) + " tokens");
    grade.only_read("weights", d.weights, d.places.elements);
    float* hidden = grade.output<float>("hidden", {steps, places, width});
    float* logits = grade.output<float>("logits", {steps, wb::model::kVocabulary});
    int32_t* calls = grade.output<int32_t>("add_norm_calls", {1});
    grade.run_and_wait([&](cudaStream_t stream) {
        model.begin_text(text);
        for (int64_t i = 0; i < steps; ++i) {
            Step one(d, stream);
            step(one);
            copy_behind(hidden + i * places * width, d.trace, places * width, stream);
            copy_behind(logits + i * wb::model::kVocabulary,
                        d.logits,
                        wb::model::kVocabulary,
                        stream);
        }
        CUDA_CHECK(cudaMemcpyAsync(calls,
                                   d.add_norm_calls,
                                   sizeof(int32_t),
                                   cudaMemcpyDeviceToDevice,
                                   stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
    });
    const Reference reference(d, weights);
    const std::vector<double> got = grade.read("hidden");
    const Expected expected = expected_hidden(reference, s, text, got, steps);
    grade.expect("hidden", expected.values, [&](int64_t i) {
        return expected.bounds[size_t(i)];
    });
    Expected last;
    for (int64_t i = 0; i < steps; ++i)
        last.add(reference.logits(history(got, s, i, places - 1).back()));
    grade.expect(
        "logits", last.values, [&](int64_t i) { return last.bounds[size_t(i)]; });
}

/// Ends the case: decode_step() does what is said.
[[noreturn]] void fail_step(bool is_parallel, const std::string& what) {
    wb::testing::Finding finding{wb::testing::Kind::wrong_result, "counts"};
    finding.implementation = "decode_step";
    finding.inputs = std::string(kind(is_parallel)) + " layers";
    finding.what = what;
    wb::testing::fail(std::move(finding));
}

void grade_all(const DecoderShape& s, const std::vector<int32_t>& text) {
    for (const auto& [name, idea, step] :
         wb::implementations("decode_step", decode_step))
        grade_step(name, step, s, text);
}

}  // namespace

TEST_CASE("hidden states behind every sub-layer, sequential layers") {
    grade_all(small(false), {kWords.begin(), kWords.begin() + 4});
}

TEST_CASE("hidden states behind every sub-layer, parallel layers") {
    grade_all(small(true), {kWords.begin(), kWords.begin() + 3});
}

TEST_CASE("a text that is longer than the cache") {
    grade_step("decode_step", decode_step, small(GENERATE(false, true), 1), kWords);
}

TEST_CASE("a narrow model, then rows wider than a block has vectors") {
    DecoderShape s = small(false, 1);
    for (const int64_t width : {8, 1040}) {
        s.gpt.width = width;
        s.gpt.rotary = 4;
        grade_step("decode_step", decode_step, s, {kWords.begin(), kWords.begin() + 2});
    }
}

namespace {

/// Layers as small as they can be, and many of them.
DecoderShape many(int64_t layers, bool is_parallel = false) {
    DecoderShape s = small(is_parallel, layers);
    s.gpt.width = s.gpt.hidden = s.gpt.rotary = 4;
    s.gpt.heads = 1;
    return s;
}

}  // namespace

TEST_CASE("hidden states of more layers than a byte counts") {
    grade_step("decode_step",
               decode_step,
               many(260, GENERATE(false, true)),
               {kWords.begin(), kWords.begin() + 2});
}

TEST_CASE("more than a thousand layers are launched alike") {
    wb::testing::Verdict::instance().grades("decode_step");
    const auto kernels = [](int64_t layers) {
        const DecoderShape s = many(layers);
        const Model model(s, random_weights(s.gpt, 3));
        return result_of(
            [&] { return StepGraph(model.decoder(), decode_step).kernels(); });
    };
    const int64_t one = kernels(1), two = kernels(2), all = kernels(1030);
    if (two > one && all == one + 1029 * (two - one)) return;
    fail_step(false,
              std::to_string(all) + " launches for 1030 layers, " +
                  std::to_string(two) + " for two and " + std::to_string(one) +
                  " for one: not as many for each of them");
}

TEST_CASE("launches, bytes and calls of a step") {
    wb::testing::Verdict::instance().grades("decode_step");
    const bool is_parallel = GENERATE(false, true);
    const DecoderShape s = small(is_parallel, 3);
    Model model(s, random_weights(s.gpt, 3));
    const auto record = [&](DecodeStep step) {
        return result_of([&] { return generate(model, step, {65}, 1); });
    };
    const Record mended = record(decode_step);
    const Record unfused = record(unfused_step);
    const int64_t layers = s.gpt.layers;
    const auto require = [&](int64_t got, int64_t most, const char* what) {
        if (got <= most) return;
        fail_step(is_parallel,
                  std::to_string(got) + " " + what + "; " + std::to_string(most) +
                      " are right");
    };
    require(mended.nodes, (is_parallel ? 8 : 7) * layers + 4, "launches a step");
    require(mended.launches, mended.nodes, "launches by its own count");
    // A sum and a norm by themselves read x once more; q, k and v are written and read.
    const int64_t fused = (is_parallel ? 1 : 2) * layers;
    const int64_t saved = fused * s.gpt.width + layers * 6 * s.gpt.width;
    require(mended.bytes, unfused.bytes - 4 * saved, "bytes a step");
    // Where no norm and no sum is a launch, there is no call: "Go faster".
    const bool has_calls = mended.nodes > 5 * layers + 3;
    const auto calls = static_cast<int32_t>(has_calls ? fused : 0);
    if (mended.add_norm_calls != calls)
        fail_step(is_parallel,
                  "add_norm's kernel has counted " +
                      std::to_string(mended.add_norm_calls) + " calls in a step; " +
                      std::to_string(calls) + " are right");
}

TEST_CASE("no norm and no sum is a launch of its own", "[.][goal][fast]") {
    const bool is_parallel = GENERATE(false, true);
    const DecoderShape s = small(is_parallel, 3);
    const Model model(s, random_weights(s.gpt, 3));
    const auto step = wb::implementations("decode_step", decode_step).back();
    const wb::testing::Goal goal("decode_step");
    const int64_t kernels =
        result_of([&] { return StepGraph(model.decoder(), step.function).kernels(); });
    const int64_t most = 5 * s.gpt.layers + 3;
    goal.require(kernels <= most,
                 std::to_string(kernels) + " launches a step, " + kind(is_parallel) +
                     " layers; " + std::to_string(most) + " will do");
}

TEST_CASE("as a graph it makes the same text") {
    wb::testing::Verdict::instance().grades("decode_step");
    const DecoderShape s = small(GENERATE(false, true), 1);
    Model model(s, random_weights(s.gpt, 4));
    const std::vector<int32_t> prompt = {87, 97};
    const auto text = [&](DecodeStep step, How how) {
        return result_of([&] { return generate(model, step, prompt, 4, how).text; });
    };
    const auto graph = text(decode_step, How::as_a_graph);
    if (graph == text(decode_step, How::one_by_one) &&
        graph == text(unfused_step, How::one_by_one))
        return;
    fail_step(s.gpt.is_parallel,
              "captured into a graph, or one by one, it makes another text than "
              "unfused_step()");
}

TEST_CASE("a step is queued, and the host does not wait") {
    const DecoderShape s = small(false, 1);
    Model model(s, random_weights(s.gpt, 3));
    model.begin({65, 66});
    Grader grade("decode_step", "one token");
    grade.expect_queued([&](cudaStream_t stream) {
        Step one(model.decoder(), stream);
        decode_step(one);
    });
}
