// Each wrong output that the grader claims to know by its pattern.
#include <wb/testing/compare.h>
#include <wb/testing/random.h>

#include <cmath>
#include <limits>

#include "support.h"

namespace {

using wb::testing::contains;
using wb::testing::Observed;
using wb::testing::Shape;

/// A right output of random numbers, for a test to spoil.
struct Output {
    explicit Output(const Shape& extents)
        : shape(extents),
          untouched(static_cast<std::size_t>(wb::testing::elements(extents)), false) {
        for (const float x :
             wb::testing::random_normal(wb::testing::elements(extents), 1)) {
            expected.push_back(static_cast<double>(x));
        }
        got = expected;
    }

    std::size_t size() const { return got.size(); }

    void leave_untouched(std::size_t i) {
        got[i] = std::numeric_limits<double>::quiet_NaN();
        untouched[i] = true;
    }

    std::string cause() const {
        const Observed observed{"c", shape, got, untouched};
        const auto verdict =
            wb::testing::compare(observed, expected, [&](std::int64_t i) {
                return 1e-6 * std::abs(expected[static_cast<std::size_t>(i)]);
            });
        return wb::testing::likely_cause(observed, expected, verdict);
    }

    Shape shape;
    std::vector<double> expected;
    std::vector<double> got;
    std::vector<bool> untouched;
};

}  // namespace

TEST_CASE("likely cause: a right output has none") {
    CHECK(Output({100}).cause().empty());
    CHECK(Output({0}).cause().empty());
}

TEST_CASE("likely cause: nothing was written") {
    Output output({100});
    for (std::size_t i = 0; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("nothing was written at all"));
}

TEST_CASE("likely cause: the last, partly filled block is missing") {
    Output output({4096 + 100});
    for (std::size_t i = 4096; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("only the first 4096 of 4196"));
    CHECK_THAT(output.cause(), contains("round the number of blocks up"));
}

TEST_CASE("likely cause: only one block was launched, or its index forgotten") {
    Output output({4096});
    for (std::size_t i = 256; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("that is one block"));
}

TEST_CASE("likely cause: an end that is no multiple of a warp") {
    Output output({4096});
    for (std::size_t i = 1000; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("is the grid too small"));
}

TEST_CASE("likely cause: the first elements were never written") {
    Output output({100});
    output.leave_untouched(0);
    CHECK_THAT(output.cause(), contains("does the index start at 0"));
}

TEST_CASE("likely cause: elements in between were never written") {
    Output output({100});
    for (std::size_t i = 1; i + 1 < output.size(); i += 2)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("in between were never written"));
}

TEST_CASE("likely cause: everything is zero") {
    Output output({100});
    for (double& x : output.got)
        x = 0.0;
    CHECK_THAT(output.cause(), contains("everything is zero"));
}

TEST_CASE("likely cause: less exact than the format") {
    Output output({1000});
    for (double& x : output.got)
        x *= 1.0 + 1e-3;
    output.got[7] = output.expected[7] * 0.999;
    CHECK_THAT(output.cause(), contains("less exact than this precision"));
}

TEST_CASE("likely cause: one wrong element of many is no matter of precision") {
    Output output({4000});
    output.got[3999] = 12345.0;
    CHECK_THAT(output.cause(), !contains("precision"));
}

TEST_CASE("likely cause: off by one, either way") {
    Output output({100});
    for (std::size_t i = 1; i < output.size(); ++i)
        output.got[i] = output.expected[i - 1];
    CHECK_THAT(output.cause(), contains("one place too far to the right"));
    output = Output({100});
    for (std::size_t i = 1; i < output.size(); ++i)
        output.got[i - 1] = output.expected[i];
    CHECK_THAT(output.cause(), contains("one place too far to the left"));
}

TEST_CASE("likely cause: rows and columns exchanged, in each matrix of a batch") {
    constexpr std::size_t kRows = 12;
    constexpr std::size_t kCols = 20;
    Output output({3, kRows, kCols});
    for (std::size_t m = 0; m < 3; ++m) {
        const std::size_t start = m * kRows * kCols;
        for (std::size_t r = 0; r < kRows; ++r) {
            for (std::size_t c = 0; c < kCols; ++c) {
                output.got[start + r * kCols + c] =
                    output.expected[start + c * kRows + r];
            }
        }
    }
    CHECK_THAT(output.cause(), contains("transposed"));
}

TEST_CASE("likely cause: a factor, and a sign") {
    Output output({100});
    for (double& x : output.got)
        x *= 2.0;
    CHECK_THAT(output.cause(), contains("every value is 2 times"));
    output = Output({100});
    for (double& x : output.got)
        x = -x;
    CHECK_THAT(output.cause(), contains("the sign is wrong"));
}

TEST_CASE("likely cause: a NaN that was computed") {
    Output output({100});
    output.got[40] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(output.cause(), contains("a NaN was computed"));
}

TEST_CASE("likely cause: right up to the end of a warp") {
    Output output({100});
    for (std::size_t i = 64; i < output.size(); ++i) {
        output.got[i] = std::sin(static_cast<double>(i)) * 50.0;
    }
    CHECK_THAT(output.cause(), contains("all is right before element 64"));
}

TEST_CASE("likely cause: of noise, nothing is claimed") {
    Output output({100});
    for (std::size_t i = 0; i < output.size(); ++i) {
        output.got[i] = std::sin(static_cast<double>(i * i)) * 50.0 + 1.0;
    }
    CHECK(output.cause().empty());
}
