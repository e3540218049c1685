// Grades day02-memory/03-stencil-halo: convolve_2d() and convolve_separable().
#include "stencil_halo.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/large.h>

#include "stencil_cases.h"

namespace {

Sizes image(int64_t batch, int64_t rows, int64_t cols, int64_t radius, int64_t border) {
    return {batch, rows, cols, static_cast<int>(radius), border_of(border)};
}

/// Sizes, borders and where arrays begin.
template <class Work>
void grade_edges(const wb::testing::Combination& c) {
    Sizes s = image(c["batch"], c["rows"], c["cols"], c["radius"], c["border"]);
    s.in_from = c["in from"];
    s.out_from = c["out from"];
    grade_all<Work>(s);
}

std::vector<wb::testing::Combination> edges() {
    return wb::testing::Covering()
        .factor("batch", {1, 2, 3})
        .factor("rows", {1, 2, 5, 12, 13, 15, 16, 17, 33})
        .factor("cols", {1, 2, 3, 31, 32, 33, 127, 128, 132, 260})
        .factor("radius", {0, 1, 2, 3, 4})
        .factor("border", {"zero", "clamp", "wrap"})
        .factor("in from", {0, 1, 4})
        .factor("out from", {0, 2, 4})
        .forbid({"batch", "rows", "cols", "radius"},
                [](const std::vector<int64_t>& v) {
                    return v[0] * v[1] * v[2] * (v[3] + 1) > 9'000;  // takes long
                })
        .cases();
}

}  // namespace

TEST_CASE("a filter: one tile") {
    grade_all<AnyWeights>(image(1, 5, 7, GENERATE(0, 1, 2, 3, 4), 0));
}

TEST_CASE("a filter: where tiles meet, above, below, left, right and in the corners") {
    grade_all<AnyWeights>(image(1, 33, 70, GENERATE(1, 4), 0), GENERATE(1, 2));
}

TEST_CASE("a filter: every border") {
    grade_all<AnyWeights>(image(1, 18, 40, 2, GENERATE(0, 1, 2)));
}

TEST_CASE("a filter: images that are smaller than the filter") {
    const auto [rows, cols] = GENERATE(
        table<int64_t, int64_t>({{1, 1}, {1, 2}, {3, 1}, {2, 3}, {1, 200}, {60, 1}}));
    grade_all<AnyWeights>(image(1, rows, cols, 4, GENERATE(0, 1, 2)));
}

TEST_CASE("a filter: several images, each by itself") {
    grade_all<AnyWeights>(image(3, 5, 6, 2, GENERATE(0, 1, 2)));
}

TEST_CASE("a filter: edges meet") {
    static const auto cases = edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_edges<AnyWeights>(c);
        }
}

TEST_CASE("a filter: primes along every dimension", "[long]") {
    grade_all<AnyWeights>(image(2, 67, 131, 1, GENERATE(0, 2)));
}

TEST_CASE("a filter: many more rows than columns") {
    grade_all<AnyWeights>(image(1, 1040, 3, 1, GENERATE(0, 2)));
    grade_all<AnyWeights>(image(2, 131, 4, 4, 1));
}

namespace {

/// More than 4096 rows, columns or images.
template <class Work>
void grade_long() {
    const auto [batch, rows, cols] = GENERATE(
        table<int64_t, int64_t, int64_t>({{1, 4099, 3}, {1, 3, 4099}, {4099, 1, 2}}));
    grade_all<Work>(image(batch, rows, cols, 4, 1));
}

/// More rows or columns than 16 bits count.
template <class Work>
void grade_very_long() {
    const auto [rows, cols] =
        GENERATE(table<int64_t, int64_t>({{65'541, 1}, {1, 65'541}}));
    grade_all<Work>(image(1, rows, cols, 1, 2));
}

/// Small images, and such as no array of a few thousand elements holds; other numbers
/// and weights for the same sizes.
template <class Work>
void grade_independent() {
    wb::testing::expect_independent([] { grade_all<Work>(image(1, 4, 6, 1, 0)); },
                                    [] { grade_all<Work>(image(2, 17, 5, 1, 1), 2); },
                                    [] { grade_all<Work>(image(1, 4, 6, 1, 0), 3); });
    wb::testing::expect_independent(
        [] { grade_all<Work>(image(1, 67, 150, 1, 0)); },
        [] { grade_all<Work>(image(2, 31, 170, 1, 1), 2); });
}

}  // namespace

