// Grades day03-parallel-patterns/01-reduction: the largest element, where it is, what
// is refused, arrays past 2^31 elements, and goals.
#include "reduction_cases.h"

#include <wb/check.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <bit>

using namespace reduction_cases;

namespace {

void grade_largest(const std::vector<float>& x, const std::string& text) {
    grade(kMax, x, max_of(x), text);
    grade(kArgMax, x, argmax_of(x), text);
}

}  // namespace

TEST_CASE("the largest element anywhere") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 33, 1027, 4100);
    const int place = GENERATE(0, 1, 2);
    std::vector<float> x(at(n), -3.0f);
    x[at(place == 0 ? 0 : place == 1 ? n / 2 : n - 1)] = -2.0f;
    grade_largest(x, "one is -2, all others are -3");
}

TEST_CASE("of equals, the first") {
    // In another lane, warp, block, item of a pack and round of a thread.
    const auto second = GENERATE(as<int64_t>(), 5, 6, 36, 260, 1028, 2000, 5002);
    std::vector<float> x(5003, 1.0f);
    x[4] = x[at(second)] = 2.0f;
    grade_largest(x, "2 at 4 and at " + std::to_string(second));
    std::vector<float> longer(20001, 1.0f);
    longer[100] = longer[at(16384 + second)] = 2.0f;
    grade_largest(longer, "2 at 100 and at 16384 + " + std::to_string(second));
    const std::vector<float> equal(3001, 1.5f);
    grade_largest(equal, "all are equal");
}

TEST_CASE("equals in whichever order threads run") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2);
    wb::testing::shuffle_threads(seed);
    grade_largest(whole_numbers<float>(4099, seed), "whole numbers");
    wb::testing::shuffle_threads(0);
}

TEST_CASE("zeros of both signs are equal") {
    std::vector<float> x(300, -1.0f);
    x[77] = -0.0f;
    x[200] = 0.0f;
    grade_largest(x, "-0 at 77, 0 at 200");
}

TEST_CASE("NaN wins, and the first of them is where it is") {
    auto x = whole_numbers<float>(3000, 1);
    x[1] = kInfinity;
    x[at(GENERATE(0, 2, 500, 2999))] = NAN;
    x[2998] = -NAN;
    grade_largest(x, "with NaN");
}

TEST_CASE("of two NaN, the first, though a lane before its own has the second") {
    const auto second = GENERATE(as<int64_t>(), 64, 96, 1023);
    std::vector<float> x(20001, 1.0f);
    x[100] = x[at(16384 + second)] = NAN;
    grade_largest(x, "NaN at 100 and at 16384 + " + std::to_string(second));
}

TEST_CASE("of two NaN, the first, whatever their other bits are") {
    std::vector<float> x(2003, 1.0f);
    x[100] = std::bit_cast<float>(GENERATE(0x7FC00001u, 0xFFC00001u));
    x[1500] = std::bit_cast<float>(GENERATE(0x7FFFFFFFu, 0xFFFFFFFFu));
    grade_largest(x, "NaN at 100 and at 1500");
}

TEST_CASE("infinities, and nothing above minus infinity") {
    auto x = whole_numbers<float>(1500, 2);
    x[1400] = kInfinity;
    grade_largest(x, "inf at 1400");
    const std::vector<float> lowest(at(GENERATE(as<int64_t>(), 1, 37, 2050)),
                                    -kInfinity);
    grade_largest(lowest, "all are -inf");
    std::vector<float> one_finite(2050, -kInfinity);
    one_finite[1030] = std::numeric_limits<float>::lowest();
    grade_largest(one_finite, "all but one are -inf");
}

TEST_CASE("the largest float is less than infinity") {
    std::vector<float> x(700, std::numeric_limits<float>::max());
    grade_largest(x, "all are the largest float");
    x[650] = kInfinity;
    grade_largest(x, "and one is inf");
}

TEST_CASE("tiny numbers are told apart") {
    std::vector<float> x(700, -0x1p-149f);
    x[650] = 0x1p-149f;
    x[651] = 0x1p-148f;
    grade_largest(x, "denormal numbers");
}

