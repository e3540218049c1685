// Grades day03-parallel-patterns/04-layernorm: what accesses cost.
#include "layernorm_cases.h"

#include <wb/testing/goal.h>
#include <wb/testing/simulator.h>
using namespace layernorm_cases;

namespace {

using wb::testing::Goal;

/// Misses a goal if more sectors are loaded than `times` those that hold x, or if a
/// load brings fewer than `bytes` bytes a lane.
template <class T>
void loads_at_most(const Goal& goal, const Sizes& s, double times, double bytes) {
    const double all = static_cast<double>(s.count()) * sizeof(T) / 32.0 * times;
    goal.loads_at_most(all, all / bytes);
}

/// The contract's function alone; x and y, and nothing else.
template <class T>
void grade_goal(Sizes s, bool is_centered) {
    s.has_gamma = s.has_beta = s.has_mean = s.has_rstd = false;
    const auto function = forward<T>(is_centered);
    grade_one<T>(
        function.name, function.call, is_centered, s, random_numbers(s), ", alone");
}

}  // namespace

TEST_CASE("neighbouring lanes have neighbouring columns", "[.][goal]") {
    const Goal goal("layer_norm");
    grade_goal<float>({16, 1024}, true);
    goal.moves_at_most(1.01);
}

TEST_CASE("rms_norm: each element is loaded twice, no more", "[.][goal]") {
    const Sizes s = {16, 1024};
    const Goal goal("rms_norm");
    grade_goal<float>(s, false);
    loads_at_most<float>(goal, s, 2.01, 4.0);
}

TEST_CASE("each element is loaded once, 16 bytes a lane", "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 64, 1024, 4096)};
    const Goal goal("layer_norm");
    grade_goal<float>(s, true);
    loads_at_most<float>(goal, s, 1.01, 16.0);
}

TEST_CASE("bf16: once, 16 bytes a lane", "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 1024, 4096)};
    const Goal goal("layer_norm_bf16");
    grade_goal<Bf16>(s, true);
    loads_at_most<Bf16>(goal, s, 1.01, 16.0);
}

TEST_CASE("gradients: dy and x are loaded once", "[.][goal][fast]") {
    const Sizes s = {64, 1024};
    const Goal goal("layer_norm_backward");
    const wb::testing::FewMultiprocessors few(1);
    Grader grade("layer_norm_backward", s.text() + ", zeros");
    const std::vector<float> zeros(at(s.count()), 0.0f);
    const float* const rows = grade.input("mean", std::vector<float>(64, 0.0f));
    const NormGradient<float> norm = {grade.input("dy", zeros),
                                      grade.input("x", zeros),
                                      nullptr,
                                      rows,
                                      rows,
                                      grade.output<float>("dx", {64, 1024}),
                                      nullptr,
                                      nullptr,
                                      64,
                                      1024};
    grade.run([&](cudaStream_t stream) { layer_norm_backward(norm, stream); });
    grade.expect("dx", std::vector<double>(zeros.begin(), zeros.end()), [](int64_t) {
        return 0.0;
    });
    // Each of four warps of a row loads its mean and its rstd as well.
    loads_at_most<float>(goal, {2 * s.rows, s.columns}, 1.13, 12.0);
}
