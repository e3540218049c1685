// Grades day07-tuning/02-profiling: numbers that must not spread, arrays that begin
// anywhere, and more rows than a grid has along y.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "profiling.h"
#include "reference.h"

namespace {

using wb::testing::Begin;
using wb::testing::random_normal;

/// One call on x, which gives as many numbers as `right` has. NaN and infinity are
/// wanted as they are.
template <class Call>
void expect_right(const char* name,
                  const std::string& inputs,
                  Reference right,
                  const std::vector<float>& x,
                  Begin begin,
                  Call call) {
    for (size_t i = 0; i < right.values.size(); ++i)
        if (!std::isfinite(right.values[i])) right.bounds[i] = 0.0;
    wb::testing::Grader grade(name, inputs);
    const float* d_x = grade.input("x", x, begin);
    float* d_y =
        grade.output<float>("y", {static_cast<int64_t>(right.values.size())}, begin);
    grade.run([&](cudaStream_t s) { call(d_x, d_y, s); });
    grade.expect("y", right.values, [&](int64_t i) {
        return right.bounds[static_cast<size_t>(i)];
    });
}

/// Numbers among which there are a large one, an infinity and, if wanted, a NaN, each
/// far from the others.
std::vector<float> with_specials(int64_t n, float large, bool has_nan) {
    auto x = random_normal(n, 11);
    const auto at = [&](int64_t place) -> float& {
        return x[static_cast<size_t>(place)];
    };
    at(n / 5) = large;
    at(2 * n / 5) = -std::numeric_limits<float>::infinity();
    at(3 * n / 5) = std::numeric_limits<float>::infinity();
    if (has_nan) at(4 * n / 5) = std::numeric_limits<float>::quiet_NaN();
    return x;
}

/// The six on arrays that begin where floats may.
void grade_anywhere(int64_t n, Begin begin) {
    const std::string inputs = std::to_string(n) + " elements, arrays begin anywhere";
    const auto x = random_normal(n, 12);
    expect_right("mended_a", inputs, reference_a(5, x), x, begin, [=](auto... of) {
        mended_a(n, 5, of...);
    });
    expect_right("mended_b", inputs, reference_b(9, x), x, begin, [=](auto... of) {
        mended_b(n, 9, of...);
    });
    const auto scale = random_normal(32, 13);
    wb::testing::Grader memory("mended_c", inputs);
    const float* d_scale = memory.input("scale", scale, begin);
    const std::vector<float> rows(x.begin(), x.begin() + n / 32 * 32);
    expect_right(
        "mended_c", inputs, reference_c(scale, rows), rows, begin, [=](auto... of) {
            mended_c(n / 32, 32, d_scale, of...);
        });
    const std::vector<float> two(x.begin(), x.begin() + n / 2 * 2);
    expect_right(
        "mended_d", inputs, reference_d(n / 2, two), two, begin, [=](auto... of) {
            mended_d(2, n / 2, of...);
        });
    for (const bool variance : {false, true})
        expect_right(
            "mended_e", inputs, reference_e(variance, x), x, begin, [=](auto... of) {
                mended_e(n - kWindow + 1, variance, of...);
            });
    expect_right(
        "mended_f", inputs, reference_f(32, 0.7f, rows), rows, begin, [=](auto... of) {
            mended_f(n / 32, 32, 0.7f, of...);
        });
}

}  // namespace

TEST_CASE("arrays begin anywhere") {
    // e has kWindow - 1 more of x: with 1184, it has 1024 of y.
    grade_anywhere(GENERATE(as<int64_t>(), 1024, 1184), Begin::anywhere);
}

TEST_CASE("infinity, NaN and large numbers stay where they belong") {
    constexpr int64_t kN = 2000;
    const auto calm = with_specials(kN, 1e30f, false);
    expect_right("mended_a",
                 "infinities, and 1e30",
                 reference_a(4, calm),
                 calm,
                 Begin::aligned,
                 [](auto... of) { mended_a(kN, 4, of...); });
    const auto x = with_specials(kN, 1e30f, true);
    const std::string inputs = "infinities, NaN, and 1e30";
    for (const int64_t radius : {0, 5, 100})
        expect_right("mended_b",
                     inputs + ", radius " + std::to_string(radius),
                     reference_b(radius, x),
                     x,
                     Begin::aligned,
                     [=](auto... of) { mended_b(kN, radius, of...); });
    const std::vector<float> scale = {
        0.0f, 1.0f, -2.0f, 0.0f, std::numeric_limits<float>::infinity()};
    wb::testing::Grader memory("mended_c", inputs);
    const float* d_scale = memory.input("scale", scale);
    expect_right("mended_c",
                 inputs + ", scales of 0 and infinity",
                 reference_c(scale, x),
                 x,
                 Begin::aligned,
                 [=](auto... of) { mended_c(kN / 5, 5, d_scale, of...); });
    expect_right(
        "mended_d", inputs, reference_d(100, x), x, Begin::aligned, [](auto... of) {
            mended_d(kN / 100, 100, of...);
        });
    const auto less = with_specials(kN, 1e15f, true);
    for (const bool variance : {false, true})
        expect_right("mended_e",
                     variance ? "variance, infinities, NaN, and 1e15"
                              : "change, infinities, NaN, and 1e15",
                     reference_e(variance, less),
                     less,
                     Begin::aligned,
                     [=](auto... of) { mended_e(kN - kWindow + 1, variance, of...); });
    for (const float keep : {0.0f, 0.5f})
        expect_right("mended_f",
                     inputs,
                     reference_f(20, keep, x),
                     x,
                     Begin::aligned,
                     [=](auto... of) { mended_f(kN / 20, 20, keep, of...); });
}

TEST_CASE("more rows, and more columns, than 65535") {
    constexpr int64_t kRows = 66'000;
    const auto x = random_normal(kRows * 2, 14);
    const auto scale = random_normal(2, 15);
    wb::testing::Grader memory("mended_c", "66000 rows");
    const float* d_scale = memory.input("scale", scale);
    expect_right("mended_c",
                 "66000 rows of 2",
                 reference_c(scale, x),
                 x,
                 Begin::aligned,
                 [=](auto... of) { mended_c(kRows, 2, d_scale, of...); });
    expect_right("mended_f",
                 "66000 rows of 2",
                 reference_f(2, 0.25f, x),
                 x,
                 Begin::aligned,
                 [](auto... of) { mended_f(kRows, 2, 0.25f, of...); });
    const auto scales = random_normal(kRows * 2, 16);
    const float* d_scales = memory.input("scales", scales);
    expect_right("mended_c",
                 "132000 columns",
                 reference_c(scales, x),
                 x,
                 Begin::aligned,
                 [=](auto... of) { mended_c(1, kRows * 2, d_scales, of...); });
}
