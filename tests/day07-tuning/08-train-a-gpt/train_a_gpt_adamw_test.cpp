// Grades day07-tuning/08-train-a-gpt: AdamW, and the length of gradients.
#include "grading.h"

#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>

using namespace gpt_grading;

namespace {

struct Numbers64 {
    std::vector<float> weights, gradients, first, second;
    std::vector<uint8_t> decays;

    explicit Numbers64(int64_t groups, uint64_t seed, float size = 1.0f) {
        Random random(seed);
        for (int64_t i = 0; i < 64 * groups; ++i) {
            weights.push_back(static_cast<float>(random.normal()));
            gradients.push_back(size * static_cast<float>(random.normal()));
            first.push_back(static_cast<float>(0.1 * random.normal()));
            second.push_back(static_cast<float>(0.1 * random.uniform()));
        }
        for (int64_t i = 0; i < groups; ++i)
            decays.push_back(static_cast<uint8_t>(i % 3 != 1));
        if (groups > 0) {  // what was never shown to the model
            gradients[5] = first[5] = second[5] = 0.0f;
            gradients[7] *= 100.0f;
            weights[9] = 0.0f;
            weights[11] = 3e7f;
            gradients[13] = second[13] = 0.0f;  // first is divided by eps alone
        }
    }
    double norm() const {
        double sum = 0.0;
        for (const float g : gradients)
            sum += double{g} * double{g};
        return std::sqrt(sum);
    }
};

struct Settings {
    int64_t step = 1;
    float rate = 0.01f;
    float clip = 1.0f;
    float decay = 0.1f;
    float beta1 = 0.9f;
    float beta2 = 0.95f;
    float eps = 1e-8f;
};

void grade_adamw(const Numbers64& n, const Settings& set, const std::string& what) {
    const auto count = static_cast<int64_t>(n.weights.size());
    Grader grade("adamw", what);
    AdamW a = {};
    a.elements = count;
    a.weights = grade.in_out<float>("weights", {count}, n.weights);
    a.gradients = grade.input("gradients", n.gradients);
    a.first = grade.in_out<float>("first", {count}, n.first);
    a.second = grade.in_out<float>("second", {count}, n.second);
    a.decays = grade.input("decays", n.decays);
    a.parts = grade.output<double>("parts", {kNormParts});
    a.norm = grade.output<float>("norm", {1});
    a.step = set.step;
    a.rate = set.rate;
    a.beta1 = set.beta1;
    a.beta2 = set.beta2;
    a.eps = set.eps;
    a.decay = set.decay;
    a.clip = set.clip;
    grade.run([&](cudaStream_t stream) { adamw(a, stream); });

    using wb::testing::float_bound;
    const double norm = n.norm();
    grade.expect("norm", {norm}, [&](int64_t) { return float_bound(2, norm); });
    const double b1 = a.beta1, b2 = a.beta2;
    const double share = a.clip > 0.0f && norm > a.clip ? a.clip / norm : 1.0;
    Numbers first, second, first_bounds, second_bounds;
    for (std::size_t i = 0; i < n.weights.size(); ++i) {
        const double g = n.gradients[i] * share;
        const double old_first = n.first[i], old_second = n.second[i];
        first.push_back(b1 * old_first + (1.0 - b1) * g);
        second.push_back(b2 * old_second + (1.0 - b2) * g * g);
        first_bounds.push_back(
            float_bound(6, std::abs(b1 * old_first) + std::abs((1.0 - b1) * g)));
        second_bounds.push_back(float_bound(10, second.back()));
    }
    const auto of = [](const Numbers& bounds) {
        return [&bounds](int64_t i) { return bounds[at(i)]; };
    };
    grade.expect("first", first, of(first_bounds));
    grade.expect("second", second, of(second_bounds));
    // Weights, from the two means as they are stored.
    const Numbers m = grade.read("first");
    const Numbers v = grade.read("second");
    const auto t = static_cast<double>(set.step);
    Numbers weights, bounds;
    for (std::size_t i = 0; i < n.weights.size(); ++i) {
        const double weight = n.weights[i];
        const double move = double{a.rate} * m[i] / (1.0 - std::pow(b1, t)) /
                            (std::sqrt(v[i] / (1.0 - std::pow(b2, t))) + double{a.eps});
        const double decay =
            n.decays[i / 64] != 0 ? double{a.rate} * double{a.decay} * weight : 0.0;
        weights.push_back(weight - move - decay);
        bounds.push_back(
            float_bound(10, std::abs(weight) + std::abs(move) + std::abs(decay)));
    }
    grade.expect("weights", weights, of(bounds));
}

}  // namespace

