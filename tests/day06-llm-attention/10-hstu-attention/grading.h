// Sequences of any lengths, masks and bias, what is expected of them, and calls of
// every version with them.
#pragma once

#include "hstu_attention.h"

#include <wb/implementations.h>
#include <wb/reference/hstu.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace hstu_grading {

using wb::reference::HstuProblem;
using wb::testing::gamma;
using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// What is given of the bias.
enum class Bias { none, positions, times, both };

/// Types, as levels of a test.
enum Types { fp32, fp16, bf16 };
inline constexpr const char* kTypeNames[] = {"fp32", "fp16", "bf16"};

/// Each of them in turn.
inline Types any_type() {
    return GENERATE(fp32, fp16, bf16);
}

/// One launch.
struct Call {
    std::vector<int64_t> lengths;
    int64_t heads = 1;
    int64_t head_dim = 32;
    HstuMask mask = HstuMask::causal;
    Bias bias = Bias::none;
    float alpha = 0.0f;  ///< 0: nearly 1 / sqrt(head_dim)
    int64_t scaling_length = 70;
    int64_t left = 5;
    int64_t right = 3;
    bool contexts_of_targets = true;
    int64_t max_distance = 20;
    int64_t buckets = 9;

    float scale() const {
        return alpha != 0.0f ? alpha : wb::testing::odd_scale(head_dim);
    }
    std::string text() const {
        static constexpr const char* kMasks[] = {
            "full", "causal", "local", "context", "target", "arbitrary"};
        static constexpr const char* kBiases[] = {
            "no bias", "positions", "times", "positions and times"};
        std::string text = "lengths";
        constexpr std::size_t kShown = 24;
        for (std::size_t i = 0; i < std::min(lengths.size(), kShown); ++i)
            text += " " + std::to_string(lengths[i]);
        if (lengths.size() > kShown)
            text += " ..., " + std::to_string(lengths.size()) + " in all";
        return text + ", H" + std::to_string(heads) + " D" + std::to_string(head_dim) +
               ", " + kMasks[static_cast<int>(mask)] + ", " +
               kBiases[static_cast<int>(bias)];
    }
};

/// Standard normal numbers that T holds exactly; `outliers`: one in 64 is 100 times
/// larger. Without them in q and k, or a single pair would be all of a row.
template <class T>
std::vector<float> random_stored(int64_t count, uint64_t seed, bool outliers = false) {
    std::vector<float> numbers(at(count));
    if (outliers)
        numbers = wb::testing::random_normal(count, seed);
    else
        wb::testing::Random(seed).normals(numbers.data(), numbers.size());
    for (float& number : numbers)
        number = static_cast<float>(static_cast<T>(number));
    return numbers;
}

/// Intervals of keys for a row: none to three, some of which touch.
inline void add_intervals(HstuProblem& p, int64_t length, wb::testing::Random& random) {
    int64_t low = 0;
    const int64_t wanted = random.below(4);
    for (int64_t e = 0; e < wanted && low < length; ++e) {
        const int64_t begin = low + (e == 1 ? 0 : random.below(length - low));
        const int64_t end = begin + 1 + random.below(length - begin);
        p.intervals.push_back(static_cast<int32_t>(begin));
        p.intervals.push_back(static_cast<int32_t>(end));
        low = end;
    }
    p.offsets.push_back(static_cast<int32_t>(p.intervals.size() / 2));
}

