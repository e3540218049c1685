// Grades day03-parallel-patterns/06-histogram: counters that overflow, what is refused,
// arrays past 2^31 values, and goals.
#include "histogram_cases.h"

#include <wb/check.h>
#include <wb/testing/goal.h>
#include <wb/testing/large.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace histogram_cases;
using wb::testing::FewMultiprocessors;
using wb::testing::LittleSharedMemory;

namespace {

/// v7, or the contract's function: no other version has counters of 16 bits, and one
/// addition a value takes long.
void grade_counters(const std::vector<int32_t>& values,
                    int64_t bins,
                    const std::string& text) {
    const auto [name, idea, call] = kI32.versions().back();
    grade_one<int32_t>(name, call, values, bins, text);
}

}  // namespace

TEST_CASE("more than 2^16 of one value in a block, and of what shares its word") {
    const FewMultiprocessors two(2);
    const LittleSharedMemory little;
    constexpr int64_t kBins = 13'000;
    // Bins b and b + kBins / 2 share a word in v7, neighbours would elsewhere.
    const auto other = GENERATE(as<int32_t>(), 43, 42 + kBins / 2);
    std::vector<int32_t> values(220'001, 42);
    for (std::size_t i = 0; i < values.size(); i += 3)
        values[i] = other;
    grade_counters(values, kBins, "two values in turn");
}

TEST_CASE("counters of 16 bits, near where they overflow") {
    const FewMultiprocessors one(1);
    const LittleSharedMemory little;
    constexpr int64_t kBins = 13'000;
    const auto count = GENERATE(as<int64_t>(), 32'767, 32'768, 65'535, 65'536, 132'000);
    const auto upper = GENERATE(false, true);
    // A whole pack of others: then each addition is of a pack, and one of them brings
    // the counter to exactly half of what it holds, in any order.
    const auto others = GENERATE(as<std::size_t>(), 1, 4);
    std::vector<int32_t> values(at(count), upper ? kBins - 1 : 0);
    // In each warp's packs, so that no warp has a single run.
    values.insert(values.begin() + 64, others, 5);
    for (std::size_t i = 300; i < values.size(); i += 128)
        values.insert(values.begin() + static_cast<std::ptrdiff_t>(i), others, 6);
    grade_counters(values, kBins, "one value, with a few others between");
}

TEST_CASE("a long constant input, many bins") {
    const FewMultiprocessors one(1);
    const LittleSharedMemory little;
    const auto value = GENERATE(as<int32_t>(), 0, 12'999, 13'000);
    grade_counters(std::vector<int32_t>(200'003, value),
                   13'000,
                   "all are " + std::to_string(value));
}

TEST_CASE("counters of 16 bits in any order of threads") {
    // With 5, threads are interrupted between two of their atomic operations. Of three
    // values two are equal, so that no counter is half full when a round ends.
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 5);
    wb::testing::shuffle_threads(seed);
    const FewMultiprocessors one(1);
    const LittleSharedMemory little;
    std::vector<int32_t> values(100'003, 6'499);
    for (std::size_t i = 0; i < values.size(); i += 3)
        values[i] = 12'999;
    grade_counters(values, 13'000, "two values in turn");
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no values: counts are zero, and are written") {
    const auto bins = GENERATE(as<int64_t>(), 1, 256, 70'000);
    const auto grade_empty = [&](const auto& function, auto element) {
        Grader grade(function.name, "n = 0, " + std::to_string(bins) + " bins");
        uint32_t* d_counts = grade.output<uint32_t>("counts", {bins});
        const decltype(element)* none = nullptr;
        grade.run(
            [&](cudaStream_t s) { function.contract(none, d_counts, 0, bins, s); });
        grade.expect(
            "counts", std::vector<double>(at(bins), 0.0), [](int64_t) { return 0.0; });
    };
    grade_empty(kI32, int32_t{});
    grade_empty(kU8, uint8_t{});
}

TEST_CASE("wrong arguments are refused by name") {
    Grader memory("histogram_i32", "wrong arguments");
    uint32_t* const d = memory.output<uint32_t>("d", {32});
    int32_t host[8] = {};
    uint32_t host_counts[8] = {};
    const auto* const values = reinterpret_cast<const int32_t*>(d);
    uint32_t* const counts = d + 16;
    const auto refuse =
        [](const char* part, const int32_t* v, uint32_t* c, int64_t n, int64_t bins) {
            wb::testing::expect_refused("histogram_i32", part, part, [&] {
                histogram_i32(v, c, n, bins, nullptr);
            });
        };
    refuse("n is -1", values, counts, -1, 8);
    refuse("bins is 0", values, counts, 8, 0);
    refuse("bins is -3", values, counts, 0, -3);
    refuse("bins is 2147483649", values, counts, 8, (int64_t{1} << 31) + 1);
    refuse("2305843009213693952 * 4", values, counts, int64_t{1} << 61, 8);
    refuse("values is a null pointer", nullptr, counts, 8, 8);
    refuse("counts is a null pointer", values, nullptr, 0, 8);
    refuse("values is a host pointer", host, counts, 8, 8);
    refuse("counts is a host pointer", values, host_counts, 8, 8);
    const auto* const odd =
        reinterpret_cast<const int32_t*>(reinterpret_cast<const char*>(d) + 2);
    refuse("values is not aligned", odd, counts, 4, 8);
    refuse("counts is not aligned",
           values,
           reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(counts) + 1),
           4,
           4);
    refuse("counts - values in bytes is 28", values, d + 7, 8, 8);
    refuse("counts - values in bytes is -28", values + 7, d, 8, 8);
    refuse("counts - values in bytes is 0", values, d, 8, 1);
    const auto refuse_u8 = [&](const char* part, int64_t n, int64_t bins) {
        wb::testing::expect_refused("histogram_u8", part, part, [&] {
            histogram_u8(
                reinterpret_cast<const uint8_t*>(d) + 1, counts, n, bins, nullptr);
        });
    };
    refuse_u8("histogram_u8: n is -5", -5, 8);
    refuse_u8("histogram_u8: bins is 0", 5, 0);
    refuse_u8("counts - values in bytes is 63", 64, 8);
}

TEST_CASE("counts right behind the values, or right before them, are allowed") {
    const bool behind = GENERATE(false, true);
    const std::vector<int32_t> values = {2, 0, 2, 9, 1, 2, -1, 0, 2};
    const std::vector<double> counted = wb::reference::histogram(values, 3);
    const std::size_t from = behind ? 0 : 3;
    std::vector<int32_t> both(12, 77);
    std::copy(values.begin(), values.end(), both.begin() + static_cast<int>(from));
    std::vector<double> expected(both.begin(), both.end());
    std::copy(counted.begin(), counted.end(), expected.begin() + (behind ? 9 : 0));
    Grader grade("histogram_i32", behind ? "counts = values + n" : "counts before");
    int32_t* d = grade.in_out("both", {12}, both);
    auto* const d_counts = reinterpret_cast<uint32_t*>(d + (behind ? 9 : 0));
    grade.run([&](cudaStream_t s) { histogram_i32(d + from, d_counts, 9, 3, s); });
    grade.expect("both", expected, [](int64_t) { return 0.0; });
}

TEST_CASE("all work is queued on the caller's stream") {
    const int64_t n = GENERATE(0, 1000);
    const auto bins = GENERATE(as<int64_t>(), 256, 65'536);
    Grader grade("histogram_i32", "n = " + std::to_string(n));
    const int32_t* d_values = grade.input("values", std::vector<int32_t>(1000, 1));
    uint32_t* d_counts = grade.output<uint32_t>("counts", {bins});
    grade.expect_queued(
        [&](cudaStream_t s) { histogram_i32(d_values, d_counts, n, bins, s); });
    Grader bytes("histogram_u8", "n = " + std::to_string(n));
    const uint8_t* d_bytes = bytes.input("values", std::vector<uint8_t>(1000, 1));
    uint32_t* d_byte_counts = bytes.output<uint32_t>("counts", {bins});
    bytes.expect_queued(
        [&](cudaStream_t s) { histogram_u8(d_bytes, d_byte_counts, n, bins, s); });
}

TEST_CASE("more than 2^31 values", "[large][serial]") {
    Grader unsolved("histogram_i32", "n = 0");
    uint32_t* d_one = unsolved.output<uint32_t>("counts", {1});
    unsolved.run([&](cudaStream_t s) { histogram_i32(nullptr, d_one, 0, 1, s); });
#ifdef SIMT_CPU
    WB_SKIP("2^31 values are too much for the simulator");
#else
    constexpr int64_t kN = (int64_t{1} << 31) + 4099;
    constexpr int64_t kBins = 1 << 16;
    wb::testing::LargeArrays large(kN, 1);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    auto* const values = reinterpret_cast<int32_t*>(large.x);
    auto* const bytes = reinterpret_cast<uint8_t*>(large.x);
    const std::vector<int64_t> places = {5, int64_t{1} << 30, int64_t{1} << 31, kN - 1};
    const auto grade_large = [](const auto& version,
                                auto* x,
                                int64_t n,
                                double zeros,
                                double of_3) {
        Grader grade(version.name, "n = " + std::to_string(n) + ", few are not equal");
        uint32_t* d_counts = grade.output<uint32_t>("counts", {kBins});
        grade.run([&](cudaStream_t s) { version.function(x, d_counts, n, kBins, s); });
        std::vector<double> expected(kBins, 0.0);
        expected[0] = zeros;
        expected[3] = of_3;
        if (of_3 == 1.0) expected[255] = static_cast<double>(n) - zeros - of_3;
        grade.expect("counts", expected, [](int64_t) { return 0.0; });
    };
    const auto write_threes = [&](int background) {
        CUDA_CHECK(cudaMemset(values, background, kN * sizeof *values));
        const int32_t three = 3;
        for (const int64_t i : places)
            CUDA_CHECK(cudaMemcpy(values + i, &three, sizeof three, cudaMemcpyDefault));
    };
    // One of 128 values is -1, so that no warp has equal ones: each block of an H100
    // counts 504,000 zeros, in runs of four and three.
    const auto last = kI32.versions().back();
    constexpr int64_t kRows = int64_t{1} << 19;
    CUDA_CHECK(cudaMemset2D(values, 512, 0xFF, sizeof *values, kRows));
    grade_large(last, values, 128 * kRows, 127.0 * kRows, 0.0);
    // Zeros, by the last version: v1 would add 2^31 times to one count.
    write_threes(0);
    grade_large(last, values, kN, static_cast<double>(kN) - 4.0, 4.0);
    // Values of -1, which no version counts.
    write_threes(0xFF);
    for (const auto& version : kI32.versions())
        grade_large(version, values, kN, 0.0, 4.0);
    // The same as bytes: a 3 and three zeros, and 255.
    grade_large(kU8.versions().back(), bytes, kN, 3.0, 1.0);
#endif
}

namespace {

constexpr int64_t kGoalValues = 1 << 15;

template <class T>
void grade_goal(const Function<T>& function, Kind kind, int64_t bins) {
    const auto values = values_of<T>(kind, kGoalValues, bins, 1);
    grade_one<T>(function.name, function.contract, values, bins, "seed 1");
}

}  // namespace

TEST_CASE("few additions to global memory, and no sector twice", "[.][goal]") {
    const FewMultiprocessors two(2);
    const wb::testing::Goal goal("histogram_i32");
    grade_goal(kI32, Kind::uniform, 64);
    // Sixteen blocks of stage 1 have 64 counts each.
    goal.atomics_at_most(16 * 64);
    goal.moves_at_most(1.1);
}

TEST_CASE("lanes never meet in a bank", "[.][goal][fast]") {
    const FewMultiprocessors two(2);
    const Kind kind = GENERATE(Kind::uniform, Kind::constant);
    const wb::testing::Goal goal("histogram_u8");
    grade_goal(kU8, kind, 256);
#ifdef SIMT_CPU
    const auto atomics = simt::check::counters("").shared_atomic;
    goal.require(atomics.wavefronts <= atomics.requests,
                 std::to_string(atomics.wavefronts) + " passes of atomic additions, " +
                     std::to_string(atomics.requests) + " would do");
#endif
}

TEST_CASE("16 bytes a load", "[.][goal][fast]") {
    const FewMultiprocessors two(2);
    const wb::testing::Goal goal("histogram_u8");
    grade_goal(kU8, Kind::uniform, 256);
#ifdef SIMT_CPU
    const auto requests = simt::check::counters("").global_load.requests;
    goal.require(requests <= kGoalValues / 512,
                 std::to_string(requests) + " loads of a warp, " +
                     std::to_string(kGoalValues / 512) + " would do");
#endif
}
