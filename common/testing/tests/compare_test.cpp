#include <wb/testing/catch.h>
#include <wb/testing/compare.h>

#include <cmath>
#include <limits>

namespace {

using wb::testing::Comparison;
using wb::testing::Observed;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Comparison compare(const std::vector<double>& got,
                   const std::vector<double>& expected,
                   double bound) {
    const Observed observed{"c",
                            {static_cast<std::int64_t>(got.size())},
                            got,
                            std::vector<bool>(got.size(), false)};
    return wb::testing::compare(
        observed, expected, [=](std::int64_t) { return bound; });
}

}  // namespace

TEST_CASE("compare: an error as large as the bound passes, a larger one does not") {
    CHECK(compare({1.25}, {1.0}, 0.25).passed());
    CHECK(compare({0.75}, {1.0}, 0.25).passed());
    CHECK_FALSE(compare({1.25}, {1.0}, std::nextafter(0.25, 0.0)).passed());
    CHECK_FALSE(compare({0.75}, {1.0}, std::nextafter(0.25, 0.0)).passed());
}

TEST_CASE("compare: a bound of zero asks for the exact value") {
    CHECK(compare({3.0}, {3.0}, 0.0).passed());
    CHECK(compare({-0.0}, {0.0}, 0.0).passed());
    CHECK_FALSE(compare({std::nextafter(3.0, 4.0)}, {3.0}, 0.0).passed());
}

TEST_CASE("compare: a NaN passes only where one is wanted to the bit, and written") {
    CHECK(compare({kNan}, {kNan}, 0.0).passed());
    CHECK_FALSE(compare({1.0}, {kNan}, 0.0).passed());
    CHECK_FALSE(compare({kNan}, {1.0}, 0.0).passed());
    wb::testing::Observed nobody_wrote{"y", {1}, {kNan}, {true}};
    CHECK_FALSE(wb::testing::compare(nobody_wrote, {kNan}, [](int64_t) {
                    return 0.0;
                }).passed());
    CHECK_FALSE(compare({kNan}, {1.0}, kInf).passed());
    CHECK_FALSE(compare({1.0}, {kNan}, kInf).passed());
    CHECK_FALSE(compare({kNan}, {kNan}, kInf).passed());
    CHECK_FALSE(compare({1.0}, {1.0}, kNan).passed());
}

TEST_CASE("compare: an infinity passes only against the same infinity") {
    CHECK(compare({kInf, -kInf}, {kInf, -kInf}, 0.0).passed());
    CHECK(compare({kInf, -kInf}, {-kInf, kInf}, 1.0).wrong == 2);
    CHECK_FALSE(compare({kInf}, {1.0}, 1e300).passed());
    CHECK_FALSE(compare({1.0}, {kInf}, 1e300).passed());
    CHECK_FALSE(compare({65504.0}, {kInf}, kInf).passed());
    CHECK(compare({kInf}, {kInf}, kInf).passed());
}

TEST_CASE("compare: the first wrong and the worst element are told") {
    const Comparison verdict = compare({0.0, 1.5, 2.0, 3.9}, {0.0, 1.0, 2.0, 3.0}, 0.1);
    CHECK(verdict.wrong == 2);
    CHECK(verdict.first_wrong == 1);
    CHECK(verdict.worst == 3);
    CHECK(std::abs(verdict.worst_error - 0.9) < 1e-12);
    CHECK(verdict.worst_bound == 0.1);
}

TEST_CASE("compare: the worst element is the one furthest beyond its own bound") {
    const Observed got{"c", {2}, {10.5, 0.02}, {false, false}};
    const std::vector<double> bounds = {1.0, 0.01};
    const Comparison verdict =
        wb::testing::compare(got, {10.0, 0.0}, [&](std::int64_t i) {
            return bounds[static_cast<std::size_t>(i)];
        });
    CHECK(verdict.wrong == 1);
    CHECK(verdict.worst == 1);
}

TEST_CASE("compare: a NaN is worse than any number") {
    CHECK(compare({1e30, kNan, 1e30}, {0.0, 0.0, 0.0}, 1.0).worst == 1);
}

TEST_CASE("compare: no elements are all right") {
    CHECK(compare({}, {}, 0.0).passed());
    CHECK(compare({}, {}, 0.0).first_wrong == -1);
}

TEST_CASE("compare: coordinates count rows first, as in C") {
    using wb::testing::coordinates;
    using Index = std::vector<std::int64_t>;
    CHECK(coordinates({7}, 3) == Index{3});
    CHECK(coordinates({5, 7}, 7) == Index{1, 0});
    CHECK(coordinates({5, 7}, 34) == Index{4, 6});
    CHECK(coordinates({2, 3, 4}, 23) == Index{1, 2, 3});
    CHECK(coordinates({}, 0).empty());
}

TEST_CASE("compare: the number of elements is the product of the extents") {
    CHECK(wb::testing::elements({2, 3, 4}) == 24);
    CHECK(wb::testing::elements({1 << 20, 1 << 20}) == std::int64_t{1} << 40);
    CHECK(wb::testing::elements({5, 0}) == 0);
    CHECK(wb::testing::elements({}) == 1);
}
