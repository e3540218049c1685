/// grade_kernels.h: runs the kernels on one problem, and compares with double.
#pragma once

#include <wb/implementations.h>
#include <wb/testing/bounds.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "grade_limits.h"
#include "occupancy_and_ilp.h"
#include "rods.h"

/// "n = 33, 4 pieces a thread, ballast 0".
inline std::string copy_case(int64_t n, const Variant& variant) {
    return "n = " + std::to_string(n) + ", " + std::to_string(variant.each) +
           " pieces a thread, ballast " + std::to_string(variant.ballast);
}

/// Every rung, or the learner's function.
inline void grade_copy(int64_t n, const Variant& variant) {
    const auto x = wb::testing::random_normal(n, 1);
    const std::vector<double> expected(x.begin(), x.end());
    for (const auto& [name, idea, copy] :
         wb::implementations("copy_floats", copy_floats)) {
        wb::testing::Grader grade(name, copy_case(n, variant));
        const float* d_x = grade.input("x", x);
        float* d_y = grade.output<float>("y", {n});
        grade.run([&, copy = copy](cudaStream_t s) { copy(d_x, d_y, n, variant, s); });
        grade.expect("y", expected, [](int64_t) { return 0.0; });
    }
}

inline void grade_iterate(int64_t n, const Map& map, const Variant& variant) {
    const auto x = wb::testing::random_normal(n, 1);
    std::vector<double> expected;
    for (const float start : x) {
        double t = start;
        for (int step = 0; step < map.steps; ++step)
            t = double{map.a} * t + map.b;
        expected.push_back(t);
    }
    const double fixed = std::abs(map.b) / (1.0 - std::abs(map.a));
    for (const auto& [name, idea, function] : wb::implementations("iterate", iterate)) {
        wb::testing::Grader grade(
            name,
            "n = " + std::to_string(n) + ", " + std::to_string(map.steps) + " steps, " +
                std::to_string(variant.each) + " chains a thread");
        const float* d_x = grade.input("x", x);
        float* d_y = grade.output<float>("y", {n});
        grade.run(
            [&, run = function](cudaStream_t s) { run(d_x, d_y, n, map, variant, s); });
        grade.expect("y", expected, [&](int64_t i) {
            const double start = std::abs(x[static_cast<size_t>(i)]);
            return wb::testing::float_bound(map.steps, std::max(start, fixed));
        });
    }
}

inline void grade_rods(RodVariant variant, int64_t n, int steps) {
    constexpr float kC = 0.25f;
    constexpr size_t kStride = kRodThreads;
    const auto before = wb::testing::random_normal(n * kRodCells, 1);
    std::vector<double> expected(before.begin(), before.end());
    double largest = 0.0;
    for (const float value : before)
        largest = std::max(largest, std::abs(double{value}));
    for (size_t rod = 0; rod < static_cast<size_t>(n); ++rod) {
        double* cell = &expected[rod / kStride * kRodCells * kStride + rod % kStride];
        for (int step = 0; step < steps; ++step) {
            double left = 0.0;
            for (size_t j = 0; j < kRodCells; ++j) {
                const double old = cell[j * kStride];
                const double right = j + 1 < kRodCells ? cell[(j + 1) * kStride] : 0.0;
                cell[j * kStride] = old + kC * (left - 2.0 * old + right);
                left = old;
            }
        }
    }
    wb::testing::Grader grade("launch_rods", name_of(variant));
    float* d_rods = grade.in_out("rods", {n, kRodCells}, before);
    grade.run([&](cudaStream_t s) { launch_rods(variant, d_rods, n, steps, kC, s); });
    const double bound = wb::testing::float_bound(3.0 * steps + 3.0, largest);
    grade.expect("rods", expected, [&](int64_t) { return bound; });
}

/// Fails unless all loads of a thread come before its first store. y begins `row`
/// elements after x, where the second load of each thread is: who stores too early,
/// loads what it has just stored. Nobody touches what is another thread's.
///
/// @param row     elements that a block loads at a time
/// @param pieces  what the pieces of a thread are called
/// @param launch  y = x, n elements of one block
inline void expect_loads_first(
    const char* name,
    const char* pieces,
    int64_t row,
    int each,
    const std::function<void(const float*, float*, int64_t, cudaStream_t)>& launch) {
    const int64_t n = row * each;
    const auto before = wb::testing::random_normal(n + row, 1);
    const std::string what = std::string(name) + ", y = x + " + std::to_string(row) +
                             ", " + copy_case(n, {each, 0});
    wb::testing::Grader grade(name, what);
    float* both = grade.in_out("x and y", {n + row}, before);
    grade.run([&](cudaStream_t s) { launch(both, both + row, n, s); });
    const std::vector<double> after = grade.read("x and y");
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double got = after[static_cast<size_t>(i + row)];
        if (got != before[static_cast<size_t>(i)]) ++wrong;
    }
    if (wrong == 0) return;
    fail(
        what + ": " + std::to_string(wrong) + " of " + std::to_string(n) +
            " elements of y are not what x was before the launch",
        std::string("likely cause: a load comes after a store; load everything into an "
                    "array first, in a loop of its own. Or a thread does not have ") +
            pieces);
}
