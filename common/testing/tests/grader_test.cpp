// What the grader lets pass. What it rejects, and in which words, is in
// grader_rejects.cpp.
#include <wb/arguments.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels.h"

namespace {

using namespace wb::testing;

constexpr int64_t kN = 300;

std::vector<double> twice(const std::vector<float>& x) {
    std::vector<double> y;
    for (const float v : x)
        y.push_back(2.0 * static_cast<double>(v));
    return y;
}

double exactly(int64_t) {
    return 0.0;
}

}  // namespace

TEST_CASE("grader: a right kernel passes, and its output can be read") {
    const auto x = random_normal(kN, 1);
    Grader grade("scale", "n = 300");
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {kN});
    grade.run([&](cudaStream_t s) { launch_scale(d_x, d_y, {2, 0, 0, kN}, s); });
    grade.expect("y", twice(x), exactly);
    CHECK(grade.read("y") == twice(x));
}

TEST_CASE("grader: an array that is updated in place starts with its values") {
    const auto x = random_normal(kN, 1);
    Grader grade("scale", "in place");
    float* d_x = grade.in_out("x", {kN}, x);
    grade.run([&](cudaStream_t s) { launch_scale(d_x, d_x, {2, 0, 0, kN}, s); });
    grade.expect("x", twice(x), exactly);
}

TEST_CASE("grader: every run starts anew, so that an update in place can be repeated") {
    const auto x = random_normal(kN, 1);
    Grader grade("scale", "twice");
    float* d_x = grade.in_out("x", {kN}, x);
    for (int repeat = 0; repeat < 2; ++repeat) {
        grade.run([&](cudaStream_t s) { launch_scale(d_x, d_x, {2, 0, 0, kN}, s); });
        grade.expect("x", twice(x), exactly);
    }
}

TEST_CASE("grader: integers are read as numbers") {
    const std::vector<int> x = {5, -7, 1 << 30};
    Grader grade("copy", "ints");
    const int* d_x = grade.input("x", x);
    int* d_y = grade.output<int>("y", {3});
    grade.run([&](cudaStream_t s) {
        CUDA_CHECK(
            cudaMemcpyAsync(d_y, d_x, 3 * sizeof(int), cudaMemcpyDeviceToDevice, s));
    });
    CHECK(grade.read("y") == std::vector<double>{5, -7, 1 << 30});
    grade.expect("y", {5, -7, 1 << 30}, exactly);
}

TEST_CASE("grader: a poisoned float is a NaN") {
    Grader grade("nothing", "an output that nobody writes");
    (void)grade.output<float>("y", {2});
    grade.run([](cudaStream_t) {});
    for (const double value : grade.read("y"))
        CHECK(std::isnan(value));
}

TEST_CASE("grader: a NaN that is wanted may look like poison") {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const std::vector<float> x = {std::bit_cast<float>(~0u), 1.0f};
    Grader grade("copy", "a NaN of all ones");
    const float* d_x = grade.input("x", x);
    float* d_y = grade.output<float>("y", {2});
    grade.run([&](cudaStream_t s) {
        CUDA_CHECK(
            cudaMemcpyAsync(d_y, d_x, 2 * sizeof(float), cudaMemcpyDeviceToDevice, s));
    });
    grade.expect("y", {kNaN, 1.0}, exactly);
}

TEST_CASE("grader: zeros and NaN may be the same for other numbers, too") {
    // As in rows without keys, and one that sees a NaN.
    const float nan = std::bit_cast<float>(0xFFFFFFFFu);
    Grader grade("nan_v1", "NaN");
    const float* d_x = grade.input("x", std::vector<float>{nan, 1.0f, nan});
    float* d_y = grade.output<float>("y", {3});
    grade.run([&](cudaStream_t s) {
        launch_scale(d_x, d_y, {2, 0, 0, 3}, s);
        CUDA_CHECK(cudaMemsetAsync(d_y + 1, 0, sizeof(float), s));
    });
    grade.expect("y", {NAN, 0.0, NAN}, [](int64_t) { return 0.0; });
}

TEST_CASE("grader: an output of no elements is right") {
    Grader grade("nothing", "n = 0");
    (void)grade.output<float>("y", {0});
    grade.run([](cudaStream_t) {});
    grade.expect("y", {}, exactly);
}

TEST_CASE("grader: zero-size work that launches nothing passes") {
    Grader grade("scale", "n = 0");
    grade.expect_no_work([](cudaStream_t) {});
}

TEST_CASE("grader: work that waits on the given stream passes, and has not run") {
    Grader grade("scale", "n = 300");
    const float* d_x = grade.input("x", std::vector<float>(300, 1.0f));
    float* d_y = grade.output<float>("y", {300});
    grade.expect_queued([&](cudaStream_t s) {
        launch_scale(d_x, d_y, {2, 0, 0, 300}, s);
    });
    CHECK(std::isnan(grade.read("y")[0]));
    // Nothing is left of it: the arrays serve for another launch.
    grade.run([&](cudaStream_t s) { launch_scale(d_x, d_y, {2, 0, 0, 300}, s); });
    grade.expect("y", std::vector<double>(300, 2.0), exactly);
}

TEST_CASE("grader: a refusal that names the argument passes") {
    expect_refused(
        "scale", "n = -1", "n is -1", [] { wb::Arguments("scale").size("n", -1); });
}

TEST_CASE("grader: a test that asks for an unknown array is told so") {
    Grader grade("scale", "n = 300");
    CHECK_THROWS_AS(grade.read("z"), std::logic_error);
    (void)grade.output<float>("y", {2});
    CHECK_THROWS_AS(grade.expect("y", {1.0}, exactly), std::logic_error);
}
