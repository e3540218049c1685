// Grades day07-tuning/09-fusion-case-study: diagnose() and add_norm().
#include "fusion_case_study.h"

#include <wb/launch.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/norms.h>
#include <wb/testing/other_device.h>
#include <wb/testing/random.h>
#include <wb/testing/refuses.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "decoder.h"

namespace {

using wb::testing::Begin;
using wb::testing::Grader;
using wb::testing::result_of;

// ---- diagnose() --------------------------------------------------------------------

const char* word(Verdict verdict) {
    const char* const words[] = {"unrelated", "between", "waits", "repeats", "fuses"};
    const auto number = static_cast<size_t>(verdict);
    return number < 5 ? words[number] : "no verdict";
}

/// "n, k", as StepArray names them.
std::string arrays(uint32_t mask) {
    const char* const names[] = {"x",
                                 "n",
                                 "q",
                                 "k",
                                 "v",
                                 "the cache",
                                 "mixed",
                                 "attention's delta",
                                 "the MLP's delta",
                                 "hidden",
                                 "logits",
                                 "the text"};
    std::string list;
    for (size_t bit = 0; bit < 32; ++bit) {
        if ((mask >> bit & 1) == 0) continue;
        if (!list.empty()) list += ", ";
        list += bit < std::size(names) ? names[bit] : "bit " + std::to_string(bit);
    }
    return list.empty() ? "nothing" : list;
}

std::string describe(const Diagnosis& d) {
    return std::string(word(d.verdict)) + ", stores " + arrays(d.stores) + ".";
}

/// Whether one of these two reads or writes what the other one writes.
bool meet(const StepInfo& a, const StepInfo& b) {
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const bool a_has = ((a.reads | a.writes) & bit) != 0;
        const bool b_has = ((b.reads | b.writes) & bit) != 0;
        const bool is_written = ((a.writes | b.writes) & bit) != 0;
        if (a_has && b_has && is_written) return true;
    }
    return false;
}

/// Whether anybody reads the array behind step second, before it is overwritten.
bool is_read_later(const std::vector<StepInfo>& steps,
                   uint32_t kept,
                   int second,
                   uint32_t bit) {
    for (size_t i = size_t(second) + 1; i < steps.size(); ++i) {
        if ((steps[i].reads & bit) != 0) return true;
        if ((steps[i].writes & bit) != 0) return false;
    }
    return (kept & bit) != 0;
}

/// The contract, with a list of all chains.
Diagnosis reference_diagnosis(const std::vector<StepInfo>& steps,
                              uint32_t kept,
                              int first,
                              int second) {
    const StepInfo& a = steps[size_t(first)];
    const StepInfo& b = steps[size_t(second)];
    if ((a.writes & b.reads) == 0) return {Verdict::unrelated, 0};
    const size_t count = steps.size();
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (size_t i = 0; i < count; ++i)
        for (size_t j = i + 1; j < count; ++j)
            reaches[i][j] = meet(steps[i], steps[j]);
    for (size_t k = 0; k < count; ++k)
        for (size_t i = 0; i < count; ++i)
            for (size_t j = 0; j < count; ++j)
                if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
    for (size_t k = size_t(first) + 1; k < size_t(second); ++k)
        if (reaches[size_t(first)][k] && reaches[k][size_t(second)])
            return {Verdict::between, 0};
    constexpr Verdict kYes = Verdict::fuses, kNo = Verdict::waits;
    constexpr Verdict kAgain = Verdict::repeats;
    const Verdict table[4][4] = {{kYes, kYes, kAgain, kYes},
                                 {kYes, kYes, kNo, kNo},
                                 {kYes, kYes, kNo, kNo},
                                 {kYes, kAgain, kAgain, kYes}};
    Diagnosis result = {table[size_t(a.spread)][size_t(b.spread)], 0};
    if (result.verdict == kNo) return result;
    for (uint32_t bit = 1; bit != 0; bit <<= 1)
        if (((a.writes | b.writes) & bit) != 0 &&
            is_read_later(steps, kept, second, bit))
            result.stores |= bit;
    return result;
}

