// Grades day03-parallel-patterns/05-add-layernorm: how many launches there are, and
// what accesses cost.
#include "add_layernorm_cases.h"

#include <wb/testing/goal.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace add_layernorm_cases;

namespace {

using wb::testing::Goal;

/// Misses a goal if there is more than one launch, or if more sectors are loaded than
/// `matrices` matrices have, or if a load brings fewer than `bytes` bytes a lane.
template <class T>
void costs_at_most(const Goal& goal, const Sizes& s, double matrices, double bytes) {
#ifdef SIMT_CPU
    const auto counted = simt::check::counters("");
    const double all = static_cast<double>(s.count()) * sizeof(T) * matrices / 32.0;
    goal.require(counted.launches == 1,
                 std::to_string(counted.launches) + " launches, not one");
    goal.loads_at_most(all, all / bytes);
#else
    (void)goal, (void)s, (void)matrices, (void)bytes;
#endif
}

/// The contract's function alone.
void grade_goal(Sizes s, int64_t number) {
    s.has_mean = s.has_rstd = false;
    with_function(number, [&]<class T>(const Function<T>& f) {
        grade_one<T>(f.name, f.call, f.what, s, random_numbers(s), ", alone");
    });
}

}  // namespace

TEST_CASE("the sum and the norm are one launch", "[.][goal]") {
    const Goal goal("add_layernorm");
    const Sizes s = {16, 1024};
    grade_goal(s, 0);
    goal.moves_at_most(1.01);
    costs_at_most<float>(goal, s, 7.1, 4.0);  // x, other, h three times, gamma, beta
}

TEST_CASE("the norm and the sum are one launch", "[.][goal]") {
    const Goal goal("layernorm_add");
    const Sizes s = {16, 1024};
    grade_goal(s, 3);
    goal.moves_at_most(1.01);
    costs_at_most<float>(goal, s, 6.1, 4.0);
}

TEST_CASE("add_layernorm: each element is loaded once, 16 bytes a lane",
          "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 64, 1024, 4096)};
    const Goal goal("add_layernorm");
    const wb::testing::FewMultiprocessors few(GENERATE(1, 132));
    grade_goal(s, 0);
    costs_at_most<float>(goal, s, 4.01, 16.0);  // gamma and beta are loaded a row, too
}

TEST_CASE("bf16: once, 16 bytes a lane", "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 1024, 4096)};
    const Goal goal("layernorm_add_bf16");
    grade_goal(s, 5);
    costs_at_most<Bf16>(goal, s, 4.01, 16.0);
}

TEST_CASE("one row: no thread has more than one vector", "[.][goal][fast]") {
    const Sizes s = {1, 4096};
    const Goal goal("add_layernorm");
    grade_goal(s, 0);
#ifdef SIMT_CPU
    const auto warps = simt::check::counters("").warps;
    goal.require(warps >= 32,
                 std::to_string(warps) + " warps have 4096 columns; 32 would do");
#endif
}

TEST_CASE("gradients: dy, x and mul are loaded once", "[.][goal][fast]") {
    const int64_t rows = 64;
    const int64_t columns = 1024;
    const Sizes s = {rows, columns};
    const Goal goal("norm_mul_dropout_backward");
    const wb::testing::FewMultiprocessors few(1);
    Grader grade("norm_mul_dropout_backward", s.text() + ", zeros");
    const Floats zeros(at(s.count()), 0.0f);
    FusedNormGradient<float> norm = {};
    norm.dy = {grade.input("dy", zeros), columns};
    norm.x = {grade.input("x", zeros), columns};
    norm.mul = {grade.input("mul", zeros), columns};
    norm.gamma = norm.beta = grade.input("gamma", Floats(at(columns), 0.0f));
    norm.mean = norm.rstd = grade.input("mean", Floats(at(rows), 0.0f));
    norm.dx = {grade.output<float>("dx", {rows, columns}), columns};
    norm.dmul = {grade.output<float>("dmul", {rows, columns}), columns};
    norm.rows = rows;
    norm.columns = columns;
    grade.run([&](cudaStream_t stream) { norm_mul_dropout_backward(norm, stream); });
    for (const char* const name : {"dx", "dmul"})
        grade.expect(name,
                     std::vector<double>(zeros.begin(), zeros.end()),
                     [](int64_t) { return 0.0; });
    // Three matrices; gamma twice and beta once a row; and mean and rstd for each warp.
    costs_at_most<float>(goal, s, 6.2, 14.0);
}
