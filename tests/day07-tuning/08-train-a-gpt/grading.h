// What the tests of day07-tuning/08-train-a-gpt share: small models, what they have to
// give, and how far from it a step in float may be.
#pragma once

#include <wb/model/gpt.h>
#include <wb/reference/gpt.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "train_a_gpt.h"

namespace gpt_grading {

using wb::model::GptShape;
using wb::reference::Gpt;
using wb::reference::Numbers;
using wb::testing::Grader;
using wb::testing::Random;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Of two layers, or as many as are said.
inline GptShape small(bool is_parallel, int64_t heads, int64_t layers = 2) {
    GptShape shape;
    shape.layers = layers;
    shape.width = 32;
    shape.heads = heads;
    shape.hidden = 52;
    shape.context = 40;
    shape.rotary = 8;
    shape.is_parallel = is_parallel;
    return shape;
}

/// A model, and what it is shown.
struct Problem {
    GptShape shape;
    int64_t batch;
    int64_t length;
    std::vector<float> weights;   ///< gaps between parameters are NaN
    std::vector<int32_t> tokens;  ///< [batch, length + 1]

    Problem(const GptShape& of,
            int64_t sequences,
            int64_t tokens_of_each,
            uint64_t seed)
        : shape(of), batch(sequences), length(tokens_of_each) {
        const auto parameters = wb::model::gpt_parameters(shape);
        weights.assign(at(wb::model::gpt_elements(parameters)),
                       std::numeric_limits<float>::quiet_NaN());
        Random random(seed);
        for (const auto& p : parameters) {
            // Factors of norms are about 1; the rest is large: each layer counts.
            const bool is_factor = p.name.find("norm") != std::string::npos &&
                                   p.name.find(".weight") != std::string::npos;
            for (int64_t i = 0; i < p.elements(); ++i)
                weights[at(p.offset + i)] = static_cast<float>(
                    is_factor ? 1.0 + 0.3 * random.normal() : 0.3 * random.normal());
        }
        for (int64_t i = 0; i < batch * (length + 1); ++i)
            tokens.push_back(static_cast<int32_t>(random.below(256)));
        if (tokens.size() > 4) tokens[3] = tokens[0];  // one token comes twice
    }

    std::string text() const {
        return std::string(shape.is_parallel ? "parallel" : "sequential") + ", " +
               std::to_string(shape.layers) + " layers of " +
               std::to_string(shape.width) + " x " + std::to_string(shape.hidden) +
               ", " + std::to_string(shape.heads) + " heads, rotary " +
               std::to_string(shape.rotary) + ", " + std::to_string(batch) +
               " sequences of " + std::to_string(length);
    }
};

/// What a step has to give.
struct Expected {
    double loss;
    double loss_bound;
    Numbers logits;
    Numbers logit_bounds;
    Numbers gradients;  ///< gaps are 0
    Numbers bounds;     ///< of each gradient
};

/// The largest distance of two arrays' elements first .. first + count.
inline double farthest(const Numbers& a,
                       const Numbers& b,
                       int64_t first,
                       int64_t count) {
    double most = 0.0;
    for (int64_t i = first; i < first + count; ++i)
        most = std::max(most, std::abs(a[at(i)] - b[at(i)]));
    return most;
}

/// The reference, and bounds by perturbation: through a whole model, the bound of the
/// worst case grows with each layer, until it says nothing. So the reference runs
/// kTrials more times with rounding errors, and each array of a step may be kMargin
/// times as far off as its farthest element was then.
///
/// A rounding error here is that of a sum in float of n terms of any sign, n the
/// longest sum of the model: partial sums of k terms of size t are about sqrt(k) t, so
/// that their roundings add up to u t sqrt(1 + 2 + … + n), which is u sqrt(n / 2) times
/// the result, sqrt(n) t. It is relative to the element and to the root of the mean
/// square of its array, as terms may cancel; its sign and share are random.
inline double rounding_of_floats(const Problem& p) {
    const auto longest = static_cast<double>(std::max(
        {p.shape.hidden, 3 * p.shape.width, p.batch * p.length, int64_t{256}}));
    return std::sqrt(longest / 2.0) * 0x1p-24;
}

/// @param size  of a rounding error, as above
inline Expected expect(const Problem& p, double size) {
    constexpr int kTrials = 3;
    constexpr double kMargin = 4.0;

    Numbers weights;
    for (const float w : p.weights)
        weights.push_back(std::isnan(w) ? 0.0 : double{w});
    Gpt gpt(p.shape, weights);
    const auto states = gpt.forward(p.tokens, p.batch, p.length);
    Expected e = {};
    e.loss = states.loss;
    e.logits = states.logits;
    e.gradients = gpt.backward(states, p.tokens, p.batch, p.length);
    e.bounds.resize(e.gradients.size());

    Random random(77);
    const auto disturb = [&](Numbers& numbers) {
        double squares = 0.0;
        for (const double x : numbers)
            squares += x * x;
        const double rms = std::sqrt(squares / static_cast<double>(numbers.size()));
        for (double& x : numbers)
            x += size * (2.0 * random.uniform() - 1.0) * (std::abs(x) + rms);
    };
    gpt.disturb(disturb);
    const auto parameters = wb::model::gpt_parameters(p.shape);
    double logit_bound = 0.0;
    for (int trial = 0; trial < kTrials; ++trial) {
        const auto other = gpt.forward(p.tokens, p.batch, p.length);
        Numbers gradients = gpt.backward(other, p.tokens, p.batch, p.length);
        e.loss_bound = std::max(e.loss_bound, kMargin * std::abs(other.loss - e.loss));
        logit_bound = std::max(
            logit_bound,
            kMargin *
                farthest(
                    other.logits, e.logits, 0, static_cast<int64_t>(e.logits.size())));
        for (const auto& it : parameters) {
            // The gradient itself is rounded, too.
            Numbers mine(gradients.begin() + it.offset,
                         gradients.begin() + it.offset + it.elements());
            disturb(mine);
            std::copy(mine.begin(), mine.end(), gradients.begin() + it.offset);
            const double bound =
                kMargin * farthest(gradients, e.gradients, it.offset, it.elements());
            for (int64_t i = it.offset; i < it.offset + it.elements(); ++i)
                e.bounds[at(i)] = std::max(e.bounds[at(i)], bound);
        }
    }
    e.loss_bound += kMargin * size * e.loss;
    e.logit_bounds.assign(e.logits.size(), logit_bound);
    return e;
}

inline Expected expect(const Problem& p) {
    return expect(p, rounding_of_floats(p));
}

/// Tokens that were no bytes in the steps before: more than 32 bits hold.
inline constexpr unsigned long long kBadBefore = (1ull << 32) - 1;

/// A problem's arrays on the device, in a grader.
struct OnDevice {
    StepPlan plan;
    GptCall call;