void expect_diagnosis(const std::vector<StepInfo>& steps,
                      uint32_t kept,
                      int first,
                      int second,
                      const Diagnosis& wanted,
                      const std::string& of) {
    wb::testing::Verdict::instance().grades("diagnose");
    const auto count = static_cast<int>(steps.size());
    const Diagnosis got =
        result_of([&] { return diagnose(steps.data(), count, kept, first, second); });
    const std::string pair = of + ": step " + std::to_string(first) + ", " +
                             steps[size_t(first)].name + ", and step " +
                             std::to_string(second) + ", " + steps[size_t(second)].name;
    wb::testing::expect_report("diagnose", pair, describe(got), describe(wanted));
}

void grade_all_pairs(const std::vector<StepInfo>& steps,
                     uint32_t kept,
                     const std::string& of) {
    const auto count = static_cast<int>(steps.size());
    for (int first = 0; first < count; ++first)
        for (int second = first + 1; second < count; ++second)
            expect_diagnosis(steps,
                             kept,
                             first,
                             second,
                             reference_diagnosis(steps, kept, first, second),
                             of);
}

}  // namespace

TEST_CASE("the pairs of a sequential layer, by hand", "[first]") {
    const auto steps = steps_of(2, false);
    const auto expect = [&](int first, int second, Verdict verdict, uint32_t stores) {
        expect_diagnosis(steps, kCache, first, second, {verdict, stores}, "sequential");
    };
    expect(1, 6, Verdict::unrelated, 0);  // S0: the norm and the sum of its sub-layer
    expect(1, 2, Verdict::repeats, kQ | kK | kV);
    expect(2, 3, Verdict::fuses, kQ | kCache);
    expect(3, 4, Verdict::fuses, kCache | kMixed);
    expect(4, 5, Verdict::waits, 0);
    expect(5, 6, Verdict::fuses, kX);
    expect(6, 7, Verdict::fuses, kX | kN);
    expect(6, 10, Verdict::between, 0);
    expect(8, 9, Verdict::waits, 0);
    expect(10, 11, Verdict::fuses, kX | kN);
}

TEST_CASE("all pairs of real layers", "[first]") {
    grade_all_pairs(steps_of(2, false), kCache | kText, "sequential");
    grade_all_pairs(steps_of(2, true), kCache | kText, "parallel");
}

TEST_CASE("pairs of random steps", "[first]") {
    const auto seed = GENERATE(range(1u, 25u));
    wb::testing::Random random(seed);
    const int count = 2 + static_cast<int>(random.below(9));
    const int64_t apart = seed % 2 == 0 ? 1 : 5;  // bits 0 to 6, or 0 to 30
    std::vector<StepInfo> steps;
    const auto arrays = [&] {
        uint32_t mask = 0;
        for (int64_t i = random.below(3); i >= 0; --i)
            mask |= 1u << (random.below(8) == 0 ? 31 : apart * random.below(7));
        return mask;
    };
    for (int i = 0; i < count; ++i)
        steps.push_back(
            {"random", static_cast<Spread>(random.below(4)), arrays(), arrays()});
    grade_all_pairs(steps, arrays(), std::to_string(count) + " random steps");
}

TEST_CASE("a chain of thirty steps", "[first]") {
    // Step i gives array i + 1 to the next one. The last one takes array 0, too.
    std::vector<StepInfo> steps;
    for (uint32_t i = 0; i < 30; ++i)
        steps.push_back({"link", Spread::element, 1u << i, 2u << i});
    steps[0].writes |= 1u << 31;
    steps[29].reads |= 1u << 31;
    expect_diagnosis(steps, 0, 0, 29, {Verdict::between, 0}, "thirty steps");
    expect_diagnosis(steps, 1u << 30, 28, 29, {Verdict::fuses, 1u << 30}, "thirty");
    steps[15].writes = 1u << 15;  // the chain is broken
    expect_diagnosis(steps, 0, 0, 29, {Verdict::fuses, 0}, "thirty steps");
}

