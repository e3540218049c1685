// Grades day03-parallel-patterns/07-losses: binary cross entropy from logits.
#include "losses_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace losses_cases;

namespace {

/// Logits with outliers; targets of 0, 1 and between.
Bce random_bce(int64_t n, bool weights, float pos_weight = 1.0f, uint64_t seed = 1) {
    wb::testing::Random random(seed);
    Bce p;
    p.logits = wb::testing::random_normal(n, seed);
    p.pos_weight = pos_weight;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t kind = random.below(3);
        p.targets.push_back(kind < 2 ? static_cast<float>(kind)
                                     : static_cast<float>(random.uniform()));
        if (weights) p.weights.push_back(static_cast<float>(2.0 * random.uniform()));
    }
    return p;
}

void grade_answers(const Bce& p, const std::string& what = "") {
    grade_bce(p, what);
    if (p.n() > 0) grade_bce_backward(p, what, 1.5f);
}

std::vector<wb::testing::Combination> edges_of_bce() {
    auto cases = wb::testing::Covering()
                     .factor("n", {1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1021})
                     .factor("from", {0, 1, 3, 4})
                     .factor("others from", {0, 1, 2, 4})
                     .factor("weights", {"none", "some"})
                     .factor("yes counts", {"1", "2.5", "0"})
                     .cases();
    if (wb::testing::is_watched()) cases.erase(cases.begin() + 6, cases.end());
    return cases;
}

/// n elements of which all are alike.
Bce all_alike(int64_t n, float logit, float target) {
    Bce p;
    p.logits = Floats(at(n), logit);
    p.targets = Floats(at(n), target);
    return p;
}

}  // namespace

TEST_CASE("bce: edges meet") {
    static const auto cases = edges_of_bce();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const float counts[] = {1.0f, 2.5f, 0.0f};
            Bce p = random_bce(c["n"], c["weights"] == 1, counts[c["yes counts"]]);
            p.from = c["from"];
            p.other = c["others from"];
            grade_answers(p);
        }
}

TEST_CASE("bce: many elements, and sizes around those of a tile") {
    const int64_t n = GENERATE(as<int64_t>(), 8191, 8192, 8193, 8196, 20'011);
    if (wb::testing::is_watched() && n > 8200) return;
    grade_answers(random_bce(n, n % 2 == 0));
}

TEST_CASE("bce: more elements than there are threads at once") {
    if (wb::testing::is_watched()) return;
    grade_bce(random_bce(300'007, true), "");
    const ContractAlone alone;
    grade_bce_backward(random_bce(140'001, true), "");
}

TEST_CASE("bce: logits of any size give a finite loss, and tiny ones keep digits") {
    const float logit =
        GENERATE(1e-30f, 1.0f, 16.5f, 20.0f, 60.0f, 87.0f, 88.5f, 100.0f, 3e4f, 3e37f);
    const float target = GENERATE(0.0f, 1.0f, 0.25f);
    for (const float sign : {1.0f, -1.0f}) {
        const Bce p = all_alike(5, sign * logit, target);
        grade_answers(p,
                      ", logit " + std::to_string(sign * logit) + ", target " +
                          std::to_string(target));
    }
}

TEST_CASE("bce: infinities and NaN, as the formula says") {
    const float logit = GENERATE(kInfinity, -kInfinity, kNan, -0.0f, 1e-40f);
    const float target = GENERATE(0.0f, 1.0f, 0.5f);
    Bce p = random_bce(40, false);
    p.logits[17] = logit;
    p.targets[17] = target;
    grade_answers(p, ", one logit " + std::to_string(logit));
}

TEST_CASE("bce: a NaN among targets or weights is seen") {
    Bce p = random_bce(70, true);
    GENERATE(0, 1) == 0 ? p.targets[69] = kNan : p.weights[3] = kNan;
    grade_answers(p, ", a NaN");
}

TEST_CASE("bce: weights of 0, large and negative ones") {
    Bce p = random_bce(50, true);
    for (int64_t i = 0; i < p.n(); ++i)
        p.weights[at(i)] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 1e4f : -0.5f;
    grade_answers(p, ", such weights");
}

TEST_CASE("bce: the gradient of the loss scales the gradient") {
    const float grad_loss = GENERATE(0.0f, -2.0f, 65536.0f, 1e-6f);
    grade_bce_backward(random_bce(33, true), "", grad_loss);
}

TEST_CASE("bce: the same bits in whatever order blocks run") {
    if (wb::testing::is_watched()) return;
    Bce p = random_bce(30'000, true);  // of both signs: what is rounded away is seen
    for (int64_t i = 0; i < p.n(); ++i)
        p.weights[at(i)] = (i / 256 % 2 == 0 ? 1e3f : -1e3f) * p.weights[at(i)];
    for (const auto& [name, idea, call] :
         wb::implementations("bce_with_logits", &bce_with_logits)) {
        std::vector<double> first;
        for (const unsigned seed : {0u, 1u, 2u, 3u, 4u, 5u}) {
            Grader grade(name, p.text() + ", order " + std::to_string(seed));
            const BceInput in = p.on(grade);
            float* d_loss = grade.output<float>("loss", {1});
            wb::testing::shuffle_threads(seed);
            grade.run([&, call = call](cudaStream_t s) { call(in, d_loss, s); });
            wb::testing::shuffle_threads(0);
            if (first.empty()) first = grade.read("loss");
            grade.expect("loss", first, [](int64_t) { return 0.0; });
        }
    }
}

TEST_CASE("bce: nothing is kept from call to call") {
    wb::testing::expect_independent(
        [] { grade_answers(random_bce(300, true)); },
        [] { grade_answers(random_bce(90, false, 2.0f)); },
        [] { grade_answers(random_bce(300, true, 1.0f, 2)); });
}

TEST_CASE("bce: the mean of nothing is 0, and has no gradient") {
    grade_bce(Bce{}, ", nothing");
    Grader("bce_with_logits_backward", "n = 0").expect_no_work([](cudaStream_t s) {
        bce_with_logits_backward(
            {nullptr, nullptr, nullptr, 1.0f, 0}, nullptr, nullptr, s);
    });
}