TEST_CASE("a filter: more than 4096 rows, columns, or images", "[long]") {
    grade_long<AnyWeights>();
}

TEST_CASE("a product: more than 4096 rows, columns, or images", "[long]") {
    grade_long<Product>();
}

TEST_CASE("a filter: more rows, or columns, than 16 bits count", "[long]") {
    grade_very_long<AnyWeights>();
}

TEST_CASE("a product: more rows, or columns, than 16 bits count", "[long]") {
    grade_very_long<Product>();
}

TEST_CASE("a filter: nothing is kept from call to call") {
    grade_independent<AnyWeights>();
}

TEST_CASE("a filter: numbers that are none come no farther than the radius") {
    const Filter filter = {1, {1.0f, 0.0f, -2.0f, 3.0f, 0.0f, 1.0f, 2.0f, -1.0f, 4.0f}};
    grade_special(AnyWeights(filter), image(1, 9, 40, 1, GENERATE(0, 1, 2)));
}

TEST_CASE("a filter: small weights of large numbers count") {
    Filter filter = {1, {}};
    std::fill_n(filter.weight, 9, 0x1p-60f);
    filter.weight[4] = 1.0f;
    grade_small_weights(AnyWeights(filter), image(1, 7, 40, 1, 0));
}

TEST_CASE("a filter: all work is queued on the caller's stream") {
    queue_all<AnyWeights>(image(2, 34, 66, GENERATE(1, 4), 0));
    // 65,535 is the most that gridDim.y and gridDim.z can be.
    queue_all<AnyWeights>(image(65'536, 1, 1, 1, 0));
    queue_all<AnyWeights>(image(1, 16 * 65'536, 1, 1, 0));
}

TEST_CASE("a filter: a size of zero, and nothing is launched") {
    const auto [batch, rows, cols] = GENERATE(
        table<int64_t, int64_t, int64_t>({{0, 3, 4}, {2, 0, 4}, {2, 3, 0}, {0, 0, 0}}));
    const AnyWeights work(1, 1);
    const Sizes s = image(batch, rows, cols, 1, 0);
    Grader("convolve_2d", s.text()).expect_no_work([&](cudaStream_t stream) {
        work.call(convolve_2d, nullptr, nullptr, s, stream);
    });
    grade_one<AnyWeights>("convolve_2d", convolve_2d, image(1, 2, 3, 1, 0), 1);
}

TEST_CASE("a product: one tile") {
    grade_all<Product>(image(1, 5, 7, GENERATE(0, 1, 2, 3, 4), 0));
}

TEST_CASE("a product: rows and columns have weights of their own") {
    grade_all<Product>(image(1, 33, 70, GENERATE(1, 4), 0), GENERATE(1, 2));
}

TEST_CASE("a product: every border") {
    grade_all<Product>(image(1, 18, 40, 2, GENERATE(0, 1, 2)));
}

TEST_CASE("a product: images that are smaller than the filter") {
    const auto [rows, cols] =
        GENERATE(table<int64_t, int64_t>({{1, 1}, {2, 3}, {1, 200}, {60, 1}}));
    grade_all<Product>(image(2, rows, cols, 4, GENERATE(0, 1, 2)));
}

TEST_CASE("a product: edges meet") {
    static const auto cases = edges();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_edges<Product>(c);
        }
}

TEST_CASE("a product: many more rows than columns") {
    grade_all<Product>(image(2, 259, 16, 1, GENERATE(0, 2)));
}

TEST_CASE("a product: nothing is kept from call to call") {
    grade_independent<Product>();
}

TEST_CASE("a product: numbers that are none come no farther than the radius") {
    const Taps vertical = {1, {1.0f, 0.0f, -2.0f}};
    const Taps horizontal = {1, {3.0f, 0.0f, 1.0f}};
    grade_special(Product(vertical, horizontal), image(1, 9, 40, 1, GENERATE(0, 1, 2)));
}

TEST_CASE("a product: weights whose product no float holds") {
    // 2^-160 is 0, and 2^160 infinite; but nothing says to multiply the weights.
    const float unit = GENERATE(0x1p-80f, 0x1p80f);
    const Sizes s = image(1, 9, 40, 1, GENERATE(0, 2));
    const Taps vertical = {1, {unit, -2 * unit, 3 * unit}};
    const Taps horizontal = {1, {-unit, 5 * unit, unit}};
    auto values = wb::testing::random_normal(s.count(), 1);
    for (float& value : values)
        value *= unit < 1 ? 0x1p100f : 0x1p-100f;
    for (const auto& [name, idea, launcher] :
         wb::implementations("convolve_separable", convolve_separable))
        grade_values(name,
                     launcher,
                     Product(vertical, horizontal),
                     s,
                     values,
                     unit < 1 ? "weights of 2^-80" : "weights of 2^80");
}

TEST_CASE("a product: small weights of large numbers count") {
    const Taps taps = {1, {0x1p-60f, 1.0f, 0x1p-60f}};
    grade_small_weights(Product(taps, taps), image(1, 7, 40, 1, 0));
}

TEST_CASE("a product: all work is queued on the caller's stream") {
    queue_all<Product>(image(2, 34, 66, GENERATE(1, 4), 0));
    queue_all<Product>(image(65'536, 1, 1, 1, 0));
    queue_all<Product>(image(1, 16 * 65'536, 1, 1, 0));
}

TEST_CASE("a product: a size of zero, and nothing is launched") {
    const auto [batch, rows, cols] = GENERATE(
        table<int64_t, int64_t, int64_t>({{0, 3, 4}, {2, 0, 4}, {2, 3, 0}, {0, 0, 0}}));
    const Product work(1, 1);
    const Sizes s = image(batch, rows, cols, 1, 0);
    Grader("convolve_separable", s.text()).expect_no_work([&](cudaStream_t stream) {
        work.call(convolve_separable, nullptr, nullptr, s, stream);
    });
    grade_one<Product>(
        "convolve_separable", convolve_separable, image(1, 2, 3, 1, 0), 1);
}

namespace {

/// Two points of light, the second one in the last element of all, and what is seen of
/// them in an image: three elements in a row, and what lies one row above and below.
template <class Work>
void grade_large(const Work& work, bool is_versions) {
    Grader(Work::kName, "batch = 0").expect_no_work([&](cudaStream_t stream) {
        work.call(Work::kFunction, nullptr, nullptr, image(0, 1, 1, 1, 0), stream);
    });
#ifndef SIMT_CPU
    constexpr int64_t kMany = (int64_t{1} << 31) + (int64_t{1} << 20);
    constexpr int64_t kSide = 46'349;  // squared, more than 2^31
    static_assert(kSide * kSide <= kMany && kMany % 2048 == 0, "they fit");
    wb::testing::LargeArrays arrays(kMany, kMany);
    if (!arrays.has_memory()) WB_SKIP("needs 18 GB of free GPU memory");
    const auto expect = [&](const Sizes& s) {
        const int64_t inside = s.count() - 3 * s.cols - 5;
        arrays.set(inside, 1.0f);
        arrays.set(s.count() - 1, 10.0f);
        const std::vector<int64_t> places = {
            inside, inside - 1, inside + s.cols, s.count() - 1, s.count() - 2};
        // The middle, right, upper, middle and right weight.
        const std::vector<double> seen = {5.0, 6.0, 2.0, 50.0, 60.0};
        const auto grade = [&](const std::string& name, auto launcher) {
            arrays.expect(name, s.text(), places, seen, [&](cudaStream_t stream) {
                work.call(launcher, arrays.x, arrays.y, s, stream);
            });
        };
        if (is_versions) {
            for (const auto& [name, idea, launcher] :
                 wb::implementations(Work::kName, Work::kFunction))
                grade(name, launcher);
        } else {
            grade(Work::kName, Work::kFunction);
        }
        arrays.set(inside, 0.0f);
        arrays.set(s.count() - 1, 0.0f);
    };
    expect(image(1, kSide, kSide, 1, 0));
    expect(image(kMany / 2048, 32, 64, 1, 0));
    expect(image(1, kMany / 16, 16, 1, 0));
    expect(image(1, 16, kMany / 16, 1, 0));
#else
    (void)is_versions;
    WB_SKIP("2^31 threads are too much for the simulator");
#endif
}

}  // namespace

TEST_CASE("a filter: more than 2^31 elements, each dimension", "[large][serial]") {
    const Filter filter = {1, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f}};
    grade_large(AnyWeights(filter), true);
}

TEST_CASE("a product: more than 2^31 elements, each dimension", "[large][serial]") {
    // In one pass, or else it needs 9 GB more. Its middle row is 4, 5, 6.
    const Taps vertical = {1, {0.4f, 1.0f, 3.0f}};
    const Taps horizontal = {1, {4.0f, 5.0f, 6.0f}};
    grade_large(Product(vertical, horizontal), false);
}
