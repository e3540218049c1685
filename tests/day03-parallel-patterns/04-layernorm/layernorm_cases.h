/// layernorm_cases.h: what the tests of this chapter have in common: calls of the
/// forward functions on arrays that begin anywhere, and what is right.
#pragma once

#include "layernorm.h"

#include <wb/implementations.h>
#include <wb/reference/layernorm.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/norms.h>
#include <wb/testing/random.h>

#include <limits>
#include <string>
#include <vector>

namespace layernorm_cases {

using wb::testing::Grader;
using wb::testing::kManyRows;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

/// An array that begins one element later than the others do.
enum class Alone { none, x, gamma, beta, y, dy, dx, dgamma, dbeta };

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
    bool has_mean = true;  ///< of a LayerNorm: is wanted
    bool has_rstd = true;  ///< is wanted
    float eps = 0.25f;     ///< no less: whether it counts is seen in each case
    Alone alone = Alone::none;

    /// Where an array begins that is at element `from`, unless it stands alone.
    int64_t place(int64_t from, Alone which) const { return from + (alone == which); }
    /// Where mean and rstd begin: in half of the cases at no multiple of 16 bytes.
    wb::testing::Begin of_rows() const {
        using wb::testing::Begin;
        return rows % 2 == 0 ? Begin::anywhere : Begin::aligned;
    }
    int64_t count() const { return rows * columns; }
    std::string text() const {
        std::string text =
            "rows " + std::to_string(rows) + ", columns " + std::to_string(columns);
        const char* const names[] = {
            "", "x", "gamma", "beta", "y", "dy", "dx", "dgamma", "dbeta"};
        if (alone != Alone::none)
            text += std::string(", ") + names[static_cast<int>(alone)] + " alone later";
        if (x_from > 0) text += ", x from element " + std::to_string(x_from);
        if (in_place) text += ", in place";
        if (y_from > 0) text += ", y from element " + std::to_string(y_from);
        if (!has_gamma) text += ", no gamma";
        if (!has_beta) text += ", no beta";
        if (!has_mean) text += ", no mean";
        if (!has_rstd) text += ", no rstd";
        return text;
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

/// @param in  the numbers as they are stored; gamma and beta empty if there are none
template <class T>
wb::testing::WantedNorm wanted(const Numbers& in, const Sizes& s, bool is_centered) {
    wb::testing::WantedNorm out;
    for (int64_t r = 0; r < s.rows; ++r) {
        const float* const x = in.x.data() + r * s.columns;
        const auto row =
            wb::reference::row_moments(x, s.columns, double{s.eps}, is_centered);
        const wb::testing::RowBounds bounds(row, s.columns, double{s.eps}, is_centered);
        out.add_row(row, bounds);
        for (int64_t c = 0; c < s.columns; ++c) {
            const double gamma = in.gamma.empty() ? 1.0 : double{in.gamma[at(c)]};
            const double beta = in.beta.empty() ? 0.0 : double{in.beta[at(c)]};
            out.add_element<T>(
                wb::reference::normalized(double{x[c]}, row, gamma, beta),
                bounds.of_element(double{x[c]}, row, gamma, beta));
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
    const auto input =
        [&](const char* array, Alone which, const auto& values, auto& stored) {
            return input_from<T>(
                grade, array, s.place(s.x_from, which), values, stored);
        };
    Norm<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.eps = s.eps;
    if (s.has_gamma) norm.gamma = input("gamma", Alone::gamma, numbers.gamma, in.gamma);
    if (s.has_beta) norm.beta = input("beta", Alone::beta, numbers.beta, in.beta);
    const bool has_mean = s.has_mean && is_centered;
    if (has_mean) norm.mean = grade.output<float>("mean", {s.rows}, s.of_rows());
    if (s.has_rstd) norm.rstd = grade.output<float>("rstd", {s.rows}, s.of_rows());
    const int64_t before = s.in_place ? s.x_from : s.place(s.y_from, Alone::y);
    if (s.in_place) {  // what lies before x is no part of it, and must stay
        std::vector<T> all(at(s.x_from), T(7.0f));
        for (const float value : numbers.x) {
            all.push_back(T(value));
            in.x.push_back(static_cast<float>(all.back()));
        }
        norm.y = grade.in_out("y", {before + s.count()}, all) + before;
        norm.x = norm.y;
    } else {
        norm.x = input("x", Alone::x, numbers.x, in.x);
        const auto places = before + s.count();
        if (before == 0)
            norm.y = grade.output<T>("y", {s.rows, s.columns});
        else
            norm.y = grade.in_out("y", {places}, std::vector<T>(at(places), T(7.0f))) +
                     before;
    }
    const auto want = wanted<T>(in, s, is_centered);
    std::vector<double> expected(at(before), 7.0);
    expected.insert(expected.end(), want.y.begin(), want.y.end());
    grade.run([&](cudaStream_t stream) { launcher(norm, stream); });
    grade.expect("y", expected, [&](int64_t i) {
        return i < before ? 0.0 : want.y_bound[at(i - before)];
    });
    const auto bound_of = [](const std::vector<double>& bounds) {
        return [&](int64_t i) { return bounds[at(i)]; };
    };
    if (s.has_rstd) grade.expect("rstd", want.rstd, bound_of(want.rstd_bound));
    if (has_mean) grade.expect("mean", want.mean, bound_of(want.mean_bound));
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