TEST_CASE("AdamW: the first step, and a later one") {
    Settings set;
    set.step = GENERATE(1, 2, 1000);
    set.clip = 0.0f;
    grade_adamw(Numbers64(2, 1), set, "128 numbers, step " + std::to_string(set.step));
}

TEST_CASE("AdamW: more steps than 16 bits count, or 32") {
    Settings set;
    set.step = GENERATE(int64_t{70'000}, int64_t{3'000'000'000});
    set.beta2 = 0.99999f;
    grade_adamw(Numbers64(1, 9), set, "64 numbers, step " + std::to_string(set.step));
}

TEST_CASE("AdamW: a rate of 0 leaves the weights, and updates the means") {
    Settings set;
    set.rate = 0.0f;
    grade_adamw(Numbers64(1, 10), set, "64 numbers, rate 0");
}

TEST_CASE("AdamW: gradients that are a little too long are clipped, too") {
    const Numbers64 n(1, 11);
    Settings set;
    set.clip = static_cast<float>(0.98 * n.norm());
    grade_adamw(n, set, "64 numbers, clip 0.98 of their length");
}

TEST_CASE("AdamW: gradients whose squares are 0 in float have a length") {
    Settings set;
    set.clip = 1e-32f;
    Numbers64 n(1, 12, 1e-30f);
    n.first.assign(64, 0.0f);
    n.second.assign(64, 0.0f);
    grade_adamw(n, set, "64 numbers of the size 1e-30, means 0");
}

TEST_CASE("AdamW: gradients that are too long are clipped, others are not") {
    Settings set;
    set.clip = GENERATE(0.5f, 1e6f);
    grade_adamw(Numbers64(3, 2), set, "192 numbers, clip " + std::to_string(set.clip));
}

TEST_CASE("AdamW: without decay, other rates of the means, a large eps") {
    Settings set;
    set.decay = 0.0f;
    set.beta2 = GENERATE(0.0f, 0.999f);
    set.beta1 = set.beta2 == 0.0f ? 0.5f : 0.0f;
    set.eps = 0.25f;
    set.step = 3;
    grade_adamw(Numbers64(1, 3), set, "64 numbers");
}

TEST_CASE("AdamW: more numbers than all blocks have threads", "[large]") {
    grade_adamw(Numbers64(613, 4), {}, "39232 numbers");
}

TEST_CASE("AdamW: squares of gradients that float does not hold") {
    Settings set;
    grade_adamw(Numbers64(2, 5, 1e25f), set, "128 numbers of the size 1e25");
}

TEST_CASE("AdamW: no numbers, and a norm of 0") {
    Grader grade("adamw", "no numbers");
    AdamW a = {};
    a.parts = grade.output<double>("parts", {kNormParts});
    a.norm = grade.output<float>("norm", {1});
    a.step = 1;
    grade.run([&](cudaStream_t stream) { adamw(a, stream); });
    grade.expect("norm", {0.0}, [](int64_t) { return 0.0; });
}

TEST_CASE("AdamW: gradients that are not finite change nothing but the norm") {
    Numbers64 n(2, 6);
    const bool is_nan = GENERATE(true, false);
    n.gradients[100] = is_nan ? NAN : INFINITY;
    Grader grade("adamw", is_nan ? "a NaN" : "an infinity");
    AdamW a = {};
    a.elements = 128;
    a.weights = grade.in_out<float>("weights", {128}, n.weights);
    a.gradients = grade.input("gradients", n.gradients);
    a.first = grade.in_out<float>("first", {128}, n.first);
    a.second = grade.in_out<float>("second", {128}, n.second);
    a.decays = grade.input("decays", n.decays);
    a.parts = grade.output<double>("parts", {kNormParts});
    a.norm = grade.output<float>("norm", {1});
    a.step = 1;
    a.rate = 0.01f;
    grade.run([&](cudaStream_t stream) { adamw(a, stream); });
    const auto unchanged = [&](const char* name, const std::vector<float>& values) {
        grade.expect(
            name, Numbers(values.begin(), values.end()), [](int64_t) { return 0.0; });
    };
    unchanged("weights", n.weights);
    unchanged("first", n.first);
    unchanged("second", n.second);
    CHECK_FALSE(std::isfinite(grade.read("norm")[0]));
}

TEST_CASE("AdamW: calls have nothing in common") {
    wb::testing::expect_independent([] { grade_adamw(Numbers64(1, 7), {}, "one"); },
                                    [] { grade_adamw(Numbers64(2, 8), {}, "two"); },
                                    [] { grade_adamw(Numbers64(1, 13), {}, "three"); });
    wb::testing::on_another_device([] { grade_adamw(Numbers64(1, 7), {}, "one"); });
}
