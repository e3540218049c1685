/// layernorm_cases.h: what the tests of this chapter have in common: calls of the
/// forward functions on arrays that begin anywhere, and what is right.
#pragma once

#include "layernorm.h"

#include <wb/implementations.h>
#include <wb/reference/layernorm.h>
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

namespace layernorm_cases {

using wb::testing::Grader;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr double kU = wb::testing::kUnitRoundoff<float>;

inline size_t at(int64_t i) {
    return static_cast<size_t>(i);
}

/// One function of the contract, and its name.
template <class Arguments>
struct Function {
    const char* name;
    void (*call)(const Arguments&, cudaStream_t);

    auto versions() const { return wb::implementations(name, call); }
};
template <class T>
using Forward = Function<Norm<T>>;
template <class T>
using Backward = Function<NormGradient<T>>;

template <class T>
Forward<T> forward(bool is_centered);
template <>
inline Forward<float> forward<float>(bool is_centered) {
    if (is_centered) return {"layer_norm", layer_norm};
    return {"rms_norm", rms_norm};
}
template <>
inline Forward<Half> forward<Half>(bool is_centered) {
    if (is_centered) return {"layer_norm_fp16", layer_norm_fp16};
    return {"rms_norm_fp16", rms_norm_fp16};
}
template <>
inline Forward<Bf16> forward<Bf16>(bool is_centered) {
    if (is_centered) return {"layer_norm_bf16", layer_norm_bf16};
    return {"rms_norm_bf16", rms_norm_bf16};
}

template <class T>
Backward<T> backward(bool is_centered);
template <>
inline Backward<float> backward<float>(bool is_centered) {
    if (is_centered) return {"layer_norm_backward", layer_norm_backward};
    return {"rms_norm_backward", rms_norm_backward};
}
template <>
inline Backward<Half> backward<Half>(bool is_centered) {
    if (is_centered) return {"layer_norm_backward_fp16", layer_norm_backward_fp16};
    return {"rms_norm_backward_fp16", rms_norm_backward_fp16};
}
template <>
inline Backward<Bf16> backward<Bf16>(bool is_centered) {
    if (is_centered) return {"layer_norm_backward_bf16", layer_norm_backward_bf16};
    return {"rms_norm_backward_bf16", rms_norm_backward_bf16};
}

/// Calls check<T>(is_centered) for the function with this number, of six.
template <class Check>
void with_function(int64_t number, Check check) {
    const bool is_centered = number < 3;
    switch (number % 3) {
        case 0:
            return check.template operator()<float>(is_centered);
        case 1:
            return check.template operator()<Half>(is_centered);
        default:
            return check.template operator()<Bf16>(is_centered);
    }
}
inline constexpr int64_t kFunctions = 6;

/// One problem; x and y may begin at any element of their memory, gamma and beta begin
/// where x does.
struct Sizes {
    int64_t rows;
    int64_t columns;
    int64_t x_from = 0;
    int64_t y_from = 0;
    bool in_place = false;
    bool has_gamma = true;
    bool has_beta = true;
    bool has_statistics = true;  ///< mean and rstd are wanted
    float eps = 1e-5f;

    int64_t count() const { return rows * columns; }
    std::string text() const {
        std::string text =
            "rows " + std::to_string(rows) + ", columns " + std::to_string(columns);
        if (x_from > 0) text += ", x from element " + std::to_string(x_from);
        if (in_place) text += ", in place";
        if (y_from > 0) text += ", y from element " + std::to_string(y_from);
        if (!has_gamma) text += ", no gamma";
        if (!has_beta) text += ", no beta";
        if (!has_statistics) text += ", no mean and rstd";
        return text;
    }
};

/// The additions of a sum over a row, by the contract.
inline double additions(int64_t columns) {
    return 64.0 + static_cast<double>(columns) / 32.0;
}

/// How far the results of a row may be from the exact ones.
struct RowBounds {
    double mean = 0.0;
    double rstd = 0.0;      ///< relative
    double distance = 0.0;  ///< of x - mean, beside its own rounding