/// Random numbers that T holds exactly; contexts, targets and intervals of all sizes
/// that a sequence allows.
template <class T>
HstuProblem random_problem(const Call& call, uint64_t seed) {
    HstuProblem p;
    p.cu_seqlens = {0};
    for (const int64_t length : call.lengths)
        p.cu_seqlens.push_back(p.cu_seqlens.back() + static_cast<int32_t>(length));
    p.heads = call.heads;
    p.head_dim = call.head_dim;
    p.alpha = double{call.scale()};
    p.scaling_length = static_cast<double>(call.scaling_length);
    const int64_t count = p.total() * p.heads * p.head_dim;
    p.q = random_stored<T>(count, seed);
    p.k = random_stored<T>(count, seed + 1);
    p.v = random_stored<T>(count, seed + 2, true);
    p.d_o = random_stored<T>(count, seed + 3);
    p.mask = static_cast<wb::reference::HstuSees>(call.mask);
    p.left = call.left;
    p.right = call.right;
    wb::testing::Random random(seed + 4);
    const bool targets = call.mask == HstuMask::target;
    const bool contexts =
        call.mask == HstuMask::context || (targets && call.contexts_of_targets);
    for (const int64_t length : call.lengths) {
        const int64_t context = contexts ? random.below(length / 2 + 1) : 0;
        if (contexts) p.contexts.push_back(static_cast<int32_t>(context));
        if (targets)
            p.targets.push_back(
                static_cast<int32_t>(random.below(length - context + 1)));
    }
    if (call.mask == HstuMask::arbitrary) {
        p.offsets = {0};
        for (const int64_t length : call.lengths)
            for (int64_t i = 0; i < length; ++i)
                add_intervals(p, length, random);
    }
    if (call.bias == Bias::positions || call.bias == Bias::both) {
        p.max_distance = call.max_distance;
        p.positions =
            random_stored<float>(p.heads * (2 * call.max_distance + 1), seed + 5);
    }
    if (call.bias == Bias::times || call.bias == Bias::both) {
        p.buckets = call.buckets;
        p.times = random_stored<float>(p.heads * call.buckets, seed + 6);
        for (int64_t i = 0; i < p.total(); ++i)
            p.timestamps.push_back(random.below(int64_t{1} << random.below(12)));
    }
    return p;
}

/// Exact numbers, and how far from them a kernel may be.
struct Wanted {
    std::size_t row;  ///< numbers that have the same terms: a row, or one of a table
    std::vector<double> values;
    std::vector<double> bounds;
    std::vector<double> sizes;  ///< sums of the terms' sizes
    std::vector<double> terms;  ///< how many, of each row

    explicit Wanted(std::size_t count = 0, std::size_t row = 1)
        : row(row), values(count), bounds(count), sizes(count), terms(count / row) {}

    void add(std::size_t i, double term, double error) {
        values[i] += term;
        bounds[i] += error;
        sizes[i] += std::abs(term);
        terms[i] += 1.0;
    }
    /// Adds factor times the numbers to the row that begins at i, with an error of
    /// `error` times their sizes.
    void add_row(std::size_t i, double factor, double error, const float* numbers) {
        wb::reference::add_row(&values[i], factor, numbers, row);
        wb::reference::add_sizes(&bounds[i], error, numbers, row);
        wb::reference::add_sizes(&sizes[i], std::abs(factor), numbers, row);
        terms[i / row] += 1.0;
    }
    /// Adds what a sum of `factor` times these terms rounds, and its rounding to T.
    template <class T>
    void finish(double factor) {
        constexpr double u = 0x1p-24;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double n = terms[i / row];
            bounds[i] = (bounds[i] + gamma(n + 8.0, u) * sizes[i]) * std::abs(factor) *
                        (1.0 + 8.0 * u);
            values[i] *= factor;
            if (n > 0.0) bounds[i] += wb::testing::kSmallestFloat;
            if constexpr (sizeof(T) == 2)
                bounds[i] = wb::testing::stored_bound<T>(values[i], bounds[i]);
        }
    }
};

struct Expected {
    Wanted o, dq, dk, dv, d_positions, d_times;
};

/// The errors that a pair may have, in float. Both slopes are bounded: silu' by 1.1,
/// silu'' by 0.5. An exponential of s has (4 + 2 |s|) roundings, for its argument has
/// as many as it is large, and the rest of the formulas eight. Of a sigmoid near 1 the
/// exponential is next to nothing, and so are its errors; what is left of 1 - sigma in
/// the slope is roundings of 1, times s.
struct PairErrors {
    double score, weight, slope;

