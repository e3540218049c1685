/// add_layernorm_cases.h: what the tests of this chapter have in common: calls of the
/// forward functions on rows that lie anywhere, and what is right.
#pragma once

#include "add_layernorm_rows.h"

#include <wb/implementations.h>
#include <wb/reference/add_layernorm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace add_layernorm_cases {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr double kU = wb::testing::kUnitRoundoff<float>;

/// What is computed, and the name of the function.
enum class What { layernorm_add, add_layernorm, norm_mul_dropout };

template <class T>
struct Function {
    const char* name;
    void (*call)(const FusedNorm<T>&, cudaStream_t);
    What what;

    auto versions() const { return wb::implementations(name, call); }
};

/// Calls check(function) for the function with this number.
inline constexpr int64_t kFunctions = 8;
template <class Check>
void with_function(int64_t number, Check check) {
    const auto add = What::add_layernorm;
    const auto residual = What::layernorm_add;
    const auto drop = What::norm_mul_dropout;
    switch (number) {
        case 0:
            return check(Function<float>{"add_layernorm", add_layernorm, add});
        case 1:
            return check(Function<Half>{"add_layernorm_fp16", add_layernorm_fp16, add});
        case 2:
            return check(Function<Bf16>{"add_layernorm_bf16", add_layernorm_bf16, add});
        case 3:
            return check(Function<float>{"layernorm_add", layernorm_add, residual});
        case 4:
            return check(
                Function<Half>{"layernorm_add_fp16", layernorm_add_fp16, residual});
        case 5:
            return check(
                Function<Bf16>{"layernorm_add_bf16", layernorm_add_bf16, residual});
        case 6:
            return check(Function<float>{"norm_mul_dropout", norm_mul_dropout, drop});
        default:
            return check(
                Function<Bf16>{"norm_mul_dropout_bf16", norm_mul_dropout_bf16, drop});
    }
}

/// What may be h, or y of layernorm_add().
enum class Place { apart, x, other };

/// One problem. Rows of all matrices may begin at any element, and be slices.
struct Sizes {
    int64_t rows;
    int64_t columns;
    int64_t from = 0;  ///< the first element of x, other, gamma and beta
    int64_t gap = 0;   ///< elements between two rows of x and other
    int64_t y_from = 0;
    int64_t y_gap = 0;
    Place place = Place::apart;
    bool has_statistics = true;
    float eps = 1e-5f;
    Dropout dropout = {0.25f, 42, 7};

    int64_t count() const { return rows * columns; }
    std::string text() const {
        std::string text =
            "rows " + std::to_string(rows) + ", columns " + std::to_string(columns);
        const auto say = [&](const char* what, int64_t value) {
            if (value > 0) text += std::string(what) + std::to_string(value);
        };
        say(", from element ", from);
        say(", gap ", gap);
        say(", y from element ", y_from);
        say(", gap of y ", y_gap);
        if (place == Place::x) text += ", in the place of x";
        if (place == Place::other) text += ", in the place of other";
        if (!has_statistics) text += ", no mean and rstd";
        return text;
    }
};

/// The numbers of one call.
struct Numbers {
    Floats x, other, gamma, beta;
};

inline Numbers random_numbers(const Sizes& s, uint64_t seed = 1) {
    Numbers numbers = {wb::testing::random_normal(s.count(), seed),
                       wb::testing::random_normal(s.count(), seed + 50),
                       wb::testing::random_normal(s.columns, seed + 100),
                       wb::testing::random_normal(s.columns, seed + 200)};
    for (float& factor : numbers.gamma)
        factor = 1.0f + 0.1f * factor;
    return numbers;
}

/// The bound of a result of type T.
template <class T>
double bound_of(double exact, double bound) {
    if (std::isnan(exact) || std::isinf(exact)) return 0.0;
    if constexpr (std::is_same_v<T, float>)
        return bound + wb::testing::kSmallestFloat;
    else
        return wb::testing::stored_bound<T>(exact, bound + wb::testing::kSmallestFloat);
}

/// What y, mean and rstd have to be, and how far from them a result may be.
struct Wanted {
    std::vector<double> y, y_bound, mean, mean_bound, rstd, rstd_bound;
};

/// How far mean, rstd and x - mean may be off, by the contract.
struct RowBounds {
    double mean = 0.0;
    double rstd = 0.0;  ///< relative

    RowBounds(const wb::reference::RowMoments& row, int64_t columns, double eps) {
        using wb::testing::gamma;
        if (std::isnan(row.rstd) || std::isinf(row.variance)) return;
        const double k = 64.0 + static_cast<double>(columns) / 32.0;
        const double e = gamma(k + 3.0, kU) * row.size;
        const double v = row.variance;
        const double error =
            gamma(k + 6.0, kU) * (v + e * e) + e * e + 2.0 * e * std::sqrt(v);
        const double largest = 1.0 / std::sqrt(std::max(v - error, 0.0) + eps);
        const double smallest = 1.0 / std::sqrt(v + error + eps);
        mean = e + wb::testing::kSmallestFloat;
        rstd = std::max(largest / row.rstd - 1.0, 1.0 - smallest / row.rstd) + 8.0 * kU;
    }
};

