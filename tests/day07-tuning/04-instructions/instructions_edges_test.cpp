// Grades day07-tuning/04-instructions: arrays that begin anywhere, each bit of a copy,
// outliers up to the largest, and counts that wrap around.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/special_values.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "given.h"
#include "grade.h"
#include "instructions.h"

TEST_CASE("arrays begin anywhere") {
    for (const int64_t n : {256, 1024, 2048, 4096}) {
        const auto x = wb::testing::random_normal(n, 1);
        const auto y = wb::testing::random_normal(n, 2);
        std::vector<std::pair<float, float>> pairs;
        for (size_t i = 0; i < x.size(); ++i)
            pairs.emplace_back(x[i], y[i]);
        grade_pairs(pairs, Begin::anywhere);
        std::vector<float> powers;
        for (const float value : x)
            powers.push_back(std::clamp(value, -87.0f, 88.0f));
        expect_exponentials(powers, Begin::anywhere);
        grade_compress_all(x, n_text(n) + ", arrays begin anywhere", Begin::anywhere);
        std::vector<uint32_t> numbers;
        for (uint32_t i = 0; i < static_cast<uint32_t>(n); ++i)
            numbers.push_back(i * 2'654'435'769u);
        grade_quotients(numbers, 11, Begin::anywhere);
    }
}

TEST_CASE("more elements than 16 bits count") {
    constexpr int64_t kN = 66'003;
    Random random(3);
    std::vector<float> x;
    std::vector<std::pair<float, float>> pairs;
    std::vector<uint32_t> numbers;
    for (int64_t i = 0; i < kN; ++i) {
        x.push_back(static_cast<float>(175.0 * random.uniform() - 87.0));
        numbers.push_back(static_cast<uint32_t>(random.bits()));
        if (i % 2 == 0) pairs.emplace_back(x.back(), static_cast<float>(i));
    }
    expect_exponentials(x);
    grade_pairs(pairs);  // each both ways
    grade_quotients(numbers, 11);
}

TEST_CASE("copy_floats: each bit, of numbers that are none, too") {
    const auto bits = wb::testing::special_bits(2003);
    const auto n = static_cast<int64_t>(bits.size());
    for (const Begin begin : {Begin::aligned, Begin::anywhere})
        for (const auto& [name, idea, copy] :
             wb::implementations("copy_floats", copy_floats)) {
            Grader grade(name,
                         "zeros, subnormal numbers, infinities and NaN, looked at as "
                         "integers");
            const auto* d_in =
                reinterpret_cast<const float*>(grade.input("in", bits, begin));
            auto* d_out = grade.output<uint32_t>("out", {n});
            grade.run([&, copy = copy](cudaStream_t s) {
                copy(d_in, reinterpret_cast<float*>(d_out), n, s);
            });
            grade.expect("out",
                         std::vector<double>(bits.begin(), bits.end()),
                         [](int64_t) { return 0.0; });
        }
}

TEST_CASE("compress_outliers: up to the largest, and a zero's sign") {
    std::vector<float> x;
    for (int exponent = -149; exponent <= 20; ++exponent) {
        x.push_back(std::ldexp(1.0f, exponent));
        x.push_back(-x.back());
        if (exponent > 1 && exponent < 20) x.push_back(1.37f * x.back());
    }
    grade_compress_all(x, "powers of two up to 2^20");
    const std::vector<float> zeros = {-0.0f, 0.0f, -0.0f, 1.0f};
    for (const auto& [name, idea, compress] :
         wb::implementations("compress_outliers", compress_outliers)) {
        Grader grade(name, "zeros of both signs, looked at as integers");
        const float* d_x = grade.input("x", zeros);
        auto* d_y = grade.output<uint32_t>("y", {4});
        grade.run([&, compress = compress](cudaStream_t s) {
            compress(d_x, reinterpret_cast<float*>(d_y), 4, s);
        });
        grade.expect(
            "y",
            {double{0x80000000u}, 0.0, double{0x80000000u}, double{0x3F800000u}},
            [](int64_t) { return 0.0; });
    }
}

TEST_CASE("worst_error: counts that wrap around are refused") {
    expect_written([] { worst_error(Function::coarse, 0, 0, nullptr, nullptr); });
    Grader memory("worst_error", "wrong arguments");
    auto* worst =
        reinterpret_cast<unsigned long long*>(memory.output<uint32_t>("worst", {2}));
    struct Range {
        uint32_t first;
        uint64_t count;
    };
    const Range all[] = {{0, kAllFloats + 1},
                         {0xFFFFFFFFu, 2},
                         {1, ~uint64_t{0}},
                         {2, ~uint64_t{0} - 1},
                         {0, uint64_t{1} << 63},
                         {0x80000000u, (uint64_t{1} << 31) + 1}};
    for (const auto& [first, count] : all)
        wb::testing::expect_refused(
            "worst_error",
            "first " + std::to_string(first) + ", count " + std::to_string(count),
            "count is",
            [&, first = first, count = count] {
                worst_error(Function::coarse, first, count, worst, nullptr);
            });
    // The last floats there are; all of them are NaN.
    expect_worst_of_coarse(0xFFFFFFF0u, 16);
}