    PairErrors(const wb::reference::HstuPair& pair, int64_t head_dim) {
        constexpr double u = 0x1p-24;
        constexpr double kLost = 0x1p-119;  // below it, a reciprocal is 0
        const double s = std::abs(pair.s);
        score = gamma(static_cast<double>(head_dim) + 4.0, u) * pair.s_size;
        const double of_exponential = 4.0 * s * wb::reference::hstu_sigmoid(-pair.s);
        weight =
            1.1 * score +
            (12.0 + of_exponential) * u * std::abs(wb::reference::hstu_silu(pair.s)) +
            kLost;
        const double rest = of_exponential / 4.0;
        const double roundings =
            std::min((12.0 + 4.0 * s) * (1.0 + s),
                     (12.0 + of_exponential) * (1.0 + rest) + s * (10.0 + 4.0 * rest));
        slope =
            0.5 * score + roundings * u * wb::reference::hstu_sigmoid(pair.s) + kLost;
    }
};

/// What a number loses at most when it is rounded to T; nothing where T is float.
template <class T>
double rounding(double number) {
    if constexpr (sizeof(T) == 2)
        return wb::testing::Format<T>::kUnit * std::abs(number) +
               0.5 * wb::testing::Format<T>::kSmallest;
    else
        return 0.0;
}

/// Adds what a row gets of a key.
template <class T>
void add_pair(Wanted& o, const HstuProblem& p, const wb::reference::HstuPair& pair) {
    const PairErrors errors(pair, p.head_dim);
    const double weight = wb::reference::hstu_silu(pair.s);
    const double error = errors.weight + rounding<T>(weight);
    const std::size_t to = p.head_of(pair.row, pair.head);
    o.add_row(to, weight, error, &p.v[p.head_of(pair.key, pair.head)]);
}

template <class T>
Expected expect_forward(const HstuProblem& p) {
    Expected e;
    e.o = Wanted(p.q.size(), at(p.head_dim));
    wb::reference::hstu_pairs(p, [&](const auto& pair) { add_pair<T>(e.o, p, pair); });
    e.o.finish<T>(1.0 / p.scaling_length);
    return e;
}

/// What the gradients get of a row and a key that it sees.
///
/// @param rounds  weights and gradients of scores may be rounded to T, as the contract
///                says. v1 and v2 do not
template <class T>
void add_gradients(Expected& e,
                   const HstuProblem& p,
                   const wb::reference::HstuPair& pair,
                   bool rounds) {
    constexpr double u = 0x1p-24;
    const PairErrors errors(pair, p.head_dim);
    const std::size_t row = p.head_of(pair.row, pair.head);
    const std::size_t key = p.head_of(pair.key, pair.head);
    const double weight = wb::reference::hstu_silu(pair.s);
    const double slope = wb::reference::hstu_silu_slope(pair.s);
    const auto [da, da_size, da_terms] =
        wb::reference::product_sum(&p.d_o[row], &p.v[key], at(p.head_dim));
    const double ds = da * slope;
    const double da_error = gamma(static_cast<double>(p.head_dim) + 8.0, u) * da_size;
    const double ds_error =
        std::abs(da) * errors.slope + (std::abs(slope) + errors.slope) * da_error;
    const double ds_rounded = ds_error + (rounds ? rounding<T>(ds) : 0.0);
    const double weight_rounded = errors.weight + (rounds ? rounding<T>(weight) : 0.0);
    e.dq.add_row(row, ds, ds_rounded, &p.k[key]);
    e.dk.add_row(key, ds, ds_rounded, &p.q[row]);
    e.dv.add_row(key, weight, weight_rounded, &p.d_o[row]);
    if (pair.position >= 0) e.d_positions.add(at(pair.position), ds, ds_error);
    if (pair.time >= 0) e.d_times.add(at(pair.time), ds, ds_error);
}

/// Gradients of the pairs that `visit_pairs` gives to its argument, one by one.
template <class T, class VisitPairs>
Expected expect_gradients(const HstuProblem& p, bool rounds, VisitPairs visit_pairs) {
    Expected e;
    e.dq = e.dk = e.dv = Wanted(p.q.size(), at(p.head_dim));
    e.d_positions = Wanted(p.positions.size());
    e.d_times = Wanted(p.times.size());
    visit_pairs([&](const auto& pair) { add_gradients<T>(e, p, pair, rounds); });
    e.dq.finish<T>(p.alpha / p.scaling_length);
    e.dk.finish<T>(p.alpha / p.scaling_length);
    e.dv.finish<T>(1.0 / p.scaling_length);
    e.d_positions.finish<float>(1.0 / p.scaling_length);
    e.d_times.finish<float>(1.0 / p.scaling_length);
    return e;
}