TEST_CASE("no elements: sums are zero, and are written") {
    const auto grade_empty = [](const auto& function, auto zero, auto element) {
        using R = decltype(zero);
        Grader grade(function.name, "n = 0");
        R* d_result = grade.output<R>("result", {1});
        unsigned* d_counter = grade.in_out("counter", {1}, std::vector<unsigned>{0});
        const decltype(element)* none = nullptr;
        grade.run([&](cudaStream_t s) {
            function.contract(none, d_result, 0, d_counter, s);
        });
        grade.expect("result", {0.0}, [](int64_t) { return 0.0; });
    };
    grade_empty(kSum, float{}, float{});
    grade_empty(kSumBf16, float{}, bf16{});
    grade_empty(kSumI32, int64_t{}, int32_t{});
}

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("reduce_sum", "wrong arguments");
    float* d = memory.output<float>("d", {16});
    unsigned* count = memory.in_out("counter", {2}, std::vector<unsigned>{0, 0});
    int64_t* d64 = memory.output<int64_t>("d64", {2});
    float host[8] = {};
    unsigned host_count = 0;
    const auto refused =
        [](const char* part, const float* x, float* result, int64_t n, unsigned* c) {
            wb::testing::expect_refused("reduce_sum", part, part, [&] {
                reduce_sum(x, result, n, c, nullptr);
            });
        };
    float* result = d + 12;
    refused("n is -1", d, result, -1, count);
    refused("2305843009213693952 * 4", d, result, int64_t{1} << 61, count);
    refused("x is a null pointer", nullptr, result, 8, count);
    refused("result is a null pointer", d, nullptr, 0, count);
    refused("counter is a null pointer", d, result, 8, nullptr);
    refused("x is a host pointer", host, result, 8, count);
    refused("result is a host pointer", d, host, 8, count);
    refused("counter is a host pointer", d, result, 8, &host_count);
    auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    refused("x is not aligned", odd, result, 8, count);
    refused("result is not aligned", d, odd, 0, count);
    refused("result - x in bytes is 28", d, d + 7, 8, count);
    refused("result - x in bytes is 0", d, d, 8, count);
    refused(
        "counter - x in bytes is 4", d, result, 8, reinterpret_cast<unsigned*>(d + 1));
    refused("counter - result in bytes is 0",
            d,
            result,
            8,
            reinterpret_cast<unsigned*>(result));
    // The largest of nothing, and what the other functions are called in messages.
    wb::testing::expect_refused("reduce_max", "n = 0", "reduce_max: n is 0", [&] {
        reduce_max(d, result, 0, count, nullptr);
    });
    wb::testing::expect_refused("reduce_argmax", "n = 0", "reduce_argmax: n is 0", [&] {
        reduce_argmax(d, d64, 0, count, nullptr);
    });
    wb::testing::expect_refused("reduce_sum_bf16", "n", "reduce_sum_bf16: n is", [&] {
        reduce_sum_bf16(reinterpret_cast<bf16*>(d), result, -5, count, nullptr);
    });
    wb::testing::expect_refused("reduce_sum_i32", "n", "reduce_sum_i32: n is", [&] {
        reduce_sum_i32(reinterpret_cast<int32_t*>(d), d64, -5, count, nullptr);
    });
}

TEST_CASE("a result right behind x, or right before it, is allowed") {
    const bool behind = GENERATE(false, true);
    const auto x = whole_numbers<float>(9, 3);
    const std::size_t from = behind ? 0 : 1;
    std::vector<float> both(10);
    std::copy(x.begin(), x.end(), both.begin() + static_cast<int>(from));
    std::vector<double> expected(both.begin(), both.end());
    expected[behind ? 9 : 0] = sum_of(x).value;
    Grader grade("reduce_sum", behind ? "result = x + n" : "result = x - 1");
    float* d = grade.in_out("both", {10}, both);
    unsigned* counter = grade.in_out("counter", {1}, std::vector<unsigned>{0});
    grade.run([&](cudaStream_t s) {
        reduce_sum(d + from, d + (behind ? 9 : 0), 9, counter, s);
    });
    grade.expect("both", expected, [](int64_t) { return 0.0; });
}

TEST_CASE("all work is queued on the caller's stream") {
    const int64_t n = GENERATE(0, 1000);
    Grader grade("reduce_sum", "n = " + std::to_string(n));
    const float* d_x = grade.input("x", std::vector<float>(1000, 1.0f));
    float* d_result = grade.output<float>("result", {1});
    unsigned* d_counter = grade.in_out("counter", {1}, std::vector<unsigned>{0});
    grade.expect_queued(
        [&](cudaStream_t s) { reduce_sum(d_x, d_result, n, d_counter, s); });
}

TEST_CASE("more than 2^31 elements", "[large][serial]") {
    Grader unsolved("reduce_sum", "n = 0");
    float* d_zero = unsolved.output<float>("result", {1});
    unsigned* d_count = unsolved.in_out("counter", {1}, std::vector<unsigned>{0});
    unsolved.run([&](cudaStream_t s) { reduce_sum(nullptr, d_zero, 0, d_count, s); });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 4099;
    wb::testing::LargeArrays large(kN, 1);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    for (const int64_t i : {int64_t{5}, int64_t{1} << 30, int64_t{1} << 31, kN - 2})
        large.set(i, 3.0f);
    const auto grade_large = [&](const auto& function, auto zero, double wanted) {
        using R = decltype(zero);
        for (const auto& [name, idea, call] : function.versions()) {
            Grader grade(name, "n = 2^31 + 4099, zeros but for four places");
            R* d_result = grade.output<R>("result", {1});
            unsigned* d_counter =
                grade.in_out("counter", {1}, std::vector<unsigned>{0});
            grade.run([&, call = call](cudaStream_t s) {
                call(large.x, d_result, kN, d_counter, s);
            });
            grade.expect("result", {wanted}, [](int64_t) { return 0.0; });
        }
    };
    grade_large(kSum, float{}, 12.0);
    CUDA_CHECK(cudaMemset(large.x, 0, (kN - 3) * sizeof(float)));
    grade_large(kArgMax, int64_t{}, static_cast<double>(kN - 2));
#endif
}

namespace {

constexpr int64_t kGoalElements = 1 << 14;

void grade_goal() {
    const auto x = numbers<float>(kGoalElements, 1);
    grade_one<float, float>("reduce_sum", kSum.contract, x, sum_of(x), "seed 1");
}

}  // namespace

TEST_CASE("each sector is read once, and no bank conflicts", "[.][goal]") {
    const wb::testing::Goal goal("reduce_sum");
    grade_goal();
    goal.moves_at_most(1.1);
    goal.conflicts_at_most(1.1);
}

TEST_CASE("16 bytes a load", "[.][goal][fast]") {
    const wb::testing::Goal goal("reduce_sum");
    grade_goal();
#ifdef SIMT_CPU
    const auto requests = simt::check::counters("").global_load.requests;
    // A warp loads 128 elements at a time; and the last block loads 16 partial sums.
    goal.require(requests <= kGoalElements / 128 + 1,
                 std::to_string(requests) + " loads of a warp, " +
                     std::to_string(kGoalElements / 128 + 1) + " would do");
#endif
}
