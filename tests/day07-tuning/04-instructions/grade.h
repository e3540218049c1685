/// grade.h: what is right, and how each exercise is judged.
#pragma once

#include "given.h"
#include "instructions.h"

#include <wb/exercise.h>
#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/large.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bits.h"
#include "complain.h"

using wb::testing::Begin;
using wb::testing::Grader;
using wb::testing::Random;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
inline constexpr uint64_t kAllFloats = uint64_t{1} << 32;

inline std::string n_text(int64_t n) {
    return "n = " + std::to_string(n);
}

/// What has been read and found right is right each time the launcher is called: from
/// another host thread, too, behind other work, and with other numbers in between.
inline void expect_each_time(Grader& grade,
                             const std::string& output,
                             const std::vector<double>& right) {
    grade.expect(output, right, [](int64_t) { return 0.0; });
}

// --- 1 -----------------------------------------------------------------------------

/// The place of a float in the row: multiples of the smallest float, counted in double
/// arithmetic and not by bits, as far as floats are that dense; then binade by binade.
inline int64_t place_of(float x) {
    if (std::isinf(x)) return x > 0 ? place_of(kLargest) + 1 : -place_of(kInfinity);
    if (x < 0) return -place_of(-x);
    constexpr double kFirstBinade = 0x1p-126;
    constexpr int64_t kFloatsOfABinade = 1 << 23;
    const double value = x;
    if (value < kFirstBinade) return static_cast<int64_t>(value * 0x1p149);
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // 0.5 <= fraction < 1
    return (exponent + 125) * kFloatsOfABinade + kFloatsOfABinade +
           static_cast<int64_t>((2.0 * fraction - 1.0) * 0x1p23);
}

inline double distance_of(float a, float b) {
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b) ? 0.0 : double{kNeverThere};
    return std::abs(static_cast<double>(place_of(a) - place_of(b)));
}

/// Every pair, and each the other way round.
inline void grade_pairs(const std::vector<std::pair<float, float>>& pairs,
                        Begin begin = Begin::aligned) {
    std::vector<float> a;
    std::vector<float> b;
    for (const auto& [x, y] : pairs) {
        a.insert(a.end(), {x, y});
        b.insert(b.end(), {y, x});
    }
    const auto n = static_cast<int64_t>(a.size());
    Grader grade("ulp_distances", n_text(n));
    const float* d_a = grade.input("a", a, begin);
    const float* d_b = grade.input("b", b, begin);
    auto* d_distance = grade.output<uint32_t>("distance", {n}, begin);
    grade.run([&](cudaStream_t s) { ulp_distances(d_a, d_b, d_distance, n, s); });
    const auto got = grade.read("distance");
    for (size_t i = 0; i < got.size(); ++i) {
        const double wanted = distance_of(a[i], b[i]);
        if (got[i] == wanted) continue;
        char text[64];
        std::snprintf(
            text, sizeof text, "%.0f steps, but it takes %.0f", got[i], wanted);
        complain("ulp_distance: from " + with_bits(a[i]) + " to " + with_bits(b[i]) +
                 ": " + text);
    }
    CHECK(!got.empty());
    expect_each_time(grade, "distance", got);
}

// --- 1, the kernel -----------------------------------------------------------------

/// What worst_error() finds in a range.
inline unsigned long long worst_of(Function function, uint32_t first, uint64_t count) {
    Grader grade("worst_error",
                 "first " + std::to_string(first) + ", count " + std::to_string(count));
    auto* halves = grade.output<uint32_t>("worst", {2});
    grade.run([&](cudaStream_t s) {
        worst_error(
            function, first, count, reinterpret_cast<unsigned long long*>(halves), s);
    });
    const auto got = grade.read("worst");
    expect_each_time(grade, "worst", got);
    return static_cast<unsigned long long>(got[1]) << 32 |
           static_cast<unsigned long long>(got[0]);
}

/// The same of Function::coarse, one float after another.
inline unsigned long long worst_of_coarse(uint32_t first, uint64_t count) {
    unsigned long long worst = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const auto bits = static_cast<uint32_t>(first + i);
        const double distance =
            distance_of(float_of_bits(bits & ~0xFFu), float_of_bits(bits));
        worst = std::max(worst, packed(static_cast<uint32_t>(distance), bits));
    }
    return worst;
}

