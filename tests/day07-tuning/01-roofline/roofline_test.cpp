// Grades day07-tuning/01-roofline: the costs against a trace of the kernels and, in the
// checked programs, against the simulator's counters; the model against a clock.
#include "roofline.h"

#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <limits>
#include <vector>

#include "given.h"
#include "grade_cost.h"
#include "grade_time.h"
#include "trace.h"

namespace {

using wb::testing::Grader;

std::string call_text(const char* function, int64_t n) {
    return std::string(function) + "(" + std::to_string(n) + ")";
}

std::string call_text(const char* function, int64_t n, int64_t other) {
    return std::string(function) + "(" + std::to_string(n) + ", " +
           std::to_string(other) + ")";
}

/// Numbers from -1 to 1: high powers of them stay finite.
std::vector<float> numbers(int64_t count, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values)
        value = static_cast<float>(2.0 * random.uniform() - 1.0);
    return values;
}

void run_saxpy(int64_t n) {
    const auto x = numbers(n, 1);
    const auto y = numbers(n, 2);
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(2.0 * x[i] + y[i]);
    Grader grade("saxpy", "n = " + std::to_string(n));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.in_out("y", {n}, y);
    grade.run([&](cudaStream_t s) { launch_saxpy(n, 2.0f, d_x, d_y, s); });
    grade.expect("y", expected, [](int64_t) { return 1e-6; });
}

void run_strided(int64_t n, int64_t stride) {
    const auto x = numbers((n - 1) * stride + 1, 1);
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i)
        expected.push_back(2.0 * x[static_cast<size_t>(i * stride)]);
    Grader grade("strided_scale", "stride " + std::to_string(stride));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run(
        [&](cudaStream_t s) { launch_strided_scale(n, stride, 2.0f, d_x, d_y, s); });
    grade.expect("y", expected, [](int64_t) { return 0.0; });
}

void run_polynomial(int64_t n, int64_t degree) {
    const auto x = numbers(n, 1);
    std::vector<double> expected;
    for (const float t : x) {
        double p = 1.0;
        for (int64_t step = 0; step < degree; ++step)
            p = p * t + 0.5;
        expected.push_back(p);
    }
    Grader grade("polynomial", "degree " + std::to_string(degree));
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {n});
    grade.run([&](cudaStream_t s) { launch_polynomial(n, degree, 0.5f, d_x, d_y, s); });
    // Each step rounds once, on a number of at most degree + 1.
    const double steps = static_cast<double>(degree) + 1.0;
    grade.expect("y", expected, [=](int64_t) { return 0x1p-24 * steps * steps; });
}

using Product = void(int64_t, const float*, const float*, float*, cudaStream_t);

void run_product(const char* name, Product* launch, int64_t n) {
    const auto a = numbers(n * n, 1);
    const auto b = numbers(n * n, 2);
    std::vector<double> expected;
    for (int64_t i = 0; i < n * n; ++i) {
        double sum = 0.0;
        for (int64_t k = 0; k < n; ++k)
            sum += double{a[static_cast<size_t>(i / n * n + k)]} *
                   b[static_cast<size_t>(k * n + i % n)];
        expected.push_back(sum);
    }
    Grader grade(name, "n = " + std::to_string(n));
    const float* d_a = grade.input("a", a);
    const float* d_b = grade.input("b", b);
    float* d_c = grade.output<float>("c", {n, n});
    grade.run([&](cudaStream_t s) { launch(n, d_a, d_b, d_c, s); });
    const double bound =
        wb::testing::float_bound(static_cast<double>(n), static_cast<double>(n));
    grade.expect("c", expected, [=](int64_t) { return bound; });
}

constexpr int64_t kFew = 1 << 10;
constexpr int64_t kTimes = 1 << 24;
constexpr int64_t kMany = kFew * kTimes;  ///< more than 32 bits can count

