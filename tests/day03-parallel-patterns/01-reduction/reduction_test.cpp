// Grades day03-parallel-patterns/01-reduction: sizes, edges, and sums.
#include "reduction_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <bit>

using namespace reduction_cases;
using wb::testing::FewMultiprocessors;

TEST_CASE("the sum of up to one block") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 3, 4, 5, 7, 31, 32, 33, 255, 256);
    const auto x = numbers<float>(n, 1);
    grade(kSum, x, sum_of(x), "seed 1");
}

TEST_CASE("all functions, up to a few blocks") {
    grade_all(GENERATE(as<int64_t>(), 1, 2, 8, 9, 31, 32, 33, 64, 257, 1009, 5003), 2);
}

TEST_CASE("whole numbers add up exactly, in any order") {
    const auto n = GENERATE(
        as<int64_t>(), 33, 511, 512, 513, 1023, 1024, 1025, 4096, 65536, 65537);
    const auto x = whole_numbers<float>(n, 1);
    grade(kSum, x, {sum_of(x).value}, "whole numbers");
    const auto narrow = whole_numbers<bf16>(n, 1);
    grade(kSumBf16, narrow, {sum_of(narrow).value}, "whole numbers");
}

TEST_CASE("sums of numbers that do not cancel") {
    // Nothing but the error of the additions is left. In half precision, 2^16 would be
    // infinite; in bf16, the sum would stop at 256.
    const int64_t n = GENERATE(as<int64_t>(), 2049, 70001);
    auto x = numbers<float>(n, 3);
    std::vector<bf16> narrow;
    for (float& value : x) {
        value = 1.0f + std::abs(value) / 128.0f;
        narrow.push_back(static_cast<bf16>(value));
    }
    grade(kSum, x, sum_of(x), "all above 1");
    grade(kSumBf16, narrow, sum_of(narrow), "all above 1");
}

TEST_CASE("a grid of several elements a thread, and tiles of several packs", "[long]") {
    // More than 2^18 packs of four; v7 to v9 have 1024 blocks of 256 threads.
    constexpr int64_t kN = (1 << 20) + 4097;
    const auto x = whole_numbers<float>(kN, 4);
    grade(kSum, x, {sum_of(x).value}, "whole numbers");
    const auto integers = numbers<int32_t>(kN, 4);
    grade(kSumI32, integers, sum_of(integers), "seed 4");
    auto risen = x;
    risen[at(kN - 2)] = 100.0f;
    grade(kArgMax, risen, argmax_of(risen), "the last but one is the largest");
    // The first of equals in another thread, and in another item of a pack.
    for (const int64_t place : {13, 1036, 262148})
        risen[at(place)] = 100.0f;
    grade(kArgMax, risen, argmax_of(risen), "four are the largest");
}

TEST_CASE("sums of a million numbers are as exact, on any GPU", "[long]") {
    // Too many for all versions in the simulator, hence the contract's functions alone.
    const auto expect_same = [](const auto& function, auto values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        double first = 0.0;
        for (const int count : {40, 3}) {
            const FewMultiprocessors few(count);
            const Wanted wanted = count == 40 ? sum_of(values) : Wanted{first, 0.0};
            first = grade_one<T, float>(
                function.name, function.contract, values, wanted, "a million");
        }
    };
    expect_same(kSum, numbers<float>((1 << 20) + 4097, 8));
    expect_same(kSumBf16, numbers<bf16>((1 << 20) + 4097, 8));
}

TEST_CASE("tiles of several batches", "[long]") {
    // More than 2^22 packs: too many elements for all versions in the simulator, hence
    // the contract's function alone. The last tile is not whole.
    constexpr int64_t kN = (int64_t{1} << 25) + 8 * 300 + 5;
    std::vector<bf16> x(at(kN), static_cast<bf16>(0.0f));
    for (int64_t i = 0; i < kN; i += 4099)
        x[at(i)] = static_cast<bf16>(static_cast<float>(i % 7));
    x.back() = static_cast<bf16>(3.0f);
    grade_one<bf16, float>(
        "reduce_sum_bf16", kSumBf16.contract, x, {sum_of(x).value}, "few are not 0");
}

TEST_CASE("each element counts once") {
    const auto n = GENERATE(as<int64_t>(), 1, 33, 257, 1030, 2051);
    const int64_t place = GENERATE(0, 1, 2);
    std::vector<float> x(at(n), 0.0f);
    x[at(place == 0 ? 0 : place == 1 ? n / 2 : n - 1)] = 7.0f;
    grade(kSum, x, {7.0}, "one element is 7, all others are 0");
}

