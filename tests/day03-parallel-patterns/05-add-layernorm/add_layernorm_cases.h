/// add_layernorm_cases.h: what the tests of this chapter have in common: calls of the
/// forward functions on rows that lie anywhere, and what is right.
#pragma once

#include "add_layernorm_rows.h"

#include <wb/implementations.h>
#include <wb/reference/add_layernorm.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/norms.h>
#include <wb/testing/random.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace add_layernorm_cases {

using wb::testing::kManyRows;

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

/// An array that begins one element later than the others do.
enum class Alone { none, x, other, gamma, beta, h, y, dy, dx, dmul, dgamma, dbeta };

/// One problem. Rows of all matrices may begin at any element, and be slices: those of
/// no two matrices have the same stride, unless they have no gaps.
struct Sizes {
    int64_t rows;
    int64_t columns;
    int64_t from = 0;  ///< the first element of x, other, gamma and beta
    int64_t gap = 0;   ///< elements between two rows of x and other
    int64_t y_from = 0;
    int64_t y_gap = 0;
    Place place = Place::apart;
    bool has_mean = true;
    bool has_rstd = true;
    float eps = 0.25f;  ///< no less: whether it counts is seen in each case
    Dropout dropout = {0.25f, 42, 7};
    Alone alone = Alone::none;

    /// How an input or an output lies, of which there are `before` others.
    Lie in(int64_t before, Alone which) const {
        return {from + (alone == which), wider(gap, before), rows, columns};
    }
    Lie out(int64_t before, Alone which) const {
        return {y_from + (alone == which), wider(y_gap, before), rows, columns};
    }
    Lie in_row(Alone which) const { return {from + (alone == which), 0, 1, columns}; }
    /// Another gap, which keeps vectors as they are: 16 bytes have up to 8 elements.
    static int64_t wider(int64_t gap, int64_t before) {
        return gap == 0 ? 0 : gap + 8 * before;
    }
    /// Where mean and rstd begin: in half of the cases at no multiple of 16 bytes.
    wb::testing::Begin of_rows() const {
        using wb::testing::Begin;
        return rows % 2 == 0 ? Begin::anywhere : Begin::aligned;
    }
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
        if (!has_mean) text += ", no mean";
        if (!has_rstd) text += ", no rstd";
        const char* const names[] = {"",
                                     "x",
                                     "other",
                                     "gamma",
                                     "beta",
                                     "h",
                                     "y",
                                     "dy",
                                     "dx",
                                     "dmul",
                                     "dgamma",
                                     "dbeta"};
        if (alone != Alone::none)
            text += std::string(", ") + names[static_cast<int>(alone)] + " alone later";
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

/// @param x, in  the numbers as they are stored; x is what the norm is of
template <class T>
wb::testing::WantedNorm wanted(What what,
                               const Floats& x,
                               const Numbers& in,
                               const Sizes& s) {
    wb::testing::WantedNorm out;
    const wb::reference::DropoutMask mask = {
        static_cast<double>(s.dropout.p), s.dropout.seed, s.dropout.offset};
    for (int64_t r = 0; r < s.rows; ++r) {
        const float* const g_x = x.data() + r * s.columns;
        const auto eps = static_cast<double>(s.eps);
        const auto row = wb::reference::row_moments(g_x, s.columns, eps, true);
        const wb::testing::RowBounds bounds(row, s.columns, eps, true);
        out.add_row(row, bounds);
        for (int64_t c = 0; c < s.columns; ++c) {
            const double gamma = double{in.gamma[at(c)]};
            const double beta = double{in.beta[at(c)]};
            const double other = double{in.other[at(r * s.columns + c)]};
            double y = wb::reference::normalized(double{g_x[c]}, row, gamma, beta);
            double bound = bounds.of_element(double{g_x[c]}, row, gamma, beta);
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
            out.add_element<T>(y, bound);
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
               const std::string& text,
               bool after_another = false) {
    Grader grade(name, s.text() + text);
    const Lie x_lie = s.in(0, Alone::x);
    const Lie other_lie = s.in(1, Alone::other);
    const Lie h_lie = s.out(0, Alone::h);
    const Lie y_lie = s.out(1, Alone::y);
    const Numbers in = {stored<T>(numbers.x),
                        stored<T>(numbers.other),
                        stored<T>(numbers.gamma),
                        stored<T>(numbers.beta)};
    FusedNorm<T> norm = {};
    norm.rows = s.rows;
    norm.columns = s.columns;
    norm.eps = s.eps;
    norm.dropout = s.dropout;
    norm.gamma = input<T>(grade, "gamma", s.in_row(Alone::gamma), in.gamma).data;
    norm.beta = input<T>(grade, "beta", s.in_row(Alone::beta), in.beta).data;
    if (s.has_mean) norm.mean = grade.output<float>("mean", {s.rows}, s.of_rows());
    if (s.has_rstd) norm.rstd = grade.output<float>("rstd", {s.rows}, s.of_rows());
    // h or y may stand where x or other does.
    const Place place = what == What::norm_mul_dropout ? Place::apart : s.place;
    const bool has_h = what == What::add_layernorm;
    const char* const in_place = has_h ? "h" : "y";
    const Lie& lie = place == Place::x       ? x_lie
                     : place == Place::other ? other_lie
                     : has_h                 ? h_lie
                                             : y_lie;
    const Floats nothing;
    const Floats& before = place == Place::x       ? in.x
                           : place == Place::other ? in.other
                                                   : nothing;
    const Rows<T> written = output<T>(grade, in_place, lie, before);
    const Rows<const T> read = {written.data, written.row_stride};
    norm.x = place == Place::x ? read : input<T>(grade, "x", x_lie, in.x);
    norm.other =
        place == Place::other ? read : input<T>(grade, "other", other_lie, in.other);
    norm.y = written;
    Floats h = in.x;
    if (has_h) {
        norm.h = written;
        norm.y = output<T>(grade, "y", y_lie);
        for (size_t i = 0; i < h.size(); ++i)
            h[i] = static_cast<float>(static_cast<T>(in.x[i] + in.other[i]));
    }
    const auto want = wanted<T>(what, h, in, s);
    grade.run([&](cudaStream_t stream) {
        if (after_another) {  // in the same arrays
            auto before = norm;
            before.eps += 1.0f;
            before.dropout.offset += 1;
            launcher(before, stream);
        }
        launcher(norm, stream);
    });
    if (has_h)
        expect(grade,
               "h",
               lie,
               std::vector<double>(h.begin(), h.end()),
               std::vector<double>(h.size(), 0.0));
    expect(grade, "y", has_h ? y_lie : lie, want.y, want.y_bound);
    const Lie statistics = {0, 0, 1, s.rows};
    if (s.has_rstd) expect(grade, "rstd", statistics, want.rstd, want.rstd_bound);
    if (s.has_mean) expect(grade, "mean", statistics, want.mean, want.mean_bound);
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
