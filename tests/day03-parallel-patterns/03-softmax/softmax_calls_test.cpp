// Grades day03-parallel-patterns/03-softmax: arguments, long arrays, costs of accesses.
#include "softmax_cases.h"

#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <algorithm>

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("softmax", "wrong arguments");
    float* const d = memory.output<float>("d", {64});
    float host[8] = {};
    const auto refuse = [](const char* part, auto... arguments) {
        wb::testing::expect_refused(
            "softmax", part, part, [&] { softmax(arguments..., nullptr); });
    };
    constexpr int64_t kHuge = int64_t{1} << 61;
    float* const null = nullptr;
    auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(d) + 2);
    refuse("rows is -1", d, d, -1, 4);
    refuse("columns is -1", d, d, 4, -1);
    refuse("rows is -1", d, d, -1, 0);
    refuse("columns is -7", d, d, 0, -7);
    refuse("rows is 2147483648", d, d, int64_t{1} << 31, 1);
    refuse("2 * 2305843009213693952 * 4", d, d, 2, kHuge);
    refuse("x is a null pointer", null, d, 2, 4);
    refuse("y is a null pointer", d, null, 2, 4);
    refuse("x is a host pointer", host, d, 2, 4);
    refuse("y is a host pointer", d, host, 2, 4);
    refuse("x is not aligned", odd, d + 32, 2, 4);
    refuse("y is not aligned", d, odd + 32, 2, 4);
    refuse("y - x in bytes is 28", d, d + 7, 2, 4);
    refuse("y - x in bytes is -28", d + 7, d, 2, 4);
    refuse("y - x in bytes is 4", d, d + 1, 2, 4);
}

TEST_CASE("wrong arguments of softmax_bf16 are refused by name") {
    Grader memory("softmax_bf16", "wrong arguments");
    Bf16* const d = memory.output<Bf16>("d", {64});
    Bf16 host[8] = {};
    const auto refuse = [](const char* part, auto... arguments) {
        wb::testing::expect_refused(
            "softmax_bf16", part, part, [&] { softmax_bf16(arguments..., nullptr); });
    };
    constexpr int64_t kHuge = int64_t{1} << 62;
    Bf16* const null = nullptr;
    auto* const odd = reinterpret_cast<Bf16*>(reinterpret_cast<char*>(d) + 1);
    refuse("rows is -1", d, d, -1, 4);
    refuse("columns is -1", d, d, 4, -1);
    refuse("rows is 2147483648", d, d, int64_t{1} << 31, 1);
    refuse("1 * 4611686018427387904 * 2", d, d, 1, kHuge);
    refuse("x is a null pointer", null, d, 2, 4);
    refuse("y is a host pointer", d, host, 2, 4);
    refuse("x is not aligned", odd, d + 32, 2, 4);
    refuse("y - x in bytes is 14", d, d + 7, 2, 4);
    refuse("y - x in bytes is -2", d + 1, d, 2, 4);
}

namespace {

/// x and y in one array, the one right behind the other.
template <class T>
void grade_neighbours(bool y_first) {
    constexpr int64_t kCount = 3 * 21;
    auto numbers = wb::testing::random_normal(2 * kCount, 1);
    for (float& number : numbers)
        number = static_cast<float>(T(0.01f * number));
    const size_t x_from = y_first ? kCount : 0;
    const size_t y_from = kCount - x_from;
    const std::vector<float> x(numbers.begin() + static_cast<int64_t>(x_from),
                               numbers.begin() + static_cast<int64_t>(x_from) + kCount);
    const auto exact = wb::reference::softmax(x, 3, 21);
    std::vector<double> expected(numbers.begin(), numbers.end());
    std::copy(exact.y.begin(),
              exact.y.end(),
              expected.begin() + static_cast<int64_t>(y_from));
    Grader grade(Contract<T>::kName, y_first ? "x = y + count" : "y = x + count");
    T* const d = grade.in_out("both", {2 * kCount}, wb::testing::rounded<T>(numbers));
    grade.run([&](cudaStream_t stream) {
        Contract<T>::kFunction(d + x_from, d + y_from, 3, 21, stream);
    });
    grade.expect("both", expected, [&](int64_t i) {
        const auto place = static_cast<size_t>(i) - y_from;
        return place < exact.y.size() ? bound_of<T>(exact, 21, place) : 0.0;
    });
}

}  // namespace

TEST_CASE("y right behind x, or right before it, is allowed") {
    const bool y_first = GENERATE(false, true);
    grade_neighbours<float>(y_first);
    grade_neighbours<Bf16>(y_first);
}

