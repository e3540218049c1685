// Grades day03-parallel-patterns/07-losses: calls in the arrays of an earlier one, from
// which they differ in one number; the same bits; numbers and places of any kind.
#include "sampled_cases.h"

using namespace losses_cases;

TEST_CASE("draw: once more in the same array, with another seed or step") {
    const auto [seed, step] = GENERATE(table<uint64_t, uint64_t>({{8, 3}, {7, 4}}));
    std::vector<double> expected;
    for (uint64_t i = 0; i < 200; ++i)
        expected.push_back(wb::reference::draw_negative(seed, step, i, 1'000'003));
    for (const auto& [name, idea, call] : versions("draw_negatives", &draw_negatives)) {
        Grader grade(name, "as before but for seed or step");
        int32_t* const d_ids = grade.output<int32_t>("ids", {200});
        grade.run([&, launcher = call, last = std::pair(seed, step)](cudaStream_t s) {
            launcher(7, 3, d_ids, 200, 1'000'003, s);
            launcher(last.first, last.second, d_ids, 200, 1'000'003, s);
        });
        grade.expect("ids", expected, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("bce: once more in the same arrays, with another pos_weight") {
    const Floats logits = wb::testing::random_normal(70, 1);
    const Floats targets(70, 0.5f);
    const auto exact = wb::reference::bce_with_logits(logits, targets, {}, 3.0f);
    for (const auto& [name, idea, call] :
         versions("bce_with_logits", &bce_with_logits)) {
        Grader grade(name, "as before but for pos_weight");
        const float* const d_logits = grade.input("logits", logits);
        const float* const d_targets = grade.input("targets", targets);
        float* const d_loss = grade.output<float>("loss", {1});
        grade.run([&, launcher = call](cudaStream_t s) {
            for (const float pos_weight : {1.0f, 3.0f})
                launcher({d_logits, d_targets, nullptr, pos_weight, 70}, d_loss, s);
        });
        grade.expect("loss", {exact.value}, [&](int64_t) {
            return float_bound(24.0 + 40.0, exact.magnitude);
        });
    }
}

TEST_CASE("l2: once more in the same arrays, with another eps") {
    const Floats x = wb::testing::random_normal(5 * 30, 1);
    const auto exact = wb::reference::l2_normalize(x, 5, 30, 50.0f);
    for (const auto& [name, idea, call] : versions("l2_normalize", &l2_normalize)) {
        Grader grade(name, "as before but for eps");
        const float* const d_x = grade.input("x", x);
        float* const d_y = grade.output<float>("y", {5, 30});
        float* const d_norms = grade.output<float>("norms", {5});
        grade.run([&, launcher = call](cudaStream_t s) {
            for (const float eps : {kEps, 50.0f})
                launcher(d_x, d_y, d_norms, {5, 30, eps}, s);
        });
        grade.expect("y", exact.y, [&](int64_t i) {
            return 1e-6 * std::abs(exact.y[at(i)]) + kSmallestFloat;
        });
    }
}

TEST_CASE("gradients once more in the same arrays, with another eps, or log_q") {
    const Rows s = {5, 30};
    const Floats x = wb::testing::random_normal(5 * 30, 1);
    const Floats dy = wb::testing::random_normal(5 * 30, 2);
    grade_l2_backward(s, x, dy, ", as before but for eps", 0.1f, true);
    grade_sampled_backward(random_sampled({5, 4, 40, true}, 7),
                           ", as before but for log_q",
                           1.5f,
                           0,
                           true);
}

TEST_CASE("l2: an eps below the smallest normal number is not 0") {
    const Rows s = {3, GENERATE(as<int64_t>(), 5, 64)};
    Floats x = wb::testing::random_normal(s.rows * s.columns, 1);
    std::fill_n(x.begin(), s.columns, 0.0f);
    grade_l2(s, x, ", a row of zeros, eps 1e-40", 1e-40f);
}

TEST_CASE("a gradient of the loss that is NaN or infinite reaches all gradients") {
    const float grad_loss = GENERATE(kNan, kInfinity, -kInfinity);
    Bce bce;
    bce.logits = wb::testing::random_normal(33, 1);
    bce.targets = Floats(33, 0.25f);
    grade_bce_backward(bce, ", grad_loss " + std::to_string(grad_loss), grad_loss);
    Sampled p;
    p.positive = wb::testing::random_normal(3, 2);
    p.negative = wb::testing::random_normal(3 * 7, 3);
    p.positive_ids = {100, 101, 102};
    p.negative_ids = {0, 1, 2, 3, 4, 5, 6};
    p.offsets = {0, 3};
    grade_sampled_backward(p, ", grad_loss " + std::to_string(grad_loss), grad_loss);
}

TEST_CASE("sampled: items may have any number, negative ones too") {
    constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    Sampled p;
    p.positive_ids = {-1, kLeast, kMost, 0, -7};
    p.negative_ids = {kMost, -1, 0, kLeast, -7, -1, 5, kLeast + 1, 7};
    p.positive = wb::testing::random_normal(5, 1);
    p.negative = wb::testing::random_normal(5 * 9, 2);
    p.offsets = {0, 5};
    grade_sampled(p, ", items below 0");
    grade_sampled_backward(p, ", items below 0");
}

TEST_CASE("sampled: one array begins later than the others") {
    const Sampled p = random_sampled({6, 5, 64, true}, 3);
    const int number = GENERATE(range(1, kNumberOfArrays + 1));
    grade_sampled(p, "", -number);
    grade_sampled_backward(p, "", 1.5f, -number);
}

TEST_CASE("sampled: the same bits, in any order of threads and blocks") {
    Sampled p = random_sampled({140, 137, 3}, 4);
    for (size_t r = 0; r < 137; r += 3)
        p.positive[r] -= 1000.0f;  // losses of which sums lose the others' digits
    grade_sampled(p, ", some losses are large", 0, true);
}