    RowBounds(const wb::reference::RowMoments& row,
              int64_t columns,
              double eps,
              bool is_centered) {
        using wb::testing::gamma;
        if (std::isnan(row.rstd) || std::isinf(row.variance)) return;
        const double k = additions(columns);
        const double e = is_centered ? gamma(k + 3.0, kU) * row.size : 0.0;
        const double v = row.variance;
        const double error =
            gamma(k + 6.0, kU) * (v + e * e) + e * e + 2.0 * e * std::sqrt(v);
        const double largest = 1.0 / std::sqrt(std::max(v - error, 0.0) + eps);
        const double smallest = 1.0 / std::sqrt(v + error + eps);
        mean = e + wb::testing::kSmallestFloat;
        rstd = std::max(largest / row.rstd - 1.0, 1.0 - smallest / row.rstd) + 8.0 * kU;
        distance = e;
    }
};

/// The numbers of one call.
struct Numbers {
    std::vector<float> x, gamma, beta;
};

/// x with a few outliers or without; gamma around 1, beta around 0.
inline Numbers random_numbers(const Sizes& s, uint64_t seed = 1) {
    Numbers numbers = {wb::testing::random_normal(s.count(), seed),
                       wb::testing::random_normal(s.columns, seed + 100),
                       wb::testing::random_normal(s.columns, seed + 200)};
    for (float& factor : numbers.gamma)
        factor = 1.0f + 0.1f * factor;
    return numbers;
}

/// An input with `from` elements before it that must not be counted; `stored` becomes
/// what its values are after rounding to T.
template <class T>
const T* input_from(Grader& grade,
                    const char* name,
                    int64_t from,
                    const std::vector<float>& values,
                    std::vector<float>& stored) {
    std::vector<T> all(at(from), T(9e4f));
    stored.clear();
    for (const float value : values) {
        all.push_back(T(value));
        stored.push_back(static_cast<float>(all.back()));
    }
    return grade.input(name, all) + from;
}

/// What y has to be, and how far from it a result may be.
struct Wanted {
    std::vector<double> y, y_bound, mean, mean_bound, rstd, rstd_bound;
};

/// @param in  the numbers as they are stored; gamma and beta empty if there are none
template <class T>
Wanted wanted(const Numbers& in, const Sizes& s, bool is_centered) {
    Wanted out;
    for (int64_t r = 0; r < s.rows; ++r) {
        const float* const x = in.x.data() + r * s.columns;
        const auto row =
            wb::reference::row_moments(x, s.columns, double{s.eps}, is_centered);
        const RowBounds bounds(row, s.columns, double{s.eps}, is_centered);
        out.mean.push_back(row.mean);
        out.mean_bound.push_back(bounds.mean);
        out.rstd.push_back(row.rstd);
        out.rstd_bound.push_back(std::isnan(row.rstd) ? 0.0 : bounds.rstd * row.rstd);
        for (int64_t c = 0; c < s.columns; ++c) {
            const double gamma = in.gamma.empty() ? 1.0 : double{in.gamma[at(c)]};
            const double beta = in.beta.empty() ? 0.0 : double{in.beta[at(c)]};
            const double y = wb::reference::normalized(double{x[c]}, row, gamma, beta);
            const double distance = std::abs(double{x[c]} - row.mean);
            const double scale = std::abs(gamma) * row.rstd;
            const double factors = (1.0 + bounds.rstd) * (1.0 + 4.0 * kU);
            double bound = scale * ((distance + bounds.distance) * factors - distance) +
                           4.0 * kU * (std::abs(beta) + scale * distance) +
                           wb::testing::kSmallestFloat;
            if constexpr (!std::is_same_v<T, float>)
                bound = wb::testing::stored_bound<T>(y, bound);
            out.y.push_back(y);
            out.y_bound.push_back(std::isnan(y) ? 0.0 : bound);
        }
    }
    return out;
}

/// One launcher on these numbers.
template <class T>
void grade_one(const std::string& name,
               void (*launcher)(const Norm<T>&, cudaStream_t),
               bool is_centered,
               const Sizes& s,
               const Numbers& numbers,
               const std::string& what) {
    Grader grade(name, s.text() + what);
    Numbers in;
    const auto input = [&](const char* array, const auto& values, auto& stored) {
        return input_from<T>(grade, array, s.x_from, values, stored);
    };
    Norm<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.eps = s.eps;
    if (s.has_gamma) norm.gamma = input("gamma", numbers.gamma, in.gamma);
    if (s.has_beta) norm.beta = input("beta", numbers.beta, in.beta);
    if (s.has_statistics) {
        norm.rstd = grade.output<float>("rstd", {s.rows});
        if (is_centered) norm.mean = grade.output<float>("mean", {s.rows});
    }
    const int64_t before = s.in_place ? s.x_from : s.y_from;
    if (s.in_place) {  // what lies before x is no part of it, and must stay
        std::vector<T> all(at(s.x_from), T(7.0f));
        for (const float value : numbers.x) {
            all.push_back(T(value));
            in.x.push_back(static_cast<float>(all.back()));
        }
        norm.y = grade.in_out("y", {before + s.count()}, all) + before;
        norm.x = norm.y;
    } else {
        norm.x = input("x", numbers.x, in.x);
        const auto places = before + s.count();
        if (before == 0)
            norm.y = grade.output<T>("y", {s.rows, s.columns});
        else
            norm.y = grade.in_out("y", {places}, std::vector<T>(at(places), T(7.0f))) +
                     before;
    }
    const Wanted want = wanted<T>(in, s, is_centered);
    std::vector<double> expected(at(before), 7.0);
    expected.insert(expected.end(), want.y.begin(), want.y.end());
    grade.run([&](cudaStream_t stream) { launcher(norm, stream); });
    grade.expect("y", expected, [&](int64_t i) {
        return i < before ? 0.0 : want.y_bound[at(i - before)];
    });
    if (!s.has_statistics) return;
    const auto bound_of = [](const std::vector<double>& bounds) {
        return [&](int64_t i) { return bounds[at(i)]; };
    };
    grade.expect("rstd", want.rstd, bound_of(want.rstd_bound));
    if (is_centered) grade.expect("mean", want.mean, bound_of(want.mean_bound));
}

/// The forward function with this number, or all.
inline void grade_numbers(const Sizes& s,
                          const Numbers& numbers,
                          const std::string& what,
                          int64_t only = -1) {
    for (int64_t number = 0; number < kFunctions; ++number) {
        if (only >= 0 && only != number) continue;
        with_function(number, [&]<class T>(bool is_centered) {
            for (const auto& [name, idea, call] : forward<T>(is_centered).versions())
                grade_one<T>(name, call, is_centered, s, numbers, what);
        });
    }
}

inline void grade_random(const Sizes& s, int64_t only = -1, uint64_t seed = 1) {
    grade_numbers(s, random_numbers(s, seed), ", seed " + std::to_string(seed), only);
}

}  // namespace layernorm_cases
