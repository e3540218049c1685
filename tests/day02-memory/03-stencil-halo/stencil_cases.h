/// stencil_cases.h: what the tests of this chapter have in common: calls of the three
/// functions on slices of arrays, and what is right.
#pragma once

#include "stencil_halo.h"

#include <wb/implementations.h>
#include <wb/reference/convolution.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <limits>
#include <string>
#include <vector>

using wb::testing::Grader;

inline constexpr const char* kBorders[] = {"zero", "clamp", "wrap"};

inline Border border_of(int64_t kind) {
    return static_cast<Border>(kind);
}

/// Weights, all of them different. Those that do not count are NaN.
template <class Weights>
void set_weights(Weights& weights, int radius, int count, uint64_t seed) {
    weights.radius = radius;
    for (float& w : weights.weight)
        w = std::numeric_limits<float>::quiet_NaN();
    const auto values = wb::testing::random_normal(count, seed + 100);
    std::copy(values.begin(), values.end(), weights.weight);
}

inline Taps some_taps(int radius, uint64_t seed) {
    Taps taps;
    set_weights(taps, radius, 2 * radius + 1, seed);
    return taps;
}

inline std::vector<double> weights_of(const Taps& taps) {
    return {taps.weight, taps.weight + 2 * taps.radius + 1};
}

/// One problem; the arrays may begin at any element of their memory.
struct Sizes {
    int64_t batch, rows, cols;
    int radius;
    Border border;
    int64_t in_from = 0;
    int64_t out_from = 0;

    int64_t count() const { return batch * rows * cols; }
    std::string text() const {
        std::string text = "batch rows cols = " + std::to_string(batch) + " " +
                           std::to_string(rows) + " " + std::to_string(cols) +
                           ", radius " + std::to_string(radius) + ", border " +
                           kBorders[static_cast<int>(border)];
        if (in_from > 0) text += ", in from element " + std::to_string(in_from);
        if (out_from > 0) text += ", out from element " + std::to_string(out_from);
        return text;
    }
};

/// stencil_1d(), as a filter of images of one row.
struct Stencil {
    static constexpr const char* kName = "stencil_1d";
    static constexpr auto* kFunction = &stencil_1d;
    using Function = decltype(kFunction);
    Taps taps;

    Stencil(int radius, uint64_t seed) : taps(some_taps(radius, seed)) {}
    explicit Stencil(const Taps& given) : taps(given) {}
    wb::reference::Convolution expected(const std::vector<float>& in,
                                        const Sizes& s) const {
        return wb::reference::convolution(
            in, 1, 1, s.cols, weights_of(taps), 0, taps.radius, s.border);
    }
    double roundings() const { return 2.0 * taps.radius + 2.0; }
    void call(
        Function f, const float* in, float* out, const Sizes& s, cudaStream_t q) const {
        f(in, out, s.cols, taps, s.border, q);
    }
};

struct AnyWeights {
    static constexpr const char* kName = "convolve_2d";
    static constexpr auto* kFunction = &convolve_2d;
    using Function = decltype(kFunction);
    Filter filter;

    AnyWeights(int radius, uint64_t seed) {
        set_weights(filter, radius, (2 * radius + 1) * (2 * radius + 1), seed);
    }
    explicit AnyWeights(const Filter& given) : filter(given) {}
    int count() const { return (2 * filter.radius + 1) * (2 * filter.radius + 1); }
    wb::reference::Convolution expected(const std::vector<float>& in,
                                        const Sizes& s) const {
        return wb::reference::convolution(
            in,
            s.batch,
            s.rows,
            s.cols,
            std::vector<double>(filter.weight, filter.weight + count()),
            filter.radius,
            filter.radius,
            s.border);
    }
    double roundings() const { return count() + 1.0; }
    void call(
        Function f, const float* in, float* out, const Sizes& s, cudaStream_t q) const {
        f(in, out, s.batch, s.rows, s.cols, filter, s.border, q);
    }
};

struct Product {
    static constexpr const char* kName = "convolve_separable";
    static constexpr auto* kFunction = &convolve_separable;
    using Function = decltype(kFunction);
    Taps vertical;
    Taps horizontal;