/// Compares a cost of more elements than can be traced with the trace of fewer, times
/// these factors.
template <class Predict>
void expect_scaled(const std::string& call,
                   Predict predict_cost,
                   const Trace& few,
                   const Cost& factor = {kTimes, kTimes, kTimes}) {
    const Cost got = result_of(predict_cost);
    const auto judge = [&](const char* field, double value, double wanted) {
        if (near(value, wanted)) return;
        fail(call + "." + field + " is " + in_words(value) + ", but should be " +
             in_words(wanted) + ", which is in proportion to fewer elements");
    };
    const Cost counted = few.cost();
    judge("flop", got.flop, counted.flop * factor.flop);
    judge("dram_bytes", got.dram_bytes, counted.dram_bytes * factor.dram_bytes);
    judge("requests", got.requests, counted.requests * factor.requests);
    CHECK(near(got.flop, counted.flop * factor.flop));
}

/// The same for a product of matrices: operations and requests grow with the third
/// power of the edge, elements with the second.
template <class Predict, class Trace>
void expect_scaled_product(const char* function, Predict predict_cost, Trace trace) {
    constexpr int64_t kEdge = 64;
    constexpr double kLonger = 4096.0;
    constexpr double kCube = kLonger * kLonger * kLonger;
    constexpr int64_t kLarge = kEdge * 4096;
    expect_scaled(call_text(function, kLarge),
                  [=] { return predict_cost(kLarge); },
                  trace(kEdge),
                  {kCube, kLonger * kLonger, kCube});
}

/// What the simulator's checker has counted so far; the operations it cannot count.
Cost counted() {
#ifdef SIMT_CPU
    const simt::check::Counters c = simt::check::counters("");
    return {0.0,
            static_cast<double>(c.bytes_read + c.bytes_written),
            static_cast<double>(c.global_load.requests + c.global_store.requests +
                                c.shared_load.requests + c.shared_store.requests)};
#else
    return {};
#endif
}

/// What the simulator's checker counts in one launch, beside the prediction.
template <class Run>
void expect_counted(const std::string& call, const Cost& predicted, Run run) {
    const wb::testing::Goal goal(call);
    const Cost before = counted();
    run();
    const Cost after = counted();
    const auto judge = [&](const char* what, double got, double wanted) {
        goal.require(near(got, wanted),
                     "predicts " + in_words(got) + " " + what +
                         ", the simulator counts " + in_words(wanted));
    };
    judge("bytes", predicted.dram_bytes, after.dram_bytes - before.dram_bytes);
    judge("requests", predicted.requests, after.requests - before.requests);
}

/// The H100's roofs, as measured, or nearly.
constexpr Roofs kH100{5e13, 3e12, 2.5e11, 4e-6};

/// The limit and the time of a cost under these roofs.
void expect_prediction(const std::string& what,
                       const Cost& cost,
                       const Roofs& roofs,
                       const Prediction& wanted) {
    const Prediction got = result_of([&] { return predict(cost, roofs); });
    if (got.limit != wanted.limit) {
        fail(what + ": the limit is said to be " + name_of(got.limit) + ", but it is " +
             name_of(wanted.limit));
    }
    if (!(std::abs(got.seconds - wanted.seconds) <= 1e-9 * wanted.seconds)) {
        fail(what + ": predict() says " + in_words(got.seconds * 1e6) +
             " us, by the model they are " + in_words(wanted.seconds * 1e6) + " us");
    }
    CHECK(got.limit == wanted.limit);
}

}  // namespace