/// @param x, in  the numbers as they are stored; x is what the norm is of
template <class T>
Wanted wanted(What what, const Floats& x, const Numbers& in, const Sizes& s) {
    Wanted out;
    const wb::reference::DropoutMask mask = {
        static_cast<double>(s.dropout.p), s.dropout.seed, s.dropout.offset};
    for (int64_t r = 0; r < s.rows; ++r) {
        const float* const g_x = x.data() + r * s.columns;
        const auto eps = static_cast<double>(s.eps);
        const auto row = wb::reference::row_moments(g_x, s.columns, eps, true);
        const RowBounds bounds(row, s.columns, eps);
        out.mean.push_back(row.mean);
        out.mean_bound.push_back(bounds.mean);
        out.rstd.push_back(row.rstd);
        out.rstd_bound.push_back(std::isnan(row.rstd) ? 0.0 : bounds.rstd * row.rstd);
        for (int64_t c = 0; c < s.columns; ++c) {
            const double gamma = double{in.gamma[at(c)]};
            const double beta = double{in.beta[at(c)]};
            const double other = double{in.other[at(r * s.columns + c)]};
            double y = wb::reference::normalized(double{g_x[c]}, row, gamma, beta);
            const double distance = std::abs(double{g_x[c]} - row.mean);
            const double scale = std::abs(gamma) * row.rstd;
            const double factors = (1.0 + bounds.rstd) * (1.0 + 4.0 * kU);
            double bound = scale * ((distance + bounds.mean) * factors - distance) +
                           4.0 * kU * (std::abs(beta) + scale * distance);
            if (what == What::layernorm_add) {
                y += other;
                bound += kU * (std::abs(y) + bound);
            } else if (what == What::norm_mul_dropout) {
                const double factor = mask.factor(r, c);
                y = factor == 0.0 ? 0.0 : y * other * factor;
                const double error = bound * std::abs(other) * factor;
                bound = factor == 0.0
                            ? 0.0
                            : error * (1.0 + 8.0 * kU) + 8.0 * kU * std::abs(y);
            }
            out.y.push_back(y);
            out.y_bound.push_back(bound_of<T>(y, bound));
        }
    }
    return out;
}

/// One launcher on these numbers.
template <class T>
void grade_one(const std::string& name,
               void (*launcher)(const FusedNorm<T>&, cudaStream_t),
               What what,
               const Sizes& s,
               const Numbers& numbers,
               const std::string& text) {
    Grader grade(name, s.text() + text);
    const Lie in_lie = {s.from, s.gap, s.rows, s.columns};
    const Lie out_lie = {s.y_from, s.y_gap, s.rows, s.columns};
    const Lie row_lie = {s.from, 0, 1, s.columns};
    const Numbers in = {stored<T>(numbers.x),
                        stored<T>(numbers.other),
                        stored<T>(numbers.gamma),
                        stored<T>(numbers.beta)};
    FusedNorm<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.eps = s.eps;
    norm.dropout = s.dropout;
    norm.gamma = input<T>(grade, "gamma", row_lie, in.gamma).data;
    norm.beta = input<T>(grade, "beta", row_lie, in.beta).data;
    if (s.has_statistics) {
        norm.mean = grade.output<float>("mean", {s.rows});
        norm.rstd = grade.output<float>("rstd", {s.rows});
    }
    // h or y may stand where x or other does.
    const Place place = what == What::norm_mul_dropout ? Place::apart : s.place;
    const char* const in_place = what == What::add_layernorm ? "h" : "y";
    const Lie& lie = place == Place::apart ? out_lie : in_lie;
    const Floats nothing;
    const Floats& before = place == Place::x       ? in.x
                           : place == Place::other ? in.other
                                                   : nothing;
    const Rows<T> written = output<T>(grade, in_place, lie, before);
    const Rows<const T> read = {written.data, written.row_stride};
    norm.x = place == Place::x ? read : input<T>(grade, "x", in_lie, in.x);
    norm.other =
        place == Place::other ? read : input<T>(grade, "other", in_lie, in.other);
    norm.y = written;
    Floats h = in.x;
    if (what == What::add_layernorm) {
        norm.h = written;
        norm.y = output<T>(grade, "y", out_lie);
        for (size_t i = 0; i < h.size(); ++i)
            h[i] = static_cast<float>(static_cast<T>(in.x[i] + in.other[i]));
    }
    const Wanted want = wanted<T>(what, h, in, s);
    grade.run([&](cudaStream_t stream) { launcher(norm, stream); });
    if (what == What::add_layernorm)
        expect(grade,
               "h",
               lie,
               std::vector<double>(h.begin(), h.end()),
               std::vector<double>(h.size(), 0.0));
    expect(
        grade, "y", what == What::add_layernorm ? out_lie : lie, want.y, want.y_bound);
    if (!s.has_statistics) return;
    const Lie statistics = {0, 0, 1, s.rows};
    expect(grade, "rstd", statistics, want.rstd, want.rstd_bound);
    expect(grade, "mean", statistics, want.mean, want.mean_bound);
}

/// The forward function with this number, or all.
inline void grade_numbers(const Sizes& s,
                          const Numbers& numbers,
                          const std::string& text,
                          int64_t only = -1) {
    for (int64_t number = 0; number < kFunctions; ++number) {
        if (only >= 0 && only != number) continue;
        with_function(number, [&]<class T>(const Function<T>& function) {
            for (const auto& [name, idea, call] : function.versions())
                grade_one<T>(name, call, function.what, s, numbers, text);
        });
    }
}

inline void grade_random(const Sizes& s, int64_t only = -1, uint64_t seed = 1) {
    grade_numbers(s, random_numbers(s, seed), ", seed " + std::to_string(seed), only);
}

}  // namespace add_layernorm_cases