    OnDevice(Grader& grade, const Problem& p, bool has_gradients)
        : OnDevice(grade, p, has_gradients, plan_step(p.shape, p.batch, p.length)) {}
    OnDevice(Grader& grade,
             const Problem& p,
             bool has_gradients,
             const StepPlan& with_plan)
        : plan(with_plan) {
        call = {};
        call.plan = &plan;
        call.weights = grade.input("weights", p.weights);
        call.tokens = grade.input("tokens", p.tokens);
        // Bytes that no launcher may count on: it gets as many as it planned.
        call.memory = grade.output<uint8_t>("memory", {plan.bytes});
        call.bytes = plan.bytes;
        call.loss = grade.output<float>("loss", {1});
        if (has_gradients)
            call.gradients = grade.output<float>(
                "gradients", {static_cast<int64_t>(p.weights.size())});
        call.bad_tokens =
            grade.in_out<unsigned long long>("bad_tokens", {1}, {kBadBefore});
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

/// Loss and gradients. Each parameter by itself, so that what is wrong has a name.
inline void grade_gradients(const Problem& p, bool deterministic = false) {
    const Expected e = expect(p);
    Grader grade("gpt_gradients", p.text() + (deterministic ? ", deterministic" : ""));
    OnDevice on(grade, p, true);
    on.call.deterministic = deterministic;
    std::vector<float*> copies;
    const auto parameters = wb::model::gpt_parameters(p.shape);
    for (const auto& it : parameters)
        copies.push_back(grade.output<float>("gradient of " + it.name, it.shape));
    grade.run([&](cudaStream_t stream) {
        gpt_gradients(on.call, stream);
        for (std::size_t i = 0; i < copies.size(); ++i)
            CUDA_CHECK(cudaMemcpyAsync(copies[i],
                                       on.call.gradients + parameters[i].offset,
                                       at(parameters[i].elements()) * sizeof(float),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
    });
    grade.expect("loss", {e.loss}, [&](int64_t) { return e.loss_bound; });
    // In the order of the way back: the first that is wrong is where it went wrong.
    for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
        const auto first = e.gradients.begin() + it->offset;
        grade.expect("gradient of " + it->name,
                     Numbers(first, first + it->elements()),
                     [&](int64_t i) { return e.bounds[at(it->offset + i)]; });
    }
    grade.expect("gradients", e.gradients, [&](int64_t i) { return e.bounds[at(i)]; });
    grade.expect("bad_tokens", {double{kBadBefore}}, [](int64_t) { return 0.0; });
}

}  // namespace gpt_grading