TEST_CASE("integers whose sum needs 64 bits") {
    const auto n = GENERATE(as<int64_t>(), 3, 64, 1009, 40000);
    const bool negative = GENERATE(false, true);
    const int32_t value = negative ? INT32_MIN : INT32_MAX;
    const std::vector<int32_t> x(at(n), value);
    grade(kSumI32,
          x,
          {static_cast<double>(n) * value},
          "all are " + std::to_string(value));
}

TEST_CASE("infinities and NaN show in the sum") {
    const float specials[] = {kInfinity, -kInfinity, NAN};
    const float special = specials[GENERATE(0, 1, 2)];
    auto x = whole_numbers<float>(1009, 5);
    x[at(GENERATE(0, 500, 1008))] = special;
    grade(kSum, x, {double{special}}, "an element is " + std::to_string(special));
    std::vector<bf16> narrow;
    for (const float value : x)
        narrow.push_back(static_cast<bf16>(value));
    grade(kSumBf16, narrow, {double{special}}, "the same as bf16");
}

TEST_CASE("infinities of both signs give NaN") {
    auto x = whole_numbers<float>(3000, 6);
    x[3] = kInfinity;
    x[at(GENERATE(4, 2999))] = -kInfinity;
    grade(kSum, x, {NAN}, "inf and -inf");
}

TEST_CASE("tiny numbers and zeros of both signs") {
    auto x = whole_numbers<float>(1009, 7);
    const float unit = GENERATE(0x1p-149f, 0x1p-126f, -0.0f);
    for (float& value : x)
        value *= unit;
    grade(kSum, x, {sum_of(x).value}, "whole numbers times " + std::to_string(unit));
}

TEST_CASE("the same bits each time, everywhere") {
    // In another order of threads and blocks, on another GPU, and from another element.
    // A GPU chooses the order itself: with five blocks, often the usual one. Two orders
    // often round alike, too: hence many blocks, whose sums nearly cancel, so that what
    // rounding leaves is most of the result.
#ifdef SIMT_CPU
    constexpr int64_t kN = 80'021;
    constexpr unsigned kRepeats = 5;
#else
    constexpr int64_t kN = 300'007;
    constexpr unsigned kRepeats = 5;
#endif
    const auto expect_same = [](const auto& function, auto values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        for (int64_t i = 0; i < kN / 2; ++i)
            values[at(kN - 1 - i)] = -values[at(i)];
        for (const auto& [name, idea, call] : function.versions()) {
            double first = 0.0;
            for (unsigned repeat = 0; repeat < kRepeats; ++repeat) {
                wb::testing::shuffle_threads(repeat);
                const FewMultiprocessors few(repeat % 2 == 0 ? 3 : 40);
                const Wanted wanted = repeat == 0 ? sum_of(values) : Wanted{first, 0.0};
                first = grade_one<T, float>(
                    name, call, values, wanted, "once more", repeat);
            }
        }
        wb::testing::shuffle_threads(0);
    };
    expect_same(kSum, numbers<float>(kN, 8));
    expect_same(kSumBf16, numbers<bf16>(kN, 8));
}

TEST_CASE("right in any order of threads and blocks") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_all(9001, seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent([] { grade_all(300, 1); },
                                    [] { grade_all(5000, 2); });
    // More than a few blocks, and two of one size.
    wb::testing::expect_independent([] { grade_all(9001, 1); },
                                    [] { grade_all(8300, 2); },
                                    [] { grade_all(9001, 3); });
}

TEST_CASE("edges meet: sizes, where x begins, what it holds") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 3, 4, 31, 32, 33, 255, 257, 1024, 1025, 4096, 8192, 8193})
            .factor("from", {0, 1, 2, 3, 4, 5})
            .factor("numbers", {"random", "all negative", "the last is largest"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            auto x = numbers<float>(c["n"], 9);
            for (float& value : x)
                if (c["numbers"] > 0) value = -1.0f - std::abs(value);
            if (c["numbers"] == 2) x.back() = -0.5f;
            std::vector<bf16> narrow;
            std::vector<int32_t> integers;
            for (const float value : x) {
                narrow.push_back(static_cast<bf16>(value));
                integers.push_back(static_cast<int32_t>(value * 1e6f));
            }
            const int64_t from = c["from"];
            grade(kSum, x, sum_of(x), c.text(), from);
            grade(kSumBf16, narrow, sum_of(narrow), c.text(), from);
            grade(kSumI32, integers, sum_of(integers), c.text(), from);
            grade(kMax, x, max_of(x), c.text(), from);
            grade(kArgMax, x, argmax_of(x), c.text(), from);
        }
}
