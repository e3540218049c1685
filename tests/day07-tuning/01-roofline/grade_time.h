/// grade_time.h: predictions against a GPU's clock.
#pragma once

#include "given.h"
#include "roofline.h"

#include <wb/testing/clock.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "grade_cost.h"
#include "measure.h"

/// "memory", as reports say it.
inline const char* name_of(Limit limit) {
    constexpr const char* kNames[] = {
        "memory", "arithmetic", "the load/store units", "the launch"};
    const auto i = static_cast<std::size_t>(limit);
    return i < std::size(kNames) ? kNames[i] : "none of the four";
}

#ifndef SIMT_CPU

/// One launch, what it costs by the learner, and how far the clock may be from that.
struct Measured {
    std::string what;
    Cost cost;
    std::function<void(cudaStream_t)> launch;
    Limit limit;  ///< on every GPU of the workbook
    /// A roof is a roof: nothing is faster, but for what roofs are measured with. How
    /// much slower a kernel may be is stated in the lesson.
    double least = 0.8;
    double most = 2.5;
};

/// Measures, compares, prints a line for each launch, and complains at the end only, so
/// that the whole table is seen.
class TimeGrader {
 public:
    explicit TimeGrader(const Roofs& roofs) : roofs_(roofs) {}

    /// Compares the prediction of one launch with its time; returns that.
    double grade(const Measured& m) {
        const Prediction predicted = predict(m.cost, roofs_);
        const double seconds = wb::testing::median_seconds(m.launch);
        const double factor = seconds / predicted.seconds;
        std::printf("%-26s %-20s predicted %10.2f us, measured %10.2f us, x %.2f\n",
                    m.what.c_str(),
                    name_of(predicted.limit),
                    predicted.seconds * 1e6,
                    seconds * 1e6,
                    factor);
        if (predicted.limit != m.limit) {
            complain(m.what + ": the limit is said to be " + name_of(predicted.limit) +
                     ", but it is " + name_of(m.limit));
        }
        if (!(factor >= m.least && factor <= m.most)) {
            complain(m.what + ": predicted " + in_words(predicted.seconds * 1e6) +
                         " us, measured " + in_words(seconds * 1e6) + " us",
                     "the measured time should be " + in_words(m.least) + " to " +
                         in_words(m.most) + " times the predicted one");
        }
        return seconds;
    }

    /// What doubles if the work doubles was what held the kernel up.
    void expect_ratio(const std::string& what,
                      double ratio,
                      double least,
                      double most) {
        if (ratio >= least && ratio <= most) return;
        complain(what + ": twice the work took " + in_words(ratio) + " times as long",
                 "expected " + in_words(least) + " to " + in_words(most));
    }

    /// Fails the test case if there was a complaint.
    void pronounce() const {
        if (!what_.empty()) fail(what_, more_);
        CHECK(what_.empty());
    }

 private:
    void complain(const std::string& what, const std::string& more = "") {
        if (!what_.empty()) return;
        what_ = what;
        more_ = more;
    }

    Roofs roofs_;
    std::string what_;
    std::string more_;
};

/// The five kernels on sizes that are well inside of their limits; and whether these
/// are the true ones.
inline void grade_times() {
    constexpr int64_t kMany = 1 << 26;
    constexpr int64_t kSome = 1 << 24;
    constexpr int64_t kFew = 1 << 10;
    constexpr int64_t kMatrix = 2048;
    const Roofs roofs = measure_roofs(wb::testing::median_seconds);
    std::printf("roofs: %.1f TFLOP/s, %.0f GB/s, %.1f G requests/s, a launch %.2f us\n",
                roofs.flop_per_s * 1e-12,
                roofs.bytes_per_s * 1e-9,
                roofs.requests_per_s * 1e-9,
                roofs.launch_s * 1e6);
    TimeGrader grader(roofs);
    float* x = nullptr;
    float* y = nullptr;
    constexpr std::size_t kBytesOfX = 8 * kSome * sizeof(float);
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&x), kBytesOfX));
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&y), kMany * sizeof(float)));
    CUDA_CHECK(cudaMemset(x, 0x3C, kBytesOfX));  // 0.0115 each
    CUDA_CHECK(cudaMemset(y, 0x3C, kMany * sizeof(float)));

    const auto saxpy = [&](int64_t n, Limit limit, double least, double most) {
        const auto launch = [=](cudaStream_t s) { launch_saxpy(n, 0.5f, x, y, s); };
        const std::string what = "saxpy, n = " + std::to_string(n);
        return grader.grade({what, saxpy_cost(n), launch, limit, least, most});
    };
    const auto polynomial = [&](int64_t degree, Limit limit) {
        const auto launch = [=](cudaStream_t s) {
            launch_polynomial(kSome, degree, 0.5f, x, y, s);
        };
        const std::string what = "polynomial, degree " + std::to_string(degree);
        return grader.grade({what, polynomial_cost(kSome, degree), launch, limit});
    };

    const double many = saxpy(kMany, Limit::memory, 0.8, 2.0);
    const double half = saxpy(kMany / 2, Limit::memory, 0.8, 2.0);
    grader.expect_ratio("saxpy", many / half, 1.6, 2.4);

    const auto strided = [=](cudaStream_t s) {
        launch_strided_scale(kSome, 8, 0.5f, x, y, s);
    };
    const Cost strided_cost = strided_scale_cost(kSome, 8);
    grader.grade(
        {"strided_scale, stride 8", strided_cost, strided, Limit::memory, 0.8, 2.0});

    const double easy = polynomial(4, Limit::memory);
    const double twice_easy = polynomial(8, Limit::memory);
    grader.expect_ratio("polynomial, degree 4", twice_easy / easy, 0.8, 1.3);
    const double hard = polynomial(1024, Limit::arithmetic);
    const double twice_hard = polynomial(2048, Limit::arithmetic);
    grader.expect_ratio("polynomial, degree 1024", twice_hard / hard, 1.6, 2.4);

    float* x2 = x + kMatrix * kMatrix;
    grader.grade({"matmul_naive, n = 2048",
                  matmul_naive_cost(kMatrix),
                  [=](cudaStream_t s) { launch_matmul_naive(kMatrix, x, x2, y, s); },
                  Limit::load_store,
                  0.8,
                  2.0});
    grader.grade({"matmul_tiled, n = 2048",
                  matmul_tiled_cost(kMatrix),
                  [=](cudaStream_t s) { launch_matmul_tiled(kMatrix, x, x2, y, s); },
                  Limit::load_store,
                  0.8,
                  2.0});

    const double few = saxpy(kFew, Limit::launch, 0.4, 2.5);
    const double twice_few = saxpy(2 * kFew, Limit::launch, 0.4, 2.5);
    grader.expect_ratio("saxpy, n = 1024", twice_few / few, 0.5, 1.6);
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    grader.pronounce();
}

#endif
