// Grades day07-tuning/01-roofline: counts past 63 bits, limits that are nearly level,
// and each argument that is refused.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "grade_cost.h"
#include "grade_time.h"
#include "roofline.h"

namespace {

using wb::testing::expect_refused;

/// Compares a cost with one that was reckoned in floating point.
void expect_reckoned(const std::string& call,
                     const std::function<Cost()>& predict_cost,
                     const Cost& wanted) {
    const Cost got = result_of(predict_cost);
    const auto judge = [&](const char* field, double value, double right) {
        if (near(value, right)) return;
        fail(call + "." + field + " is " + in_words(value) + ", but should be " +
             in_words(right));
    };
    judge("flop", got.flop, wanted.flop);
    judge("dram_bytes", got.dram_bytes, wanted.dram_bytes);
    judge("requests", got.requests, wanted.requests);
    CHECK(near(got.flop, wanted.flop));
}

/// Times of memory, of arithmetic and of loads and stores, in microseconds, under
/// roofs that make them so.
void expect_limit(double memory, double arithmetic, double load_store, Limit wanted) {
    constexpr Roofs kRoofs{3e13, 2e12, 5e11, 2e-6};
    const Cost cost{arithmetic * 1e-6 * kRoofs.flop_per_s,
                    memory * 1e-6 * kRoofs.bytes_per_s,
                    load_store * 1e-6 * kRoofs.requests_per_s};
    const Prediction got = result_of([&] { return predict(cost, kRoofs); });
    const std::string what = in_words(memory) + " us of memory, " +
                             in_words(arithmetic) + " of arithmetic, " +
                             in_words(load_store) + " of loads and stores";
    const double seconds =
        kRoofs.launch_s + 1e-6 * std::max({memory, arithmetic, load_store});
    if (got.limit != wanted)
        fail(what + ": the limit is said to be " + name_of(got.limit) + ", but it is " +
             name_of(wanted));
    if (!(std::abs(got.seconds - seconds) <= 1e-9 * seconds))
        fail(what + ": predict() says " + in_words(got.seconds * 1e6) +
             " us, by the model they are " + in_words(seconds * 1e6));
    CHECK(got.limit == wanted);
}

}  // namespace

TEST_CASE("counts past 63 bits") {
    constexpr double kN = 0x1p34;
    expect_reckoned(
        "polynomial_cost(2^34, 2^31 - 1)",
        [] { return polynomial_cost(int64_t{1} << 34, (int64_t{1} << 31) - 1); },
        {2.0 * kN * 0x1p31, 8.0 * kN, kN / 16.0});
    expect_reckoned("polynomial_cost(2^20, 2^45)",
                    [] { return polynomial_cost(int64_t{1} << 20, int64_t{1} << 45); },
                    {0x1p66, 0x1p23, 0x1p16});
    constexpr double kEdge = 0x1p23;
    constexpr double kWarps = kEdge * kEdge / 32.0;
    expect_reckoned("matmul_naive_cost(2^23)",
                    [] { return matmul_naive_cost(int64_t{1} << 23); },
                    {2.0 * kEdge * kEdge * kEdge,
                     12.0 * kEdge * kEdge,
                     kWarps * (2.0 * kEdge + 1.0)});
    expect_reckoned("matmul_tiled_cost(2^23)",
                    [] { return matmul_tiled_cost(int64_t{1} << 23); },
                    {2.0 * kEdge * kEdge * kEdge,
                     12.0 * kEdge * kEdge,
                     kWarps * (kEdge / 32.0 * 68.0 + 1.0)});
    // A stride that no array could have, of a single element.
    expect_reckoned("strided_scale_cost(1, 2^62)",
                    [] { return strided_scale_cost(1, int64_t{1} << 62); },
                    {1.0, 64.0, 2.0});
}

TEST_CASE("the limit, where two are nearly level") {
    expect_limit(100.0, 99.0, 0.0, Limit::memory);
    expect_limit(99.0, 100.0, 0.0, Limit::arithmetic);
    expect_limit(100.0, 0.0, 99.0, Limit::memory);
    expect_limit(99.0, 0.0, 100.0, Limit::load_store);
    expect_limit(0.0, 100.0, 99.0, Limit::arithmetic);
    expect_limit(0.0, 99.0, 100.0, Limit::load_store);
    expect_limit(98.0, 99.0, 100.0, Limit::load_store);
    expect_limit(100.0, 99.0, 98.0, Limit::memory);
    expect_limit(99.0, 100.0, 98.0, Limit::arithmetic);
}

TEST_CASE("the limit, where there is one kind of work") {
    for (const double us : {2.1, 1e3, 1e9}) {
        expect_limit(us, 0.0, 0.0, Limit::memory);
        expect_limit(0.0, us, 0.0, Limit::arithmetic);
        expect_limit(0.0, 0.0, us, Limit::load_store);
    }
    for (const double us : {1.9, 1e-3}) {
        expect_limit(us, 0.0, 0.0, Limit::launch);
        expect_limit(0.0, us, 0.0, Limit::launch);
        expect_limit(0.0, 0.0, us, Limit::launch);
    }
}

TEST_CASE("each size is looked at") {
    (void)result_of([] { return saxpy_cost(1); });
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    for (const int64_t n : {int64_t{-1}, -(int64_t{1} << 32), kLeast}) {
        const std::string is = "n is " + std::to_string(n);
        expect_refused("saxpy_cost", is, is, [=] { (void)saxpy_cost(n); });
        expect_refused(
            "strided_scale_cost", is, is, [=] { (void)strided_scale_cost(n, 1); });
        expect_refused("polynomial_cost", is, is, [=] { (void)polynomial_cost(n, 1); });
        const std::string degree = "degree is " + std::to_string(n);
        expect_refused(
            "polynomial_cost", degree, degree, [=] { (void)polynomial_cost(0, n); });
        const std::string stride = "stride is " + std::to_string(n);
        expect_refused("strided_scale_cost", stride, stride, [=] {
            (void)strided_scale_cost(0, n);
        });
    }
    for (const int64_t n : {int64_t{-32},
                            -(int64_t{1} << 32),
                            kLeast,
                            int64_t{1},
                            int64_t{8},
                            int64_t{16},
                            int64_t{31},
                            int64_t{33},
                            int64_t{48},
                            (int64_t{1} << 32) + 1}) {
        const std::string is = "n is " + std::to_string(n);
        expect_refused(
            "matmul_naive_cost", is, is, [=] { (void)matmul_naive_cost(n); });
        expect_refused(
            "matmul_tiled_cost", is, is, [=] { (void)matmul_tiled_cost(n); });
    }
}

TEST_CASE("each roof is looked at") {
    (void)result_of([] { return predict({}, {1e12, 1e12, 1e12, 1e-6}); });
    for (const double value : {0.0, -1.0, std::nan("")})
        for (double Roofs::*roof : {&Roofs::flop_per_s,
                                    &Roofs::bytes_per_s,
                                    &Roofs::requests_per_s,
                                    &Roofs::launch_s}) {
            Roofs roofs{1e12, 1e12, 1e12, 1e-6};
            roofs.*roof = value;
            for (const Cost& cost : {Cost{}, Cost{1e9, 1e9, 1e9}})
                expect_refused(
                    "predict", "a roof of " + std::to_string(value), "roofs", [&] {
                        (void)predict(cost, roofs);
                    });
        }
}