TEST_CASE("more steps than 12 bits count", "[first]") {
    // Step 5000 takes what 0 gives, and 5001 what both give; 5002 reads what 0 gives.
    std::vector<StepInfo> steps(5003, {"other", Spread::element, 1u << 5, 1u << 5});
    steps[0] = {"first", Spread::element, 1u << 6, 1};
    steps[5000] = {"middle", Spread::element, 1, 2};
    steps[5001] = {"last", Spread::element, 1 | 2, 4};
    steps[5002] = {"reader", Spread::element, 1, 8};
    expect_diagnosis(steps, 0, 0, 5001, {Verdict::between, 0}, "5003 steps");
    expect_diagnosis(steps, 2, 0, 5000, {Verdict::fuses, 1 | 2}, "5003 steps");
    expect_diagnosis(steps, 0, 4998, 4999, {Verdict::fuses, 0}, "5003 steps");
    steps[1] = {"second", Spread::element, 1, 16};
    expect_diagnosis(steps, 0, 0, 1, {Verdict::fuses, 1}, "5003 steps");
}

TEST_CASE("steps that do not exist are refused", "[first]") {
    using wb::testing::expect_refused;
    const auto steps = steps_of(1, false);
    const auto refused = [&](int count, int first, int second, const char* part) {
        expect_refused("diagnose", part, part, [&] {
            diagnose(steps.data(), count, 0, first, second);
        });
    };
    refused(5, -1, 2, "first is -1");
    refused(5, 2, 2, "second is 2");
    refused(5, 3, 2, "second is 2");
    refused(5, 3, 5, "second is 5");
    expect_refused("diagnose", "a spread of 4", "spread is 4", [] {
        const StepInfo wrong[] = {{"a", Spread::whole, 1, 1},
                                  {"b", static_cast<Spread>(4), 1, 1}};
        diagnose(wrong, 2, 0, 0, 1);
    });
    for (const int32_t spread : {4, -1})
        for (const size_t other : {0, 2, 4}) {
            const std::string part = "spread is " + std::to_string(spread);
            expect_refused("diagnose", part + ", of another step", part, [&] {
                std::vector<StepInfo> wrong(5, {"a", Spread::whole, 1, 1});
                wrong[other].spread = static_cast<Spread>(spread);
                diagnose(wrong.data(), 5, 0, 1, 3);
            });
        }
    expect_refused("diagnose", "no steps", "steps is 0", [] {
        diagnose(nullptr, 0 + 2, 0, 0, 1);
    });
}

// ---- add_norm() --------------------------------------------------------------------

namespace {

struct Row {
    std::vector<float> x, delta, gamma, beta;
    float eps = 1e-5f;

