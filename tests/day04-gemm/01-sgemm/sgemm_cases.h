/// sgemm_cases.h: what the tests of this chapter have in common: calls of sgemm() with
/// matrices anywhere in memory, gaps between their rows, and what is right.
#pragma once

#include "sgemm.h"

#include <wb/implementations.h>
#include <wb/reference/gemm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

using wb::GemmShape;
using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What lies around C and between its rows.
inline constexpr float kOutside = 7.0f;

/// One call; the arrays may begin at any element of their memory.
struct Call {
    GemmShape shape;
    float alpha = 1.0f;
    float beta = 0.0f;
    int64_t a_from = 0;
    int64_t b_from = 0;
    int64_t c_from = 0;

    std::string text() const {
        const auto number = [](double value) {
            char digits[32];
            std::snprintf(digits, sizeof digits, "%.9g", value);
            return std::string(digits);
        };
        std::string text =
            std::string(shape.transpose_a ? "T" : "N") +
            (shape.transpose_b ? "T" : "N") + ", M " + std::to_string(shape.M) +
            ", N " + std::to_string(shape.N) + ", K " + std::to_string(shape.K) +
            ", lda " + std::to_string(shape.lda) + ", ldb " +
            std::to_string(shape.ldb) + ", ldc " + std::to_string(shape.ldc) +
            ", alpha " + number(alpha) + ", beta " + number(beta);
        if (a_from > 0) text += ", A from element " + std::to_string(a_from);
        if (b_from > 0) text += ", B from element " + std::to_string(b_from);
        if (c_from > 0) text += ", C from element " + std::to_string(c_from);
        if (FewMultiprocessors::count() != 132)
            text += ", multiprocessors " + std::to_string(FewMultiprocessors::count());
        return text;
    }
};

/// The elements of a matrix, row by row as it is stored; NaN between rows and in front,
/// where nothing may be read.
inline std::vector<float> stored(const std::vector<float>& elements,
                                 int64_t from,
                                 int64_t columns,
                                 int64_t ld,
                                 float between = kNan) {
    std::vector<float> result(static_cast<size_t>(from), between);
    const auto count = static_cast<int64_t>(elements.size());
    for (int64_t first = 0; first < count; first += columns) {
        if (first > 0)
            result.insert(result.end(), static_cast<size_t>(ld - columns), between);
        result.insert(
            result.end(), elements.begin() + first, elements.begin() + first + columns);
    }
    return result;
}

/// The elements of the three matrices, without gaps.
struct Numbers {
    std::vector<float> a;
    std::vector<float> b;
    std::vector<float> c;
};

/// Random numbers. C is NaN where it must not be read.
inline Numbers random_numbers(const Call& call, uint64_t seed = 1) {
    const GemmShape& s = call.shape;
    Numbers numbers{wb::testing::random_normal(s.M * s.K, seed),
                    wb::testing::random_normal(s.K * s.N, seed + 100),
                    wb::testing::random_normal(s.M * s.N, seed + 200)};
    if (call.beta == 0.0f) numbers.c.assign(numbers.c.size(), kNan);
    return numbers;
}

/// One launcher on these numbers.
inline void grade_one(const std::string& name,
                      decltype(&sgemm) launcher,
                      const Call& call,
                      const Numbers& numbers,
                      const std::string& what) {
    const GemmShape& s = call.shape;
    Grader grade(name, call.text() + what);
    const auto a = stored(numbers.a, 0, s.columns_of_a(), s.lda);
    const auto b = stored(numbers.b, 0, s.columns_of_b(), s.ldb);
    const auto c = stored(numbers.c, 0, s.N, s.ldc, kOutside);
    const auto exact = wb::reference::gemm(s, call.alpha, a, b, call.beta, c);
    const auto behind = [](const std::vector<float>& matrix, int64_t from) {
        std::vector<float> all(static_cast<size_t>(from), kNan);
        all.insert(all.end(), matrix.begin(), matrix.end());
        return all;
    };
    const float* const d_a = grade.input("A", behind(a, call.a_from)) + call.a_from;
    const float* const d_b = grade.input("B", behind(b, call.b_from)) + call.b_from;
    std::vector<double> expected(static_cast<size_t>(call.c_from), kOutside);
    expected.insert(expected.end(), exact.c.begin(), exact.c.end());
    float* d_c = nullptr;
    if (call.beta == 0.0f && call.c_from == 0 && s.ldc == s.N) {
        d_c = grade.output<float>("C", {s.M, s.N});
    } else {
        auto before = stored(numbers.c, call.c_from, s.N, s.ldc, kOutside);
        d_c = grade.in_out("C", {static_cast<int64_t>(before.size())}, before) +
              call.c_from;
    }
    grade.run([&](cudaStream_t stream) {
        launcher(s, call.alpha, d_a, d_b, call.beta, d_c, stream);
    });
    grade.expect("C", expected, [&](int64_t i) {
        const double value = expected[static_cast<size_t>(i)];
        if (i < call.c_from || !std::isfinite(value)) return 0.0;
        const double magnitude = exact.magnitude[static_cast<size_t>(i - call.c_from)];
        if (magnitude == 0.0) return 0.0;  // between rows, or a sum of zeros
        const auto roundings = static_cast<double>(s.K + 3);
        return wb::testing::float_bound(roundings, magnitude);
    });
}

/// All versions on these numbers.
inline void grade_numbers(const Call& call,
                          const Numbers& numbers,
                          const std::string& what) {
    for (const auto& [name, idea, launcher] : wb::implementations("sgemm", sgemm))
        grade_one(name, launcher, call, numbers, what);
}

inline void grade_random(const Call& call, uint64_t seed = 1) {
    grade_numbers(call, random_numbers(call, seed), ", seed " + std::to_string(seed));
}