template <class T>
Expected expect_backward(const HstuProblem& p, bool rounds = true) {
    return expect_gradients<T>(
        p, rounds, [&](auto add) { wb::reference::hstu_pairs(p, add); });
}

template <class T>
std::vector<T> stored_as(const std::vector<float>& numbers) {
    std::vector<T> result;
    for (const float x : numbers)
        result.push_back(static_cast<T>(x));
    return result;
}

/// The call of a problem, all but o.
template <class T>
HstuCall<T> call_of(Grader& grade, const HstuProblem& p) {
    using wb::testing::Begin;
    const auto twice = [&](const char* name,
                           const std::vector<int32_t>& numbers,
                           Begin begin = Begin::anywhere) {
        if (numbers.empty()) return Twice<int32_t>{};
        return Twice<int32_t>{grade.input(name, numbers, begin), numbers.data()};
    };
    HstuCall<T> call = {};
    call.q = grade.input("q", stored_as<T>(p.q), Begin::vectors);
    call.k = grade.input("k", stored_as<T>(p.k), Begin::vectors);
    call.v = grade.input("v", stored_as<T>(p.v), Begin::vectors);
    call.batch = p.batch();
    call.total = p.total();
    call.heads = p.heads;
    call.head_dim = p.head_dim;
    call.alpha = static_cast<float>(p.alpha);
    call.scaling_length = static_cast<int64_t>(p.scaling_length);
    call.cu_seqlens = twice("cu_seqlens", p.cu_seqlens);
    call.mask.kind = static_cast<HstuMask>(p.mask);
    call.mask.left = p.left;
    call.mask.right = p.right;
    call.mask.contexts = twice("mask.contexts", p.contexts);
    call.mask.targets = twice("mask.targets", p.targets);
    call.mask.offsets = twice("mask.offsets", p.offsets);
    call.mask.intervals = twice("mask.intervals", p.intervals, Begin::pairs);
    // What belongs to a table may be given without it.
    call.bias.max_distance = p.max_distance;
    call.bias.buckets = p.buckets;
    if (!p.positions.empty())
        call.bias.positions =
            grade.input("bias.positions", p.positions, Begin::anywhere);
    if (!p.times.empty())
        call.bias.times = grade.input("bias.times", p.times, Begin::anywhere);
    if (!p.timestamps.empty())
        call.bias.timestamps =
            grade.input("bias.timestamps", p.timestamps, Begin::anywhere);
    return call;
}