    Product(int radius, uint64_t seed)
        : vertical(some_taps(radius, seed)), horizontal(some_taps(radius, seed + 1)) {}
    Product(const Taps& v, const Taps& h) : vertical(v), horizontal(h) {}
    wb::reference::Convolution expected(const std::vector<float>& in,
                                        const Sizes& s) const {
        std::vector<double> weights;  // products of two floats are exact in double
        for (const double v : weights_of(vertical))
            for (const double h : weights_of(horizontal))
                weights.push_back(v * h);
        return wb::reference::convolution(in,
                                          s.batch,
                                          s.rows,
                                          s.cols,
                                          weights,
                                          vertical.radius,
                                          vertical.radius,
                                          s.border);
    }
    double roundings() const { return 2.0 * (2.0 * vertical.radius + 2.0); }
    void call(
        Function f, const float* in, float* out, const Sizes& s, cudaStream_t q) const {
        f(in, out, s.batch, s.rows, s.cols, vertical, horizontal, s.border, q);
    }
};

/// One launcher, on given numbers.
/// @param exact  all sums are whole numbers, infinite or NaN: no error is allowed
template <class Work>
void grade_values(const std::string& name,
                  typename Work::Function launcher,
                  const Work& work,
                  const Sizes& s,
                  const std::vector<float>& values,
                  const std::string& what,
                  bool exact = false) {
    Grader grade(name, s.text() + ", " + what);
    std::vector<float> in(static_cast<size_t>(s.in_from), 7.0f);
    in.insert(in.end(), values.begin(), values.end());
    const auto right = work.expected(values, s);
    auto expected = right.values;
    const float* d_in = grade.input("in", in) + s.in_from;
    float* d_out = nullptr;
    if (s.out_from == 0) {
        d_out = grade.output<float>("out", {s.batch, s.rows, s.cols});
    } else {  // what lies before it is not part of it, and must stay
        expected.insert(expected.begin(), static_cast<size_t>(s.out_from), 7.0);
        d_out = grade.in_out("out",
                             {static_cast<int64_t>(expected.size())},
                             std::vector<float>(expected.size(), 7.0f)) +
                s.out_from;
    }
    grade.run(
        [&](cudaStream_t stream) { work.call(launcher, d_in, d_out, s, stream); });
    grade.expect("out", expected, [&](int64_t i) {
        if (exact || i < s.out_from) return 0.0;
        return wb::testing::float_bound(
            work.roundings(), right.magnitudes[static_cast<size_t>(i - s.out_from)]);
    });
}

/// One launcher, on random numbers and with random weights.
template <class Work>
void grade_one(const std::string& name,
               typename Work::Function launcher,
               const Sizes& s,
               uint64_t seed) {
    grade_values(name,
                 launcher,
                 Work(s.radius, seed),
                 s,
                 wb::testing::random_normal(s.count(), seed),
                 "seed " + std::to_string(seed));
}

/// All versions.
template <class Work>
void grade_all(const Sizes& s, uint64_t seed = 1) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Work::kName, Work::kFunction))
        grade_one<Work>(name, launcher, s, seed);
}

/// Queues a launch of all versions, and runs none.
template <class Work>
void queue_all(const Sizes& s) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Work::kName, Work::kFunction)) {
        Grader grade(name, s.text() + ", queued only");
        const float* d_in = grade.output<float>("in", {s.count()});  // nothing is read
        float* d_out = grade.output<float>("out", {s.count()});
        const Work work(s.radius, 1);
        grade.expect_queued([&, launcher = launcher](cudaStream_t stream) {
            work.call(launcher, d_in, d_out, s, stream);
        });
    }
}

/// All versions: numbers that are none reach what is no farther away than the radius,
/// also where the weight is 0, and nothing else.
template <class Work>
void grade_special(const Work& work, const Sizes& s) {
    using Limits = std::numeric_limits<float>;
    for (const float special :
         {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        std::vector<float> values(static_cast<size_t>(s.count()));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 5) - 2.0f;
        values[values.size() / 3] = special;
        for (const auto& [name, idea, launcher] :
             wb::implementations(Work::kName, Work::kFunction))
            grade_values(name,
                         launcher,
                         work,
                         s,
                         values,
                         "one " + std::to_string(special) + " among whole numbers",
                         true);
    }
}

/// All versions: neighbours of a large number get a share of it that counts, although
/// its weight is far below the last digit of the one in the middle.
/// @param work  a weight of 1 in the middle and 2^-60 around it, radius 1
template <class Work>
void grade_small_weights(const Work& work, const Sizes& s) {
    std::vector<float> values(static_cast<size_t>(s.count()));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i % 5) - 2.0f;
    values[values.size() / 3] = 0x1p60f;
    values[values.size() - 2] = -0x1p61f;
    for (const auto& [name, idea, launcher] :
         wb::implementations(Work::kName, Work::kFunction))
        grade_values(name,
                     launcher,
                     work,
                     s,
                     values,
                     "neighbours of 2^60 have weights of 2^-60");
}