TEST_CASE("saxpy: two reads, one write, an operation and one more") {
    const auto n = GENERATE(
        as<int64_t>(), 4096, 1000, 100'003, 0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 65);
    const Cost cost = result_of([&] { return saxpy_cost(n); });
    expect_cost(call_text("saxpy_cost", n), cost, trace_saxpy(n));
}

TEST_CASE("saxpy: more elements than 32 bits can count") {
    expect_scaled(
        call_text("saxpy_cost", kMany),
        [] { return saxpy_cost(kMany); },
        trace_saxpy(kFew));
}

TEST_CASE("a strided read: whole sectors, wanted or not") {
    const auto stride = GENERATE(as<int64_t>(), 1, 2, 3, 7, 8, 9, 32, 1000);
    const auto n = GENERATE(as<int64_t>(), 4096, 100'003, 0, 1, 2, 5, 8, 9, 31, 33);
    const Cost cost = result_of([&] { return strided_scale_cost(n, stride); });
    const std::string call = call_text("strided_scale_cost", n, stride);
    expect_cost(call, cost, trace_strided_scale(n, stride));
}

TEST_CASE("a strided read: more elements than 32 bits can count") {
    const auto stride = GENERATE(as<int64_t>(), 5, 1 << 24);
    expect_scaled(
        call_text("strided_scale_cost", kMany, stride),
        [=] { return strided_scale_cost(kMany, stride); },
        trace_strided_scale(kFew, stride));
}

TEST_CASE("a polynomial: as many operations as you like") {
    const auto degree = GENERATE(as<int64_t>(), 1, 16, 1000, 0);
    const auto n = GENERATE(as<int64_t>(), 10'000, 0, 1, 5, 8, 9, 31, 33);
    const Cost cost = result_of([&] { return polynomial_cost(n, degree); });
    const std::string call = call_text("polynomial_cost", n, degree);
    expect_cost(call, cost, trace_polynomial(n, degree));
}

TEST_CASE("a polynomial: more elements than 32 bits can count") {
    expect_scaled(
        call_text("polynomial_cost", kMany, 3),
        [] { return polynomial_cost(kMany, 3); },
        trace_polynomial(kFew, 3));
}

TEST_CASE("a naive matrix product: caches serve memory, nothing serves warps") {
    const auto n = GENERATE(as<int64_t>(), 32, 160, 0);
    const Cost cost = result_of([&] { return matmul_naive_cost(n); });
    expect_cost(call_text("matmul_naive_cost", n), cost, trace_matmul_naive(n));
}

TEST_CASE("a naive matrix product: more elements than 32 bits can count") {
    expect_scaled_product("matmul_naive_cost", matmul_naive_cost, trace_matmul_naive);
}

TEST_CASE("a tiled matrix product: shared memory is asked, too") {
    const auto n = GENERATE(as<int64_t>(), 32, 96, 160, 0);
    const Cost cost = result_of([&] { return matmul_tiled_cost(n); });
    expect_cost(call_text("matmul_tiled_cost", n), cost, trace_matmul_tiled(n));
}

TEST_CASE("a tiled matrix product: more elements than 32 bits can count") {
    expect_scaled_product("matmul_tiled_cost", matmul_tiled_cost, trace_matmul_tiled);
}

TEST_CASE("the given kernels compute what they say") {
    (void)result_of([] { return saxpy_cost(1); });  // of no use without it
    run_saxpy(1000);
    run_strided(1000, GENERATE(as<int64_t>(), 1, 5, 32));
    run_polynomial(1000, GENERATE(as<int64_t>(), 0, 1, 10));
    run_product("matmul_naive", launch_matmul_naive, 64);
    run_product("matmul_tiled", launch_matmul_tiled, 64);
}

TEST_CASE("the slowest of three is the limit, and its time is the kernel's") {
    constexpr double kLaunch = kH100.launch_s;
    expect_prediction("1 GFLOP, 3 GB, a million requests",
                      {1e9, 3e9, 1e6},
                      kH100,
                      {Limit::memory, kLaunch + 1e-3});
    expect_prediction("1 TFLOP, 3 GB, a million requests",
                      {1e12, 3e9, 1e6},
                      kH100,
                      {Limit::arithmetic, kLaunch + 0.02});
    expect_prediction("1 GFLOP, 3 MB, 25 billion requests",
                      {1e9, 3e6, 25e9},
                      kH100,
                      {Limit::load_store, kLaunch + 0.1});
}

TEST_CASE("the same kernel has another limit on another machine") {
    const Cost cost{4e10, 1e9, 1e7};
    constexpr Roofs kSlowMemory{5e13, 1e12, 2.5e11, 1e-6};
    constexpr Roofs kSlowArithmetic{1e13, 3e12, 2.5e11, 1e-6};
    constexpr double kLaunch = 1e-6;
    expect_prediction(
        "slow memory", cost, kSlowMemory, {Limit::memory, kLaunch + 1e-3});
    expect_prediction(
        "slow arithmetic", cost, kSlowArithmetic, {Limit::arithmetic, kLaunch + 4e-3});
}

TEST_CASE("a kernel with little to do is a launch, and little more") {
    constexpr double kLaunch = kH100.launch_s;
    expect_prediction("nothing to do", {}, kH100, {Limit::launch, kLaunch});
    expect_prediction("3.9 us of memory",
                      {0.0, 3.9e-6 * 3e12, 0.0},
                      kH100,
                      {Limit::launch, kLaunch + 3.9e-6});
    expect_prediction("4.1 us of memory",
                      {0.0, 4.1e-6 * 3e12, 0.0},
                      kH100,
                      {Limit::memory, kLaunch + 4.1e-6});
    // Powers of two, so that no time is rounded.
    constexpr Roofs kExact{0x1p40, 0x1p40, 0x1p40, 0x1p-20};
    expect_prediction("as long as the launch, which does not take longer",
                      {0x1p20, 0.0, 0.0},
                      kExact,
                      {Limit::arithmetic, 0x1p-19});
}

TEST_CASE("the simulator counts what was predicted", "[.][goal]") {
    constexpr int64_t kN = 1 << 14;
    constexpr int64_t kMatrix = 64;
    expect_counted(call_text("saxpy_cost", kN), saxpy_cost(kN), [] { run_saxpy(kN); });
    for (const int64_t stride : {1, 3, 8, 32}) {
        expect_counted(call_text("strided_scale_cost", kN, stride),
                       strided_scale_cost(kN, stride),
                       [=] { run_strided(kN, stride); });
    }
    expect_counted(call_text("polynomial_cost", kN, 4), polynomial_cost(kN, 4), [] {
        run_polynomial(kN, 4);
    });
    expect_counted(call_text("matmul_naive_cost", kMatrix),
                   matmul_naive_cost(kMatrix),
                   [] { run_product("matmul_naive", launch_matmul_naive, kMatrix); });
    expect_counted(call_text("matmul_tiled_cost", kMatrix),
                   matmul_tiled_cost(kMatrix),
                   [] { run_product("matmul_tiled", launch_matmul_tiled, kMatrix); });
}

TEST_CASE("the GPU takes as long as predicted", "[serial][large]") {
    (void)result_of([] { return predict(saxpy_cost(1 << 20), kH100); });
#ifdef SIMT_CPU
    WB_SKIP("times are measured on a GPU, and there is none here");
#else
    result_of([] { grade_times(); });  // other functions may not be written yet
#endif
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    (void)result_of([] { return saxpy_cost(1); });
    expect_refused("saxpy_cost", "n = -1", "n is -1", [] { (void)saxpy_cost(-1); });
    expect_refused("strided_scale_cost", "stride = 0", "stride is 0", [] {
        (void)strided_scale_cost(4, 0);
    });
    expect_refused("polynomial_cost", "degree = -1", "degree is -1", [] {
        (void)polynomial_cost(4, -1);
    });
    expect_refused(
        "matmul_naive_cost", "n = 33", "n is 33", [] { (void)matmul_naive_cost(33); });
    expect_refused("matmul_tiled_cost", "n = -32", "n is -32", [] {
        (void)matmul_tiled_cost(-32);
    });
    expect_refused("predict", "no bandwidth", "roofs", [] {
        (void)predict({1.0, 1.0, 1.0}, {1e12, 0.0, 1e12, 1e-6});
    });
}
