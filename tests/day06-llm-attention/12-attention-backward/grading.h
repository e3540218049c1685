// grading.h: one problem, given to every version in fp32 or in bf16, and how far from
// the exact gradients a kernel may be.
#pragma once

#include "attention_backward.h"

#include <wb/implementations.h>
#include <wb/reference/attention.h>
#include <wb/reference/attention_backward.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/covering.h>
#include <wb/testing/grader.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace backward_grading {

using wb::AttentionShape;
using wb::testing::Grader;
using Inputs = wb::reference::BackwardInputs<float>;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float>;

template <class T>
const char* type_name() {
    return kIsFloat<T> ? "fp32" : "bf16";
}

/// A number after it was stored as T. Monotone: what is larger stays so.
template <class T>
double stored(double x) {
    return static_cast<double>(
        static_cast<float>(static_cast<T>(static_cast<float>(x))));
}

/// How far from x the rounded value of a number in [x - error, x + error] may be.
/// Rounding is monotone, so that its ends say it; a number that T has loses nothing.
template <class T>
double rounded_error(double x, double error) {
    return std::max({error,
                     std::abs(stored<T>(x - error) - x),
                     std::abs(stored<T>(x + error) - x)});
}

/// q, k and v as T stores them, the gradient of o, and what the forward pass makes of
/// them: its o as T stores it, its log-sum-exp as a float.
template <class T>
Inputs inputs_of(const AttentionShape& shape,
                 const wb::testing::AttentionInputs& numbers,
                 std::uint64_t seed) {
    const auto as_stored = [](const std::vector<float>& from) {
        std::vector<float> to;
        for (const float x : from)
            to.push_back(static_cast<float>(stored<T>(double{x})));
        return to;
    };
    Inputs in;
    in.q = as_stored(numbers.q);
    in.k = as_stored(numbers.k);
    in.v = as_stored(numbers.v);
    in.d_o = as_stored(wb::testing::random_normal(shape.query_elements(), seed + 2000));
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const auto weights = wb::reference::attention_row(shape, in.q, in.k, row);
        in.lse.push_back(static_cast<float>(weights.lse));
        std::vector<double> o(at(shape.head_dim), 0.0);
        for (std::size_t j = 0; j < weights.weights.size(); ++j) {
            const float* const v = &in.v[at(weights.first_kv) + j * o.size()];
            for (std::size_t d = 0; d < o.size(); ++d)
                o[d] += weights.weights[j] * double{v[d]};
        }
        for (const double x : o)
            in.o.push_back(static_cast<float>(stored<T>(x)));
    }
    return in;
}

/// Whole numbers of which all sums are exact. q is 0 in odd columns and k in even ones:
/// all scores are 0. lse is a multiple of log(2), so that a weight is a power of two, 4
/// to 1 / 8; o is no mean of v. A pair too many, or one too few, shows whatever is
/// rounded.
inline Inputs whole_numbers(const AttentionShape& shape, std::uint64_t seed) {
    wb::testing::Random random(seed);
    Inputs in;
    const auto fill = [&](std::vector<float>& to, int64_t count, int64_t of, int from) {
        for (int64_t i = 0; i < count; ++i) {
            const bool used = from < 0 || i % 2 == from;
            const auto x = static_cast<float>(random.below(2 * of + 1) - of);
            to.push_back(used ? (x == 0.0f ? 1.0f : x) : 0.0f);
        }
    };
    fill(in.q, shape.query_elements(), 3, 0);
    fill(in.k, shape.kv_elements(), 3, 1);
    // One column in eight of d_o is not zero: products of rows stay below 128.
    fill(in.v, shape.kv_elements(), 2, -1);
    fill(in.o, shape.query_elements(), 2, -1);
    fill(in.d_o, shape.query_elements(), 1, -1);
    for (std::size_t i = 0; i < in.d_o.size(); ++i)
        if ((i + i / at(shape.head_dim)) % 8 != 0) in.d_o[i] = 0.0f;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const bool sees =
            wb::visible_keys(
                shape.queries, shape.keys, shape.causal, row % shape.queries) > 0;
        in.lse.push_back(
            sees ? static_cast<float>(std::log(2.0) * double(random.below(6) - 2))
                 : -std::numeric_limits<float>::infinity());
    }
    return in;
}

/// A gradient and its bound.
struct Wanted {
    std::vector<double> values;
    std::vector<double> bounds;
};

struct Expected {
    Wanted dq, dk, dv;
};

/// How far a weight and the gradient of a score may be from exact ones.
struct PairError {
    double weight;
    double d_score;
};