inline void expect(Grader& grade, const char* name, const Wanted& w) {
    grade.expect(name, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
}

template <class T>
using Forward = void(const HstuCall<T>&, cudaStream_t);
template <class T>
using Backward = void(const HstuCall<T>&, const HstuGradients<T>&, cudaStream_t);

template <class T>
void grade_forward(const std::string& name,
                   Forward<T>* launch,
                   const HstuProblem& p,
                   const Expected& e,
                   const std::string& text) {
    Grader grade(name, text);
    HstuCall<T> call = call_of<T>(grade, p);
    call.o = grade.output<T>(
        "o", {p.total(), p.heads, p.head_dim}, wb::testing::Begin::vectors);
    grade.run([&](cudaStream_t stream) { launch(call, stream); });
    expect(grade, "o", e.o);
}

template <class T>
void grade_backward(const std::string& name,
                    Backward<T>* launch,
                    const HstuProblem& p,
                    const Expected& e,
                    const std::string& text) {
    Grader grade(name, text);
    HstuCall<T> call = call_of<T>(grade, p);
    HstuGradients<T> out = {};
    using wb::testing::Begin;
    // It is not to be looked at: neither read nor written.
    const std::vector<float> nothing(p.q.size(), NAN);
    call.o = const_cast<T*>(grade.input("o", stored_as<T>(nothing), Begin::vectors));
    const wb::testing::Shape rows = {p.total(), p.heads, p.head_dim};
    out.d_o = grade.input("d_o", stored_as<T>(p.d_o), Begin::vectors);
    out.dq = grade.output<T>("dq", rows, Begin::vectors);
    out.dk = grade.output<T>("dk", rows, Begin::vectors);
    out.dv = grade.output<T>("dv", rows, Begin::vectors);
    if (!p.positions.empty())
        out.d_positions = grade.output<float>(
            "d_positions", {p.heads, 2 * p.max_distance + 1}, Begin::anywhere);
    if (!p.times.empty())
        out.d_times =
            grade.output<float>("d_times", {p.heads, p.buckets}, Begin::anywhere);
    grade.run([&](cudaStream_t stream) { launch(call, out, stream); });
    expect(grade, "dq", e.dq);
    expect(grade, "dk", e.dk);
    expect(grade, "dv", e.dv);
    if (!p.positions.empty()) expect(grade, "d_positions", e.d_positions);
    if (!p.times.empty()) expect(grade, "d_times", e.d_times);
}

/// Calls f with a number of the type, and the names and functions of both passes.
template <class F>
void with_type(Types type, F f) {
    if (type == fp32)
        f(float{}, "_fp32", hstu_attention_fp32, hstu_backward_fp32);
    else if (type == fp16)
        f(__half{}, "_fp16", hstu_attention_fp16, hstu_backward_fp16);
    else
        f(__nv_bfloat16{}, "_bf16", hstu_attention_bf16, hstu_backward_bf16);
}

/// Which passes, and which versions of them, run a case.
enum class Passes { forward, backward, both };
enum class Versions { all, last };

/// @param change  may alter the problem
template <class Change>
void grade_changed(Types type,
                   const Call& c,
                   uint64_t seed,
                   const std::string& what,
                   Passes passes,
                   Versions versions,
                   Change change) {
    with_type(type, [&]<class T>(T, const char* suffix, auto* forward, auto* backward) {
        HstuProblem p = random_problem<T>(c, seed);
        change(p);
        const std::string text = std::string(kTypeNames[type]) + ", " + c.text() + what;
        const bool for_wgmma = (c.head_dim == 64 || c.head_dim == 128) &&
                               c.bias == Bias::none && c.mask != HstuMask::arbitrary;
        const auto chosen = [&](const char* name, auto* contract) {
            auto all = wb::implementations(std::string(name) + suffix, contract);
            if (versions == Versions::last) all.erase(all.begin(), all.end() - 1);
            // v4 calls v3 where it has no kernel: once is enough.
            if (!for_wgmma && all.back().name.ends_with("_v4"))
                std::erase_if(
                    all, [](const auto& each) { return each.name.ends_with("_v3"); });
            return all;
        };
        if (passes != Passes::backward) {
            const Expected e = expect_forward<T>(p);
            for (const auto& [name, idea, run] : chosen("hstu_attention", forward))
                grade_forward<T>(name, run, p, e, text);
        }
        if (passes != Passes::forward) {
            const auto implementations = chosen("hstu_backward", backward);
            const auto in_float = [](const std::string& name) {
                return name.ends_with("_v1") || name.ends_with("_v2");
            };
            Expected exact;
            if (in_float(implementations[0].name)) exact = expect_backward<T>(p, false);
            Expected rounded;
            if (!in_float(implementations.back().name)) rounded = expect_backward<T>(p);
            for (const auto& [name, idea, run] : implementations)
                grade_backward<T>(name, run, p, in_float(name) ? exact : rounded, text);
        }
    });
}

inline void grade(Types type,
                  const Call& c,
                  uint64_t seed = 1,
                  Passes passes = Passes::both,
                  Versions versions = Versions::all) {
    grade_changed(type,
                  c,
                  seed,
                  ", seed " + std::to_string(seed),
                  passes,
                  versions,
                  [](HstuProblem&) {});
}

}  // namespace hstu_grading