inline void expect_worst_of_coarse(uint32_t first, uint64_t count) {
    const auto got = worst_of(Function::coarse, first, count);
    const auto wanted = worst_of_coarse(first, count);
    if (got != wanted) {
        const auto text = [](unsigned long long worst) {
            return std::to_string(worst >> 32) + " ULP at bits " +
                   std::to_string(0xFFFFFFFFu - static_cast<uint32_t>(worst));
        };
        complain("worst_error(coarse), first " + std::to_string(first) + ", count " +
                     std::to_string(count) + ": found " + text(got),
                 "expected " + text(wanted));
    }
    CHECK(got == wanted);
}

// --- 2 -----------------------------------------------------------------------------

inline std::vector<float> exponentials_of(const std::vector<float>& x,
                                          Begin begin = Begin::aligned) {
    const auto n = static_cast<int64_t>(x.size());
    Grader grade("exponentials", n_text(n));
    const float* d_x = grade.input("x", x, begin);
    float* d_y = grade.output<float>("y", {n}, begin);
    grade.run([&](cudaStream_t s) { exponentials(d_x, d_y, n, s); });
    const auto y = grade.read("y");
    expect_each_time(grade, "y", y);
    return {y.begin(), y.end()};
}

inline void expect_exponentials(const std::vector<float>& x,
                                Begin begin = Begin::aligned) {
    constexpr double kAllowed = 4.0;
    const auto y = exponentials_of(x, begin);
    double most = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
        const auto exact = static_cast<float>(std::exp(double{x[i]}));
        const double distance = distance_of(y[i], exact);
        if (!(distance <= kAllowed)) {
            complain("quick_exp(" + with_bits(x[i]) + ") is " + with_bits(y[i]) +
                         ", but e^x is " + with_bits(exact),
                     std::to_string(static_cast<int64_t>(distance)) +
                         " ULP apart, 4 are allowed");
        }
        most = std::max(most, distance);
    }
    CHECK(most <= kAllowed);
}

// --- 3 -----------------------------------------------------------------------------

using Compress = void(const float* x, float* y, int64_t n, cudaStream_t stream);

/// What compress_outliers() makes of these numbers.
inline std::vector<double> compressed_of(const std::vector<float>& x) {
    std::vector<double> result;
    for (const float value : x) {
        const double root = std::sqrt(2.0 * std::abs(double{value}));
        const double with_sign = std::copysign(root, double{value});
        result.push_back(std::abs(value) > 2.0f ? with_sign : double{value});
    }
    return result;
}

inline void grade_compress(const std::string& name,
                           Compress* compress,
                           const std::vector<float>& x,
                           const std::string& case_text,
                           Begin begin = Begin::aligned) {
    const std::vector<double> expected = compressed_of(x);
    const auto n = static_cast<int64_t>(x.size());
    Grader grade(name, case_text);
    const float* d_x = grade.input("x", x, begin);
    float* d_y = grade.output<float>("y", {n}, begin);
    grade.run([&](cudaStream_t s) { compress(d_x, d_y, n, s); });
    grade.expect("y", expected, [&](int64_t i) {
        const double value = x[static_cast<size_t>(i)];
        if (std::abs(value) <= 2.0) return 0.0;
        return 0x1p-23 * std::abs(expected[static_cast<size_t>(i)]);
    });
}

/// Every rung, or the learner's function.
inline void grade_compress_all(const std::vector<float>& x,
                               const std::string& case_text,
                               Begin begin = Begin::aligned) {
    for (const auto& [name, idea, compress] :
         wb::implementations("compress_outliers", compress_outliers))
        grade_compress(name, compress, x, case_text, begin);
}

// --- 4 -----------------------------------------------------------------------------

using Copy = void(const float* in, float* out, int64_t n, cudaStream_t stream);

/// Copies n floats from in + in_offset to out + out_offset; what lies around them in
/// `out` must stay, and `in` ends with them.
inline void grade_copy(const std::string& name,
                       Copy* copy,
                       int64_t n,
                       int64_t in_offset,
                       int64_t out_offset) {
    const auto in = wb::testing::random_normal(n + in_offset, 1);
    const auto before = wb::testing::random_normal(n + 8, 2);
    std::vector<double> expected(before.begin(), before.end());
    std::copy_n(in.begin() + in_offset, n, expected.begin() + out_offset);
    Grader grade(name,
                 n_text(n) + ", from in + " + std::to_string(in_offset) + " to out + " +
                     std::to_string(out_offset));
    const float* d_in = grade.input("in", in);
    float* d_out = grade.in_out("out", {n + 8}, before);
    grade.run(
        [&](cudaStream_t s) { copy(d_in + in_offset, d_out + out_offset, n, s); });
    grade.expect("out", expected, [](int64_t) { return 0.0; });
}