/// In float: see the contract. In bf16, both are rounded.
template <class T>
PairError pair_error(const wb::reference::BackwardPair& pair,
                     int64_t dim,
                     double scale) {
    using wb::testing::gamma;
    using wb::testing::kSmallestFloat;
    constexpr double u = wb::testing::kUnitRoundoff<float>;
    const double n = static_cast<double>(dim);
    const double exponent = gamma(n + 4.0, u) * pair.score_size +
                            4.0 * u * (std::abs(pair.score) + std::abs(pair.lse));
    const double relative = std::expm1(exponent) + 6.0 * u;
    // Of an infinite score or lse the weight is exact: 0 or infinity.
    const bool is_exact = std::isinf(pair.lse) || std::isinf(pair.score);
    const double weight = (is_exact ? 0.0 : pair.weight * relative) + kSmallestFloat;
    const double difference = pair.d_weight - pair.delta;
    const double sums = gamma(n + 2.0, u) * (pair.d_weight_size + pair.delta_size) +
                        u * std::abs(difference);
    const double d_score = (pair.weight + weight) * sums +
                           weight * std::abs(difference) + u * std::abs(pair.d_score) +
                           kSmallestFloat;
    if constexpr (kIsFloat<T>) return {weight, d_score};
    // The scale may have been multiplied before or after the rounding.
    double rounded = rounded_error<T>(pair.d_score, d_score);
    if (scale != 0.0) {
        const double scaled = rounded_error<T>(
            scale * pair.d_score, std::abs(scale) * d_score * (1.0 + 2.0 * u));
        rounded = std::max(rounded, scaled / std::abs(scale));
    }
    return {rounded_error<T>(pair.weight, weight), rounded};
}

/// The exact gradients of these numbers, which T has, and their bounds.
template <class T>
Expected expect(const AttentionShape& shape, const Inputs& in) {
    constexpr double u = wb::testing::kUnitRoundoff<float>;
    const int64_t D = shape.head_dim;
    const double scale = std::abs(double{shape.scale});
    Expected e;
    e.dq.bounds.assign(at(shape.query_elements()), 0.0);
    e.dk.bounds.assign(at(shape.kv_elements()), 0.0);
    e.dv.bounds.assign(at(shape.kv_elements()), 0.0);
    // Terms of the sum for a key, and of that for a query.
    const double group =
        static_cast<double>(shape.query_heads / std::max<int64_t>(shape.kv_heads, 1));
    const double for_key =
        wb::testing::gamma(2.0 * group * static_cast<double>(shape.queries) + 20.0, u);
    const double for_query =
        wb::testing::gamma(2.0 * static_cast<double>(shape.keys) + 20.0, u);
    const auto visit = [&](const wb::reference::BackwardPair& pair) {
        const PairError error = pair_error<T>(pair, D, double{shape.scale});
        const double in_dv = error.weight + for_key * (pair.weight + error.weight);
        const double size = std::abs(pair.d_score) + error.d_score;
        const double in_dk = scale * (error.d_score + for_key * size);
        const double in_dq = scale * (error.d_score + for_query * size);
        const float* const q = &in.q[at(pair.row * D)];
        const float* const k = &in.k[at(pair.kv_row * D)];
        const float* const d_o = &in.d_o[at(pair.row * D)];
        double* const dq = &e.dq.bounds[at(pair.row * D)];
        double* const dk = &e.dk.bounds[at(pair.kv_row * D)];
        double* const dv = &e.dv.bounds[at(pair.kv_row * D)];
        for (int64_t d = 0; d < D; ++d) {
            dq[d] += in_dq * std::abs(double{k[d]});
            dk[d] += in_dk * std::abs(double{q[d]});
            dv[d] += in_dv * std::abs(double{d_o[d]});
        }
    };
    auto exact = wb::reference::attention_backward(shape, in, visit);
    const auto finish = [](Wanted& w, std::vector<double>& values) {
        w.values = std::move(values);
        for (std::size_t i = 0; i < w.values.size(); ++i) {
            if (w.bounds[i] == 0.0) continue;  // nothing to add up: an exact 0
            if (!std::isfinite(w.values[i])) {
                w.bounds[i] = 0.0;
                continue;
            }
            const double bound = w.bounds[i] + 2.0 * u * std::abs(w.values[i]) +
                                 wb::testing::kSmallestFloat;
            w.bounds[i] = rounded_error<T>(w.values[i], bound);
        }
    };
    finish(e.dq, exact.dq);
    finish(e.dk, exact.dk);
    finish(e.dv, exact.dv);
    return e;
}

/// The contract's function for a type, and every version of it.
template <class T>
using Launcher = void(const AttentionBackward<T>&, cudaStream_t);