TEST_CASE("more than 2^31 elements: narrow rows, and wide ones", "[large][serial]") {
    Grader("softmax", "rows 0").expect_no_work([](cudaStream_t stream) {
        softmax(nullptr, nullptr, 0, 1, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 elements are too much for the simulator");
#else
    constexpr int64_t kNarrow = 100;
    constexpr int64_t kWide = int64_t{1} << 20;
    constexpr int64_t kCount = 2050 * kWide;
    static_assert(kCount % kNarrow == 0, "whole rows");
    wb::testing::LargeArrays large(kCount, kCount);
    if (!large.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    // Each of these is e^30 beside ones: in its row, or in a row of all there are.
    const std::vector<int64_t> places = {7, int64_t{1} << 30, kCount - 1};
    for (const int64_t place : places)
        large.set(place, 30.0f);
    const auto versions = wb::implementations("softmax", softmax);
    for (const auto& [name, idea, launcher] : versions)
        large.expect(name, "rows of 100", places, {1, 1, 1}, [&](auto stream) {
            launcher(large.x, large.y, kCount / kNarrow, kNarrow, stream);
        });
    large.expect("softmax", "rows of 2^20", places, {1, 1, 1}, [&](auto stream) {
        softmax(large.x, large.y, kCount / kWide, kWide, stream);
    });
    if (versions.size() == 1) return;  // a warp alone would take minutes for the next
    const double share =
        1.0 / (3.0 + static_cast<double>(kCount - 3) * std::exp(-30.0));
    const std::vector<double> shares(3, share);
    large.expect("softmax", "one row", places, shares, [&](auto stream) {
        softmax(large.x, large.y, 1, kCount, stream);
    });
#endif
}

namespace {

using wb::testing::Goal;

/// Misses a goal if more sectors are loaded than `times` those that hold all elements,
/// or if a load brings fewer than `bytes` bytes a lane.
template <class T>
void loads_at_most(const Goal& goal, const Sizes& s, double times, double bytes) {
#ifdef SIMT_CPU
    const auto loads = simt::check::counters("").global_load;
    const double all = static_cast<double>(s.count()) * sizeof(T);
    const double sectors = all / 32.0 * times;
    const double requests = all / 32.0 / bytes * times;
    goal.require(static_cast<double>(loads.sectors) <= sectors,
                 std::to_string(loads.sectors) + " sectors are loaded, " +
                     std::to_string(std::lround(sectors)) + " would do");
    goal.require(static_cast<double>(loads.requests) <= requests,
                 std::to_string(loads.requests) + " loads of a warp, " +
                     std::to_string(std::lround(requests)) + " would do");
#else
    (void)goal, (void)s, (void)times, (void)bytes;
#endif
}

/// The contract's function alone.
template <class T>
void grade_goal(const Sizes& s) {
    grade_one<T>(Contract<T>::kName,
                 Contract<T>::kFunction,
                 s,
                 random_numbers(s, true, 1),
                 ", even, seed 1");
}

}  // namespace

TEST_CASE("neighbouring lanes have neighbouring columns", "[.][goal]") {
    const Goal goal("softmax");
    grade_goal<float>({16, 1024});
    goal.moves_at_most(1.01);
}

TEST_CASE("bf16: each element is loaded twice, no more", "[.][goal]") {
    const Sizes s = {16, 1024};
    const Goal goal("softmax_bf16");
    grade_goal<Bf16>(s);
    loads_at_most<Bf16>(goal, s, 2.01, 2.0);
}

TEST_CASE("each element is loaded once, 16 bytes a lane", "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 1024, 4096)};
    const Goal goal("softmax");
    grade_goal<float>(s);
    loads_at_most<float>(goal, s, 1.01, 16.0);
}

TEST_CASE("bf16: once, 16 bytes a lane", "[.][goal][fast]") {
    const Sizes s = {4, GENERATE(as<int64_t>(), 1024, 4096)};
    const Goal goal("softmax_bf16");
    grade_goal<Bf16>(s);
    loads_at_most<Bf16>(goal, s, 1.01, 16.0);
}

TEST_CASE("rows of an odd number of columns: hardly more", "[.][goal][fast]") {
    // 1021 floats: a row's 255 vectors in 8 loads of a warp, and one for its edges.
    const Sizes s = {4, 1021};
    const Goal goal("softmax");
    grade_goal<float>(s);
    loads_at_most<float>(goal, s, 1.15, 16.0);
}