inline void grade_copy_all(int64_t n, int64_t in_offset, int64_t out_offset) {
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_floats", copy_floats))
        grade_copy(name, copy, n, in_offset, out_offset);
}

// --- 3 and 4 -----------------------------------------------------------------------

/// More elements than 32 bits can count, and a copy that begins one float apart.
inline void grade_large(wb::testing::LargeArrays& arrays, int64_t n) {
    const std::vector<int64_t> places = {0, int64_t{1} << 31, n - 5, n - 2};
    for (const int64_t place : places)
        arrays.set(place, place == 0 ? 1.0f : 7.0f);
    for (const auto& [name, idea, compress] :
         wb::implementations("compress_outliers", compress_outliers)) {
        const double root = std::sqrt(14.0);
        arrays.expect(name,
                      n_text(n),
                      places,
                      {1.0, root, root, root},
                      [&, compress = compress](cudaStream_t s) {
                          compress(arrays.x, arrays.y, n, s);
                      });
    }
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_floats", copy_floats)) {
        for (const int64_t offset : {0, 1}) {
            std::vector<int64_t> copied;
            for (const int64_t place : places)
                copied.push_back(place + offset);
            arrays.expect(name,
                          n_text(n - 1) + ", to out + " + std::to_string(offset),
                          copied,
                          {1.0, 7.0, 7.0, 7.0},
                          [&, copy = copy](cudaStream_t s) {
                              copy(arrays.x, arrays.y + offset, n - 1, s);
                          });
        }
    }
}

// --- 5 -----------------------------------------------------------------------------

/// Numbers at which a wrong magic number shows, and random ones.
inline std::vector<uint32_t> numbers_for(uint32_t divisor, uint64_t seed) {
    Random random(seed);
    std::vector<uint32_t> numbers = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, ~0u};
    const uint32_t most = ~0u / divisor;
    const auto around = [&](uint32_t times) {
        const uint32_t multiple = times * divisor;
        numbers.insert(numbers.end(), {multiple - 1, multiple, multiple + 1});
    };
    for (const uint32_t times : {0u, 1u, 2u, most / 2, most - 1, most})
        around(times);
    for (int i = 0; i < 300; ++i) {
        around(static_cast<uint32_t>(random.below(int64_t{most} + 1)));
        numbers.push_back(static_cast<uint32_t>(random.bits()));
    }
    return numbers;
}

inline void grade_quotients(const std::vector<uint32_t>& n,
                            uint32_t divisor,
                            Begin begin = Begin::aligned) {
    const auto count = static_cast<int64_t>(n.size());
    Grader grade("quotients", "divisor " + std::to_string(divisor));
    const uint32_t* d_n = grade.input("n", n, begin);
    auto* d_quotient = grade.output<uint32_t>("quotient", {count}, begin);
    grade.run([&](cudaStream_t s) { quotients(d_n, d_quotient, count, divisor, s); });
    const auto got = grade.read("quotient");
    for (size_t i = 0; i < n.size(); ++i) {
        const uint32_t wanted = n[i] / divisor;
        if (got[i] == static_cast<double>(wanted)) continue;
        complain(std::to_string(n[i]) + " / " + std::to_string(divisor) + " is " +
                 std::to_string(wanted) + ", not " +
                 std::to_string(static_cast<int64_t>(got[i])));
    }
    CHECK(got.size() == n.size());
    expect_each_time(grade, "quotient", got);
}

inline void expect_all_right(uint32_t divisor, uint32_t first, uint64_t count) {
    Grader grade("wrong_quotients", "divisor " + std::to_string(divisor));
    auto* wrong = grade.output<uint64_t>("wrong", {1});
    grade.run([&](cudaStream_t s) {
        wrong_quotients(
            divisor, first, count, reinterpret_cast<unsigned long long*>(wrong), s);
    });
    const double got = grade.read("wrong")[0];
    if (got != 0.0) {
        complain("divisor " + std::to_string(divisor) + ": " +
                 std::to_string(static_cast<int64_t>(got)) + " of the " +
                 std::to_string(count) + " numbers from " + std::to_string(first) +
                 " on are divided wrongly");
    }
    CHECK(got == 0.0);
}

/// Ends the test case unless the functions of an exercise are written: for cases that
/// would otherwise fail with a number.
template <class F>
void expect_written(F call) {
    try {
        call();
    } catch (const wb::NotSolved& unsolved) {
        wb::testing::fail(unsolved);
    } catch (const std::exception&) {
        return;  // another mistake, which its own test case explains
    }
}