template <class T>
Launcher<T>* contract() {
    if constexpr (kIsFloat<T>)
        return attention_backward_fp32;
    else
        return attention_backward_bf16;
}

template <class T>
std::string exercise() {
    return std::string("attention_backward_") + type_name<T>();
}

template <class T>
auto implementations_of() {
    return wb::implementations(exercise<T>(), contract<T>());
}

/// The call whose arrays a grader owns.
///
/// @param begin  where they begin, but lse, which begins anywhere
template <class T>
AttentionBackward<T> call_of(Grader& grade,
                             const AttentionShape& shape,
                             const Inputs& in,
                             bool deterministic,
                             wb::testing::Begin begin = wb::testing::Begin::vectors) {
    using wb::testing::rounded;
    const auto heads = shape.query_heads;
    AttentionBackward<T> call = {};
    call.shape = shape;
    call.q = grade.input("q", rounded<T>(in.q), begin);
    call.k = grade.input("k", rounded<T>(in.k), begin);
    call.v = grade.input("v", rounded<T>(in.v), begin);
    call.o = grade.input("o", rounded<T>(in.o), begin);
    call.lse = grade.input("lse", in.lse, wb::testing::Begin::anywhere);
    call.d_o = grade.input("d_o", rounded<T>(in.d_o), begin);
    call.dq = grade.output<T>(
        "dq", {shape.batch, heads, shape.queries, shape.head_dim}, begin);
    const wb::testing::Shape of_keys = {
        shape.batch, shape.kv_heads, shape.keys, shape.head_dim};
    call.dk = grade.output<T>("dk", of_keys, begin);
    call.dv = grade.output<T>("dv", of_keys, begin);
    call.deterministic = deterministic;
    return call;
}

/// Compares the gradients with exact ones; of no numbers there is nothing to compare.
inline void expect_all(Grader& grade, const Expected& e) {
    const auto compare = [&](const char* array, const Wanted& w) {
        if (w.values.empty()) return;
        grade.expect(array, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
    };
    compare("dv", e.dv);
    compare("dk", e.dk);
    compare("dq", e.dq);
}

/// One version on these numbers.
template <class T>
void grade_one(const std::string& name,
               Launcher<T>* launch,
               const AttentionShape& shape,
               const Inputs& in,
               const Expected& e,
               const std::string& text,
               bool deterministic) {
    Grader grade(name,
                 std::string(type_name<T>()) + ", " + wb::describe(shape) + text +
                     (deterministic ? ", deterministic" : ""));
    const auto call = call_of<T>(grade, shape, in, deterministic);
    grade.run([&](cudaStream_t stream) { launch(call, stream); });
    expect_all(grade, e);
}

/// Every version of a type.
template <class T>
void grade_type(const AttentionShape& shape,
                const Inputs& in,
                const std::string& text,
                bool deterministic = false) {
    const Expected e = expect<T>(shape, in);
    for (const auto& [name, idea, launch] : implementations_of<T>())
        grade_one<T>(name, launch, shape, in, e, text, deterministic);
}

/// Under the checker, the versions of the solution show all of their kernels without
/// call.deterministic: some give the same bits always.
inline bool shows_all_without_flag() {
    return wb::testing::is_watched() && implementations_of<__nv_bfloat16>().size() > 1;
}

/// Every version of both types: random numbers and whole ones.
inline void grade(const AttentionShape& shape, std::uint64_t seed = 1) {
    const auto numbers = wb::testing::random_attention(shape, seed);
    const std::string text = ", seed " + std::to_string(seed);
    grade_type<float>(shape, inputs_of<float>(shape, numbers, seed), text);
    grade_type<__nv_bfloat16>(
        shape, inputs_of<__nv_bfloat16>(shape, numbers, seed), text);
    if (shows_all_without_flag()) return;
    grade_type<__nv_bfloat16>(
        shape, whole_numbers(shape, seed), ", whole numbers" + text, true);
}

inline AttentionShape grouped(AttentionShape shape, int64_t group) {
    shape.query_heads = shape.kv_heads * group;
    return shape;
}

/// Whole numbers in bf16, for the last version.
inline void grade_last(const AttentionShape& shape, bool deterministic) {
    const Inputs in = whole_numbers(shape, 3);
    const Expected e = expect<__nv_bfloat16>(shape, in);
    for (const auto& [name, idea, launch] :
         wb::testing::last_of(implementations_of<__nv_bfloat16>()))
        grade_one<__nv_bfloat16>(
            name, launch, shape, in, e, ", whole numbers", deterministic);
}

}  // namespace backward_grading