    int64_t width() const { return static_cast<int64_t>(x.size()); }
};

/// What has been counted before: more than 16 bits hold.
constexpr int32_t kCalls = 1'000'041;

Row random_row(int64_t width, uint64_t seed) {
    return {wb::testing::random_normal(width, seed),
            wb::testing::random_normal(width, seed + 1),
            wb::testing::random_normal(width, seed + 2),
            wb::testing::random_normal(width, seed + 3)};
}

void grade_row(const Row& row,
               const std::string& what,
               bool counts = true,
               Begin begin = Begin::anywhere) {
    const int64_t width = row.width();
    Grader grade("add_norm", "width = " + std::to_string(width) + what);
    float* x = grade.in_out<float>("x", {width}, row.x, begin);
    AddNorm call = {x,
                    grade.input("delta", row.delta, begin),
                    grade.input("gamma", row.gamma, begin),
                    grade.input("beta", row.beta, begin),
                    grade.output<float>("n", {width}, begin),
                    width,
                    row.eps,
                    nullptr};
    if (counts) call.calls = grade.in_out<int32_t>("calls", {1}, {kCalls});
    grade.run([&](cudaStream_t stream) { add_norm(call, stream); });

    std::vector<float> sum(row.x);
    for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += row.delta[i];
    const auto moments =
        wb::reference::row_moments(sum.data(), width, double{row.eps}, true);
    const wb::testing::RowBounds bounds(moments, width, double{row.eps}, true);
    std::vector<double> exact_x, exact_n, n_bound;
    for (size_t i = 0; i < sum.size(); ++i) {
        const double s = double{sum[i]};
        const double gamma = double{row.gamma[i]}, beta = double{row.beta[i]};
        exact_x.push_back(s);
        exact_n.push_back(wb::reference::normalized(s, moments, gamma, beta));
        const double bound = bounds.of_element(s, moments, gamma, beta);
        n_bound.push_back(wb::testing::norm_bound<float>(exact_n.back(), bound));
    }
    const auto exactly = [](int64_t) { return 0.0; };
    grade.expect("x", exact_x, exactly);
    grade.expect("n", exact_n, [&](int64_t i) { return n_bound[size_t(i)]; });
    if (counts) grade.expect("calls", {kCalls + 1.0}, exactly);
}

}  // namespace

TEST_CASE("a row of which the result is known", "[first]") {
    // x = 1, 3, so mean 2 and distances of 1; eps 3 makes rstd 1 / 2.
    grade_row({{0, 1}, {1, 2}, {2, 4}, {10, 20}, 3.0f}, ", x = 1 3");
}

TEST_CASE("rows of any width", "[first]") {
    const auto width = GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 96, 320, 1000);
    Row row = random_row(width, 5);
    row.x[0] = -row.delta[0];  // their sum is a number like any other
    grade_row(row, "");
}

TEST_CASE("rows that are wider than a block has threads", "[first]") {
    const auto width = GENERATE(as<int64_t>(), 1023, 1025, 2560, 5000, 8191, 8192);
    grade_row(random_row(width, 6), "");
}

TEST_CASE("nothing to add: the norm is computed all the same", "[first]") {
    Row row = random_row(64, 17);
    std::fill(row.delta.begin(), row.delta.end(), 0.0f);
    grade_row(row, ", delta = 0");
}

TEST_CASE("nobody counts the calls", "[first]") {
    grade_row(random_row(64, 7), ", calls = null", false);
}

TEST_CASE("eps counts where all numbers are nearly the same", "[first]") {
    Row row = random_row(64, 8);
    for (size_t i = 0; i < row.x.size(); ++i) {
        row.x[i] = i % 2 == 0 ? 0.002f : -0.003f;
        row.delta[i] = i % 3 == 0 ? 0.001f : 0.0f;
    }
    grade_row(row, ", numbers near 0.003");
    row.eps = 0.0f;
    grade_row(row, ", eps = 0");
    row.eps = 1.0f;
    grade_row(row, ", eps = 1");
}

TEST_CASE("tiny and huge numbers have a norm, too", "[first]") {
    for (const float size : {0x1p-40f, 0x1p40f}) {
        Row row = random_row(64, 13);
        for (size_t i = 0; i < row.x.size(); ++i) {
            row.x[i] *= size;
            row.delta[i] *= size;
        }
        row.eps = 0.0f;
        grade_row(row, size < 1.0f ? ", numbers near 2^-40" : ", numbers near 2^40");
    }
}

TEST_CASE("calls of add_norm have nothing in common", "[first]") {
    wb::testing::expect_independent([] { grade_row(random_row(64, 14), ""); },
                                    [] { grade_row(random_row(300, 15), ""); },
                                    [] { grade_row(random_row(64, 16), ""); });
    wb::testing::on_another_device([] { grade_row(random_row(64, 14), ""); });
}

