// Grades day07-tuning/03-occupancy-and-ilp: multiprocessors that nobody builds, each
// bit of a copy, one rounding a step, and arguments that others have caught so far.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/special_values.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "grade_kernels.h"
#include "grade_limits.h"
#include "occupancy_and_ilp.h"

namespace {

using wb::testing::Begin;
using wb::testing::expect_refused;

/// Numbers that no architecture of the table has.
constexpr Multiprocessor kInvented[] = {
    // arch, warps, blocks, shared, unit, reserved
    {90, 40, 12, 300 << 10, 512, 0},
    {75, 64, 40, 48 << 10, 384, 2048},
    {130, 96, 7, 77'000, 1000, 3000},
    {80, 33, 100, 99'968, 64, 96},
};

/// One launch of iterate() that gives these numbers and no others.
void expect_exactly(const std::string& what,
                    const std::vector<float>& x,
                    const Map& map,
                    const std::vector<float>& wanted,
                    Begin begin = Begin::aligned) {
    const auto n = static_cast<int64_t>(x.size());
    for (const auto& [name, idea, function] : wb::implementations("iterate", iterate)) {
        wb::testing::Grader grade(name, what);
        const float* d_x = grade.input("x", x, begin);
        float* d_y = grade.output<float>("y", {n}, begin);
        grade.run([&, run = function](cudaStream_t s) {
            run(d_x, d_y, n, map, {4, 0}, s);
        });
        grade.expect("y",
                     std::vector<double>(wanted.begin(), wanted.end()),
                     [](int64_t) { return 0.0; });
    }
}

}  // namespace

TEST_CASE("multiprocessors that nobody builds") {
    wb::testing::Random random(7);
    for (const Multiprocessor& sm : kInvented) {
        for (int i = 0; i < 100; ++i) {
            const Needs needs = {static_cast<int>(1 + random.below(512)),
                                 static_cast<int>(1 + random.below(100)),
                                 static_cast<int64_t>(random.below(20'000))};
            expect_limits(sm, needs, Filling(sm, needs).limits());
            expect_occupancy(sm, needs);
        }
        for (const int threads : {32, 96, 256})
            for (int blocks = 1; blocks <= std::min(4, sm.blocks); ++blocks)
                expect_budget(sm, threads, blocks);
    }
}

TEST_CASE("much under way, of many threads") {
    const auto expect_needed =
        [](const Pipe& pipe, int64_t threads, int size, int wanted) {
            const int got =
                result_of([&] { return independent_needed(pipe, threads, size); });
            if (got != wanted)
                fail("independent_needed(…, " + std::to_string(threads) + " threads, " +
                     std::to_string(size) + ") is " + std::to_string(got) +
                     ", expected " + std::to_string(wanted));
            CHECK(got == wanted);
        };
    constexpr int64_t kThreads = int64_t{1} << 33;
    expect_needed({1.0, 0x1p33}, kThreads, 1, 1);
    expect_needed({3.0, 0x1p33}, kThreads, 1, 3);
    expect_needed({0x1p33, 3.0}, kThreads + (int64_t{1} << 32), 1, 2);
    expect_needed({0x1p40, 0x1p31}, int64_t{1} << 40, 1 << 30, 2);
    expect_needed({0x1p20, 1.0}, 1, 1, 1 << 20);
}

TEST_CASE("a copy keeps each bit") {
    const auto bits = wb::testing::special_bits(3000);
    const auto n = static_cast<int64_t>(bits.size());
    const std::vector<double> expected(bits.begin(), bits.end());
    for (const int each : {1, 4})
        for (const auto& [name, idea, copy] :
             wb::implementations("copy_floats", copy_floats)) {
            wb::testing::Grader grade(name,
                                      "zeros, subnormal numbers, infinities and NaN, "
                                      "looked at as integers");
            const auto* d_x = reinterpret_cast<const float*>(grade.input("x", bits));
            auto* d_y = grade.output<uint32_t>("y", {n});
            grade.run([&, copy = copy](cudaStream_t s) {
                copy(d_x, reinterpret_cast<float*>(d_y), n, {each, 0}, s);
            });
            grade.expect("y", expected, [](int64_t) { return 0.0; });
        }
}

TEST_CASE("a step rounds once") {
    // The product has more bits than a float; the sum needs those that are cut off.
    const float t = 1.0f + 0x1p-12f;
    const float b = -(1.0f + 0x1p-11f);
    expect_exactly("a t + b = 2^-24",
                   {t, -t, t, 1.0f},
                   {t, b, 1},
                   {0x1p-24f, std::fmaf(t, -t, b), 0x1p-24f, std::fmaf(t, 1.0f, b)});
}

TEST_CASE("maps that do not shrink, and numbers that are none") {
    const float infinity = std::numeric_limits<float>::infinity();
    const float none = std::numeric_limits<float>::quiet_NaN();
    expect_exactly("t + 1, a thousand times",
                   {0.0f, 1.0f, -3000.0f},
                   {1.0f, 1.0f, 1000},
                   {1000.0f, 1001.0f, -2000.0f});
    expect_exactly("2 t, 200 times",
                   {1.0f, 0.0f, -1.0f, 0x1p-149f},
                   {2.0f, 0.0f, 200},
                   {infinity, 0.0f, -infinity, 0x1p51f});
    expect_exactly("-t, three times",
                   {5.0f, infinity, none},
                   {-1.0f, 0.0f, 3},
                   {-5.0f, -infinity, none});
    expect_exactly("0 t + 3",
                   {5.0f, infinity, none, -infinity},
                   {0.0f, 3.0f, 2},
                   {3.0f, none, none, none});
    expect_exactly("no step",
                   {5.0f, infinity, none, 0x1p-149f},
                   {0.5f, 3.0f, 0},
                   {5.0f, infinity, none, 0x1p-149f});
    // Half of the smallest subnormal is 0, since it is even.
    expect_exactly("t / 2, twice",
                   {0x1p-147f, 0x1p-148f, 0x1p-126f},
                   {0.5f, 0.0f, 2},
                   {0x1p-149f, 0.0f, 0x1p-128f});
}

TEST_CASE("iterate: more steps than 16 bits count") {
    expect_exactly("t + 1, 66000 times",
                   {0.0f, -5.0f},
                   {1.0f, 1.0f, 66'000},
                   {66'000.0f, 65'995.0f});
}

TEST_CASE("iterate: y may be x, and arrays begin anywhere") {
    for (const int64_t n : {1, 127, 1024, 4100}) {
        const auto x = wb::testing::random_normal(n, 3);
        std::vector<float> wanted;
        for (const float start : x)
            wanted.push_back(std::fmaf(0.5f, std::fmaf(0.5f, start, 2.0f), 2.0f));
        const std::string what = std::to_string(n) + " elements";
        expect_exactly(
            what + " that begin anywhere", x, {0.5f, 2.0f, 2}, wanted, Begin::anywhere);
        for (const auto& [name, idea, function] :
             wb::implementations("iterate", iterate)) {
            wb::testing::Grader grade(name, what + ", y is x");
            float* d_x = grade.in_out("x", {n}, x);
            grade.run([&, run = function](cudaStream_t s) {
                run(d_x, d_x, n, {0.5f, 2.0f, 2}, {8, 0}, s);
            });
            grade.expect("x",
                         std::vector<double>(wanted.begin(), wanted.end()),
                         [](int64_t) { return 0.0; });
        }
    }
}

TEST_CASE("what is out of range is refused, wherever it is given") {
    const Multiprocessor& sm = multiprocessor(90);
    (void)result_of([&] { return occupancy(sm, {32, 32, 0}); });
    constexpr int kLeast = std::numeric_limits<int>::min();
    struct Bad {
        const char* part;
        Needs needs;
    };
    const Bad all[] = {
        {"needs.threads is 0", {0, 32, 0}},
        {"needs.threads is -32", {-32, 32, 0}},
        {"needs.threads is 1025", {1025, 32, 0}},
        {"needs.threads is -2147483648", {kLeast, 32, 0}},
        {"needs.registers is 0", {32, 0, 0}},
        {"needs.registers is -8", {32, -8, 0}},
        {"needs.registers is 256", {32, 256, 0}},
        {"needs.shared_bytes is -1", {32, 32, -1}},
        {"needs.shared_bytes is -4294967296", {32, 32, -(int64_t{1} << 32)}}};
    for (const auto& [part, needs] : all) {
        expect_refused(
            "block_limits", part, part, [&] { (void)block_limits(sm, needs); });
        expect_refused("occupancy", part, part, [&] { (void)occupancy(sm, needs); });
    }
    expect_refused(
        "budget", "-1 blocks", "blocks is -1", [&] { (void)budget(sm, 256, -1); });
    expect_refused(
        "budget", "no threads", "threads is 0", [&] { (void)budget(sm, 0, 1); });
    expect_refused("budget", "1025 threads", "threads is 1025", [&] {
        (void)budget(sm, 1025, 1);
    });
    expect_refused("independent_needed", "threads = -1", "threads is -1", [] {
        (void)independent_needed({1.0, 1.0}, -1, 4);
    });
    for (const int size : {0, -4, kLeast}) {
        const std::string is = "size is " + std::to_string(size);
        expect_refused("independent_needed", is, is, [&] {
            (void)independent_needed({1.0, 1.0}, 32, size);
        });
    }
}
