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
        const Observed observed{"c", shape, got, untouched, is_floating};
        return wb::testing::likely_cause(observed, expected, verdict(observed));
    }

    /// All facts, a line each.
    std::string seen() const {
        const Observed observed{"c", shape, got, untouched};
        std::string lines;
        for (const std::string& fact :
             wb::testing::what_was_seen(observed, expected, verdict(observed)))
            lines += fact + "\n";
        return lines;
    }

    wb::testing::Comparison verdict(const Observed& observed) const {
        return wb::testing::compare(observed, expected, [&](std::int64_t i) {
            return 1e-6 * std::abs(expected[static_cast<std::size_t>(i)]);
        });
    }

    Shape shape;
    std::vector<double> expected;
    std::vector<double> got;
    std::vector<bool> untouched;
    bool is_floating = true;
};

}  // namespace

TEST_CASE("likely cause: a right output has none") {
    CHECK(Output({100}).cause().empty());
    CHECK(Output({0}).cause().empty());
}

TEST_CASE("likely cause: subnormal numbers that became 0 are not close") {
    Output output({100});
    for (std::size_t i = 0; i < output.size(); ++i) {
        output.expected[i] *= 0x1p-130;
        output.got[i] = 0.0;
    }
    CHECK(output.cause().empty());
    CHECK(output.seen() == "every element is 0\n");
}