TEST_CASE("a large mean costs its share of the digits once", "[first]") {
    Row row = random_row(300, 9);
    for (size_t i = 0; i < row.x.size(); ++i) {
        row.x[i] = 1000.0f + std::clamp(row.x[i], -1.0f, 1.0f);
        row.delta[i] = std::clamp(row.delta[i], -1.0f, 1.0f);
    }
    grade_row(row, ", mean about 1000");
}

TEST_CASE("a NaN or an infinity makes all of n NaN", "[first]") {
    const auto bad = GENERATE(std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity());
    Row row = random_row(70, 10);
    row.delta[40] = bad;
    row.gamma[3] = row.gamma[40] = 0.0f;  // 0 times NaN
    grade_row(row, ", delta[40] is not finite");
}

TEST_CASE("wrong arguments of add_norm are refused", "[first]") {
    using wb::testing::misaligned;
    Grader grade("add_norm", "wrong arguments");
    const Row row = random_row(64, 11);
    const AddNorm right = {grade.in_out<float>("x", {64}, row.x),
                           grade.input("delta", row.delta),
                           grade.input("gamma", row.gamma),
                           grade.input("beta", row.beta),
                           grade.output<float>("n", {64}),
                           64,
                           1e-5f,
                           grade.in_out<int32_t>("calls", {1}, {kCalls})};
    const wb::testing::Refuses<AddNorm> refuses{"add_norm", add_norm, right};
    refuses("width is 0", [](AddNorm& a) { a.width = 0; });
    refuses("width is 8193", [](AddNorm& a) { a.width = 8193; });
    refuses("eps is -1", [](AddNorm& a) { a.eps = -1.0f; });
    refuses("eps is nan", [](AddNorm& a) { a.eps = NAN; });
    refuses("x is", [](AddNorm& a) { a.x = nullptr; });
    refuses("delta is", [](AddNorm& a) { a.delta = nullptr; });
    refuses("gamma is", [](AddNorm& a) { a.gamma = misaligned(a.gamma); });
    refuses("beta is", [](AddNorm& a) { a.beta = nullptr; });
    refuses("n is", [](AddNorm& a) { a.n = nullptr; });
    refuses("n - x", [](AddNorm& a) { a.n = a.x; });
    refuses("delta - x", [](AddNorm& a) { a.delta = a.x; });
    refuses("n - gamma", [](AddNorm& a) { a.gamma = a.n; });
    refuses("eps is inf", [](AddNorm& a) { a.eps = INFINITY; });
    refuses("calls is", [](AddNorm& a) { a.calls = misaligned(a.calls); });
    refuses("calls - beta", [](AddNorm& a) {
        a.calls = reinterpret_cast<int32_t*>(const_cast<float*>(a.beta) + 63);
    });
    // Arrays of which one ends where the other one begins, but for an element.
    refuses("n - x", [](AddNorm& a) { a.width = 32, a.n = a.x + 31; });
    refuses("delta - x", [](AddNorm& a) { a.width = 32, a.delta = a.x + 31; });
    refuses("n - beta", [](AddNorm& a) { a.width = 32, a.beta = a.n + 31; });
    const std::vector<float> host(64);
    int32_t calls = 0;
    refuses("delta is a host pointer", [&](AddNorm& a) { a.delta = host.data(); });
    refuses("gamma is a host pointer", [&](AddNorm& a) { a.gamma = host.data(); });
    refuses("calls is a host pointer", [&](AddNorm& a) { a.calls = &calls; });
}

TEST_CASE("each number is loaded once", "[.][goal][first]") {
    const wb::testing::Goal goal("add_norm");
    grade_row(random_row(1024, 12), "", false, Begin::aligned);
    goal.moves_at_most(1.01);
    goal.loads_at_most(4 * 1024 / 8, 4 * 1024 / wb::kWarpSize);
}
