// Grades day03-parallel-patterns/06-histogram: what is counted, for few bins and many.
#include "histogram_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <algorithm>

using namespace histogram_cases;
using wb::testing::FewMultiprocessors;
using wb::testing::LittleSharedMemory;

TEST_CASE("a few values of a few bins") {
    const auto n = GENERATE(as<int64_t>(), 1, 2, 31, 32, 33, 255, 256, 257);
    grade_both(Kind::uniform, n, 7, 1);
}

TEST_CASE("a prime number of values, 256 bins") {
    const auto kind =
        GENERATE(Kind::uniform, Kind::skewed, Kind::constant, Kind::sorted);
    grade_both(kind, 10'007, 256, 2);
}

TEST_CASE("several blocks add to the same three bins") {
    grade(kI32, values_of<int32_t>(Kind::uniform, 4500, 3, 14), 3, "uniform");
}

TEST_CASE("one bin, and around sizes of registers, warps and bytes") {
    const auto bins =
        GENERATE(as<int64_t>(), 1, 2, 7, 8, 9, 31, 32, 33, 64, 255, 257, 300, 1000);
    grade_both(Kind::uniform, 2003, bins, 3);
}

TEST_CASE("each value counts once") {
    const auto n = GENERATE(as<int64_t>(), 1, 33, 257, 1030, 5003);
    const int64_t place = GENERATE(0, 1, 2);
    std::vector<int32_t> values(at(n), -1);
    values[at(place == 0 ? 0 : place == 1 ? n / 2 : n - 1)] = 5;
    grade(kI32, values, 8, "one value is 5, all others are -1");
}

TEST_CASE("values outside are counted nowhere") {
    constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    const auto bins = GENERATE(as<int64_t>(), 1, 8, 9, 256, 3000);
    const auto edge = static_cast<int32_t>(bins);
    const int32_t outside[] = {
        -1, edge, kLeast, kMost, -edge, edge + 1, kLeast + 1, edge * 2, -256, 1 << 16};
    auto values = values_of<int32_t>(Kind::uniform, 3001, bins, 4);
    for (std::size_t i = 0; i < values.size(); i += 3)
        values[i] = outside[i / 3 % 10];
    grade(kI32, values, bins, "a third of the values is outside");
    for (const int32_t value : outside) {
        if (value >= 0 && value < bins) continue;
        grade(kI32,
              std::vector<int32_t>(700, value),
              bins,
              "all are " + std::to_string(value));
    }
}

TEST_CASE("bytes outside are counted nowhere, and bins without bytes are 0") {
    const auto bins =
        GENERATE(as<int64_t>(), 1, 3, 8, 100, 128, 255, 400, 20'000, 70'000);
    const auto values = values_of<uint8_t>(Kind::uniform, 4099, 256, 5);
    grade(kU8, values, bins, "all bytes");
}

TEST_CASE("runs of equal values, of all lengths") {
    const auto bins = GENERATE(as<int64_t>(), 5, 256, 2000);
    grade_both(Kind::runs, 5003, bins, 6);
}

TEST_CASE("a long run, and one value that interrupts it") {
    // At the ends of packs, of warps' packs, and of the array.
    for (const int64_t place : {0, 3, 4, 15, 16, 127, 128, 2043}) {
        std::vector<int32_t> values(2047, 3);
        values[at(place)] = 4;
        grade(kI32, values, 256, "all are 3, one is 4");
    }
}

TEST_CASE("a grid of several values a thread", "[long]") {
    // v2 to v4 have 8 blocks, v5 to v7 one or two: all go round their loops.
    const FewMultiprocessors one(1);
    grade_both(Kind::skewed, 40'009, 200, 7);
}

TEST_CASE("more than 255 values a thread, few bins") {
    const FewMultiprocessors one(1);
    const int64_t bins = GENERATE(2, 8);
    constexpr int64_t kN = 8 * 256 * 257 + 100;
    // The contract's function, and the version that has fields of 8 bits.
    auto values = values_of<int32_t>(Kind::constant, kN, bins, 8);
    values[5] = 1;
    for (const auto& [name, idea, call] : kI32.versions())
        if (name == "histogram_i32" || name == "histogram_i32_v4")
            grade_one<int32_t>(name, call, values, bins, "nearly constant");
}

TEST_CASE("copies of all numbers fit, and then only one") {
    const auto bins = GENERATE(as<int64_t>(),
                               256,
                               257,
                               512,
                               513,
                               4096,
                               4097,
                               8192,
                               8193,
                               1536,
                               1537,
                               12'288,
                               12'289);
    grade(kI32, values_of<int32_t>(Kind::skewed, 1501, bins, 9), bins, "skewed");
}

TEST_CASE("2^16 bins") {
    const auto kind = GENERATE(Kind::uniform, Kind::skewed, Kind::constant);
    constexpr int64_t kBins = 1 << 16;
    grade(kI32, values_of<int32_t>(kind, 20'011, kBins, 10), kBins, "seed 10");
}

TEST_CASE("around the most bins that shared memory holds, of either kind") {
    // The simulator's A100 has 163 KB: 41728 counters of 32 bits, 83456 of 16. An H100
    // has 227 KB: 58112 and 116224.
    const auto bins = GENERATE(as<int64_t>(),
                               41'728,
                               41'729,
                               83'456,
                               83'457,
                               58'112,
                               58'113,
                               116'224,
                               116'225);
    auto values = values_of<int32_t>(Kind::uniform, 3001, bins, 11);
    values[7] = static_cast<int32_t>(bins - 1);
    values[8] = static_cast<int32_t>(bins);
    // Packs of a warp that begin with the same value, and a warp of equal ones.
    for (std::size_t i = 512; i < 640; i += 4)
        values[i] = 9;
    std::fill(values.begin() + 1024, values.begin() + 1024 + 384, 10);
    grade(kI32, values, bins, "uniform, one is outside");
}

TEST_CASE("the same on a GPU with little shared memory") {
    const LittleSharedMemory little;
    // 12288 bins of 32 bits, 24576 of 16.
    const auto bins = GENERATE(as<int64_t>(), 12'288, 12'289, 24'575, 24'576, 24'577);
    auto values = values_of<int32_t>(Kind::skewed, 4001, bins, 12);
    values[7] = static_cast<int32_t>(bins - 1);
    values[8] = static_cast<int32_t>(bins);
    grade(kI32, values, bins, "skewed, one is outside");
}

TEST_CASE("right in any order of threads and blocks") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_both(Kind::skewed, 3001, 20, seed);
    {
        const LittleSharedMemory little;
        const auto values = values_of<int32_t>(Kind::skewed, 3001, 13'000, seed);
        grade(kI32, values, 13'000, "skewed");
    }
    wb::testing::shuffle_threads(0);
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent([] { grade_both(Kind::uniform, 300, 100, 1); },
                                    [] { grade_both(Kind::skewed, 3000, 9, 2); });
}

TEST_CASE("edges meet: sizes, where values begin, bins, what they are") {
    static const auto cases =
        wb::testing::Covering()
            .factor("n", {1, 3, 15, 16, 17, 33, 255, 1025, 4097, 6145})
            .factor("from", {0, 1, 2, 3, 5, 13, 15})
            .factor("bins", {1, 8, 9, 256, 1000, 20'000})
            .factor("kind", {"uniform", "skewed", "constant", "runs", "sorted"})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_both(static_cast<Kind>(c["kind"]), c["n"], c["bins"], 13, c["from"]);
        }
}

TEST_CASE("more bins than 2^20, most of them empty", "[long]") {
    constexpr int64_t kBins = (int64_t{1} << 20) + 4099;
    std::vector<int32_t> values(700, -1);
    for (std::size_t i = 0; i < values.size(); i += 7)
        values[i] = static_cast<int32_t>(kBins - 1 - 1511 * static_cast<int64_t>(i));
    grade_one<int32_t>("histogram_i32", histogram_i32, values, kBins, "far apart");
}

TEST_CASE("more values than 2^20, more equal ones than a float counts", "[long]") {
    constexpr std::size_t kMany = (std::size_t{1} << 20) + 4099;
    std::vector<int32_t> values(kMany, 3);
    values.back() = 5;
    grade_one<int32_t>("histogram_i32", histogram_i32, values, 8, "nearly all are 3");
    grade_one<int32_t>(
        "histogram_i32", histogram_i32, values, 13'000, "nearly all are 3");
    std::vector<uint8_t> bytes((std::size_t{1} << 24) + 33, 200);
    bytes.back() = 5;
    grade_one<uint8_t>("histogram_u8", histogram_u8, bytes, 256, "nearly all are 200");
}

namespace {

/// How many values, and of how many bins.
struct Sizes {
    int64_t n;
    int64_t bins;
};

/// A call, and another one in the same arrays.
template <class T>
void grade_after(const Function<T>& function, Sizes before, Sizes now) {
    const auto values = values_of<T>(Kind::uniform, 1000, 200, 7);
    const auto counted = [&](Sizes s) {
        return wb::reference::histogram(
            std::vector<T>(values.begin(), values.begin() + s.n), s.bins);
    };
    std::vector<double> right = counted(before);
    const std::vector<double> last = counted(now);
    right.resize(std::max(right.size(), last.size()));
    std::copy(last.begin(), last.end(), right.begin());  // those behind stay
    const auto bins = static_cast<int64_t>(right.size());
    for (const auto& [name, idea, call] : function.versions()) {
        Grader grade(
            name,
            "n = " + std::to_string(now.n) + ", " + std::to_string(now.bins) +
                " bins, in the arrays of a call with n = " + std::to_string(before.n) +
                ", " + std::to_string(before.bins) + " bins");
        const T* const d_values = grade.input("values", values);
        uint32_t* const d_counts = grade.output<uint32_t>("counts", {bins});
        grade.run([&, launcher = call](cudaStream_t s) {
            for (const Sizes& size : {before, now})
                launcher(d_values, d_counts, size.n, size.bins, s);
        });
        grade.expect("counts", right, [](int64_t) { return 0.0; });
    }
}

}  // namespace

TEST_CASE("once more in the same arrays, with other numbers of values or bins") {
    const auto both = [](Sizes before, Sizes now) {
        grade_after(kI32, before, now);
        grade_after(kU8, before, now);
    };
    both({1000, 200}, {700, 200});
    both({700, 200}, {1000, 200});
    both({1000, 90}, {1000, 200});
}
