/// sampled_cases.h: launches of the sampled softmax, and what is right.
#pragma once

#include "losses_cases.h"

namespace losses_cases {

using wb::reference::Sampled;

/// Where an array begins: all at element `from`; or, if that is below 0, the array
/// number -from at element 1 and all others at 0. The last three are outputs.
inline constexpr int kNumberOfArrays = 10;
inline int64_t place(int64_t from, int number) {
    if (from >= 0) return from;
    return from == -number ? 1 : 0;
}

/// A problem of sampled_softmax() on the device.
inline SampledInput on_device(Grader& grade, const Sampled& p, int64_t from = 0) {
    return {input(grade, "positive", p.positive, place(from, 1)),
            input(grade, "negative", p.negative, place(from, 2)),
            input(grade, "positive_ids", p.positive_ids, place(from, 3)),
            input(grade, "negative_ids", p.negative_ids, place(from, 4)),
            input_if(grade, "positive_log_q", p.positive_log_q, place(from, 5)),
            input_if(grade, "negative_log_q", p.negative_log_q, place(from, 6)),
            grade.input("offsets", p.offsets),
            static_cast<int64_t>(p.offsets.size()) - 1,
            static_cast<int64_t>(p.queries()),
            static_cast<int64_t>(p.negatives())};
}

inline std::string text_of(const Sampled& p, int64_t from) {
    return "queries " + std::to_string(p.queries()) + ", real " +
           std::to_string(p.real()) + ", negatives " + std::to_string(p.negatives()) +
           (p.negative_log_q.empty() ? "" : ", log_q") +
           (from == 0  ? ""
            : from > 0 ? ", arrays from element " + std::to_string(from)
                       : ", array " + std::to_string(-from) + " from element 1");
}

/// sampled_softmax(), all versions. The mean's bound follows from those of the losses.
inline void grade_sampled(const Sampled& p,
                          const std::string& what,
                          int64_t from = 0,
                          bool in_any_order = false) {
    const auto exact = wb::reference::sampled_softmax(p);
    const auto negatives = static_cast<double>(p.negatives());
    const double summed = std::min(negatives, 40.0 + std::max(128.0, negatives / 32.0));
    const auto bound = [&](size_t r) {
        const double loss = exact.value[r];
        const double moves = gamma(summed + 16.0 + 4.0 * exact.magnitude[r], 0x1p-24);
        return bound_if_finite(-std::expm1(-loss) * moves + float_bound(24.0, loss));
    };
    double mean = 0.0;
    double mean_bound = 0.0;
    for (size_t r = 0; r < p.real(); ++r) {
        mean += exact.value[r] / static_cast<double>(p.real());
        mean_bound += bound(r) / static_cast<double>(p.real());
    }
    const auto queries = static_cast<double>(p.queries());
    mean_bound += float_bound(3.0 + std::min(queries, 40.0 + queries / 256.0), mean);
    for (const auto& [name, idea, call] :
         versions("sampled_softmax", &sampled_softmax)) {
        Grader grade(name, text_of(p, from) + what);
        const SampledInput in = on_device(grade, p, from);
        Output losses(grade, "losses", in.queries, place(from, 8));
        Output loss(grade, "loss", 1, 0);
        grade.run(
            [&, call = call](cudaStream_t s) { call(in, losses.data, loss.data, s); });
        losses.expect(exact.value, [&](int64_t r) { return bound(at(r)); });
        loss.expect({mean}, [&](int64_t) { return bound_if_finite(mean_bound); });
        if (in_any_order) grade.expect_same_bits();
    }
}

/// sampled_softmax_backward(), all versions, from what the forward pass gives.
inline void grade_sampled_backward(const Sampled& p,
                                   const std::string& what,
                                   float grad_loss = 1.0f,
                                   int64_t from = 0,
                                   bool after_another = false) {
    const Floats forward = floats(wb::reference::sampled_softmax(p).value);
    const auto exact = wb::reference::sampled_softmax_backward(p, forward, grad_loss);
    for (const auto& [name, idea, call] :
         versions("sampled_softmax_backward", &sampled_softmax_backward)) {
        Grader grade(name, text_of(p, from) + what);
        const SampledInput in = on_device(grade, p, from);
        const float* d_losses = input(grade, "losses", forward, place(from, 8));
        const float* d_grad =
            input(grade, "grad_loss", Floats{grad_loss}, place(from, 7));
        Output positive(grade, "dpositive", in.queries, place(from, 9));
        Output negative(grade, "dnegative", in.queries * in.negatives, place(from, 10));
        const auto run = [&, call = call](const SampledInput& with) {
            grade.run([&](cudaStream_t s) {
                call(with, d_losses, d_grad, positive.data, negative.data, s);
            });
        };
        if (after_another) {  // in the same arrays
            SampledInput before = in;
            before.positive_log_q = before.negative_log_q = nullptr;
            run(before);
        }
        run(in);
        positive.expect(exact.positive, [&](int64_t r) {
            return bound_if_finite(float_bound(12.0, std::abs(exact.positive[at(r)])));
        });
        negative.expect(exact.negative, [&](int64_t i) {
            const size_t r = at(i / in.negatives);
            const size_t c = at(i % in.negatives);
            const double logits = p.size(r) + p.size(r, c) + double{forward[r]};
            return bound_if_finite(
                float_bound(16.0 + 4.0 * logits, std::abs(exact.negative[at(i)])));
        });
    }
}

/// Sizes of a sampled softmax.
struct SampledSizes {
    int64_t queries;
    int64_t real;
    int64_t negatives;
    bool log_q = false;
};

/// Random logits of a few units, items of which some are hit by accident; what is not
/// real is NaN. The batch has rows of different lengths, an empty one too.
inline Sampled random_sampled(const SampledSizes& s, uint64_t seed) {
    wb::testing::Random random(seed);
    const auto some = [&](int64_t count, double scale) {
        Floats values;
        for (int64_t i = 0; i < count; ++i)
            values.push_back(static_cast<float>(scale * random.normal()));
        return values;
    };
    Sampled p;
    p.positive = some(s.queries, 3.0);
    p.negative = some(s.queries * s.negatives, 2.0);
    if (s.log_q) {
        p.positive_log_q = some(s.queries, 1.0);
        p.negative_log_q = some(s.negatives, 1.0);
    }
    // Items that differ in their lower bits, and some in their upper bits alone.
    const auto item = [&] {
        const int64_t number = random.below(20);
        return static_cast<int32_t>(number % 4 + (number / 4 << 28));
    };
    for (int64_t r = 0; r < s.queries; ++r)
        p.positive_ids.push_back(item());
    for (int64_t c = 0; c < s.negatives; ++c)
        p.negative_ids.push_back(item());
    for (int64_t r = s.real; r < s.queries; ++r) {
        p.positive[at(r)] = kNan;
        std::fill_n(p.negative.begin() + r * s.negatives, s.negatives, kNan);
    }
    p.offsets = {0, s.real / 3, s.real / 3, s.real};
    return p;
}

}  // namespace losses_cases