TEST_CASE("likely cause: zeros that are zeros tell nothing") {
    Output output({20, 64});
    for (std::size_t i = 0; i < output.size(); ++i) {
        if (i < 1216) output.expected[i] = 0.0;
        output.got[i] = 0.0;
    }
    CHECK(output.cause().empty());
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

TEST_CASE("likely cause: rows are missing, or a block of threads: neither is said") {
    Output output({1031, 32});
    for (std::size_t i = 1024 * 32; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("is the grid too small"));
    CHECK_THAT(output.cause(), !contains("block"));
}

TEST_CASE("likely cause: only one block was launched, or its index forgotten") {
    Output output({4096});
    for (std::size_t i = 256; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("if that is one block"));
}

TEST_CASE("likely cause: an end that is no multiple of a warp") {
    Output output({4096});
    for (std::size_t i = 1000; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("is the grid too small"));
}

TEST_CASE("likely cause: no guess where what was written is wrong, too") {
    // Rows that belong to the end are where others should be.
    Output output({4096});
    for (std::size_t i = 1000; i < output.size(); ++i)
        output.leave_untouched(i);
    for (std::size_t i = 100; i < 300; ++i)
        output.got[i] += 5.0;
    CHECK_THAT(output.cause(), contains("of these 200 are wrong"));
    CHECK_THAT(output.cause(), !contains("grid"));
}

TEST_CASE("likely cause: a number in place of an infinity is no matter of precision") {
    Output output({64});
    output.expected[40] = -std::numeric_limits<double>::infinity();
    CHECK_THAT(output.cause(), !contains("precision"));
}

TEST_CASE("likely cause: the first elements were never written") {
    Output output({100});
    output.leave_untouched(0);
    CHECK_THAT(output.cause(), contains("does the index start at 0"));
    // Not so where others are missing, too: the first ones of each row, say.
    output.leave_untouched(50);
    CHECK_THAT(output.cause(), !contains("does the index start at 0"));
}

TEST_CASE("likely cause: three blocks of 256 for 1009 elements") {
    Output output({1009});
    for (std::size_t i = 768; i < output.size(); ++i)
        output.leave_untouched(i);
    CHECK_THAT(output.cause(), contains("round the number of blocks up"));
}

TEST_CASE("likely cause: one whole block, and not the next: two causes, both said") {
    Output output({257});
    output.leave_untouched(256);
    CHECK_THAT(output.cause(), contains("rounded down, or blockIdx not in the index"));
}

TEST_CASE("seen: elements in between were never written") {
    Output output({100});
    for (std::size_t i = 1; i + 1 < output.size(); i += 2)
        output.leave_untouched(i);
    CHECK(output.cause().empty());
    CHECK_THAT(output.seen(), contains("every wrong element was never written"));
}

TEST_CASE("seen: everything is zero") {
    Output output({100});
    for (double& x : output.got)
        x = 0.0;
    CHECK(output.cause().empty());
    CHECK_THAT(output.seen(), contains("every element is 0"));
}

TEST_CASE("likely cause: less exact than the format") {
    Output output({1000});
    for (double& x : output.got)
        x *= 1.0 + 1e-3;
    output.got[7] = output.expected[7] * 0.999;
    CHECK_THAT(output.cause(), contains("less exact than this precision"));
}

TEST_CASE("likely cause: a count that is nearly right is no matter of precision") {
    Output output({1000});
    for (double& x : output.got)
        x *= 1.0 + 1e-3;
    output.is_floating = false;
    CHECK_THAT(output.cause(), !contains("precision"));
}

TEST_CASE("likely cause: what is small became 0") {
    Output output({1000});
    for (std::size_t i = 100; i < output.got.size(); ++i) {
        output.expected[i] *= 0x1p-40;
        output.got[i] = i % 3 == 0 ? output.expected[i] : 0.0;
    }
    CHECK_THAT(output.cause(), contains("small numbers became 0"));
    CHECK_THAT(output.cause(), !contains("less exact"));
}

TEST_CASE("likely cause: two values may be near by chance") {
    Output output({2});
    for (double& x : output.got)
        x *= 0.992;
    CHECK_THAT(output.cause(), !contains("precision"));
}

TEST_CASE("likely cause: one value in half precision, and one that is near by chance") {
    Output output({1});
    output.got[0] = output.expected[0] * 1.0004;
    CHECK_THAT(output.cause(), contains("less exact than this precision"));
    output.got[0] = output.expected[0] * 1.002;
    CHECK(output.cause().empty());
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

TEST_CASE("seen: a factor, and likely cause: a sign") {
    Output output({100});
    for (double& x : output.got)
        x *= 2.0;
    CHECK(output.cause().empty());
    CHECK_THAT(output.seen(), contains("every value is 2 times"));
    output = Output({100});
    for (double& x : output.got)
        x = -x;
    CHECK_THAT(output.cause(), contains("the sign is wrong"));
}

TEST_CASE("seen: a NaN that was computed, its cause only where nothing is summed") {
    Output output({100});
    for (std::size_t i = 40; i < 48; ++i)
        output.got[i] = std::numeric_limits<double>::quiet_NaN();
    CHECK(output.cause().empty());
    CHECK_THAT(output.seen(), contains("every wrong element is NaN"));
    for (std::size_t i = 40; i < 48; ++i)
        output.expected[i] = 0.0;
    CHECK_THAT(output.cause(), contains("0 / 0, or infinity minus infinity"));
}

TEST_CASE("seen: where the wrong elements are") {
    const auto spoilt = [](const Shape& shape, auto is_wrong) {
        Output output(shape);
        for (std::size_t i = 0; i < output.size(); ++i) {
            const auto at = wb::testing::coordinates(shape, static_cast<int64_t>(i));
            if (is_wrong(at)) output.got[i] = 50.0 * std::sin(static_cast<double>(i));
        }
        return output.seen();
    };
    using At = const std::vector<std::int64_t>&;
    CHECK_THAT(spoilt({2, 4, 8}, [](At at) { return at[1] == 2; }),
               contains("all wrong elements are in c[*, 2, *]"));
    CHECK_THAT(spoilt({2, 4, 8}, [](At at) { return at[0] == 1 && at[2] >= 3; }),
               contains("c[1, *, 3 to 7]"));
    CHECK_THAT(spoilt({3, 5}, [](At at) { return at[1] != 2; }),
               contains("c[*, all but 2]"));
    CHECK_THAT(spoilt({3, 10}, [](At at) { return at[1] % 2 == 1; }),
               contains("c[*, every second, from 1 on]"));
    CHECK_THAT(spoilt({100}, [](At at) { return at[0] >= 64; }),
               contains("all wrong elements are in c[64 to 99]"));
    CHECK(spoilt({3, 10}, [](At) { return true; }).empty());
}

TEST_CASE("likely cause: of noise, nothing is claimed") {
    Output output({100});
    for (std::size_t i = 0; i < output.size(); ++i) {
        output.got[i] = std::sin(static_cast<double>(i * i)) * 50.0 + 1.0;
    }
    CHECK(output.cause().empty());
}
