/// softmax_cases.h: what the tests of this chapter have in common: calls of the two
/// functions on slices of arrays, and what is right.
#pragma once

#include "softmax.h"

#include <wb/implementations.h>
#include <wb/reference/softmax.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using wb::testing::Grader;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// One problem; the arrays may begin at any element of their memory.
struct Sizes {
    int64_t rows;
    int64_t columns;
    int64_t x_from = 0;
    int64_t y_from = 0;
    bool in_place = false;

    int64_t count() const { return rows * columns; }
    std::string text() const {
        std::string text =
            "rows " + std::to_string(rows) + ", columns " + std::to_string(columns);
        if (x_from > 0) text += ", x from element " + std::to_string(x_from);
        if (in_place) return text + ", in place";
        if (y_from > 0) text += ", y from element " + std::to_string(y_from);
        return text;
    }
};

/// The contract's function for a type of element.
template <class T>
using Softmax = void(const T*, T*, int64_t, int64_t, cudaStream_t);

template <class T>
struct Contract;
template <>
struct Contract<float> {
    static constexpr const char* kName = "softmax";
    static constexpr Softmax<float>* kFunction = &softmax;
};
template <>
struct Contract<Bf16> {
    static constexpr const char* kName = "softmax_bf16";
    static constexpr Softmax<Bf16>* kFunction = &softmax_bf16;
};

/// How far a weight may be from the exact one. A partial sum of k weights takes k
/// additions; an online one rescales as often, by an exponential (4 units) and a
/// product. So does each merge of two partial sums; lanes, warps and blocks need 13 of
/// them at most. An exponential also has the error of its argument, in proportion to
/// the distance from the largest element: a unit for the subtraction, two for the
/// change to a power of 2.
template <class T>
double bound_of(const wb::reference::Softmax& exact, int64_t columns, size_t i) {
    if (std::isnan(exact.y[i])) return 0.0;
    const int64_t summed = std::min(columns, std::max<int64_t>(128, columns / 32));
    const double roundings =
        6.0 * static_cast<double>(summed) + 3.0 * exact.distance[i] + 90.0;
    const double bound = wb::testing::float_bound(roundings, exact.y[i]);
    if constexpr (std::is_same_v<T, float>)
        return bound;
    else
        return wb::testing::stored_bound<T>(exact.y[i], bound);
}

/// One launcher on these numbers.
template <class T>
void grade_one(const std::string& name,
               Softmax<T>* launcher,
               const Sizes& s,
               const std::vector<float>& numbers,
               const std::string& what) {
    Grader grade(name, s.text() + what);
    std::vector<T> x(static_cast<size_t>(s.x_from), T(1e9f));  // must not be counted
    std::vector<float> stored;
    for (const float number : numbers) {
        x.push_back(T(number));
        stored.push_back(static_cast<float>(x.back()));
    }
    const auto exact = wb::reference::softmax(stored, s.rows, s.columns);
    const int64_t before = s.in_place ? s.x_from : s.y_from;
    std::vector<double> expected(static_cast<size_t>(before),
                                 s.in_place ? static_cast<double>(T(1e9f)) : 7.0);
    expected.insert(expected.end(), exact.y.begin(), exact.y.end());
    const auto places = static_cast<int64_t>(expected.size());
    T* d_y = nullptr;
    const T* d_x = nullptr;
    if (s.in_place) {
        d_x = d_y = grade.in_out("y", {places}, x) + before;
    } else {
        d_x = grade.input("x", x) + s.x_from;
        if (before == 0)
            d_y = grade.output<T>("y", {s.rows, s.columns});
        else  // what lies before them is not part of them, and must stay
            d_y =
                grade.in_out("y", {places}, std::vector<T>(expected.size(), T(7.0f))) +
                before;
    }
    grade.run(
        [&](cudaStream_t stream) { launcher(d_x, d_y, s.rows, s.columns, stream); });
    grade.expect("y", expected, [&](int64_t i) {
        if (i < before) return 0.0;
        return bound_of<T>(exact, s.columns, static_cast<size_t>(i - before));
    });
}

/// All versions of one type on the same numbers.
template <class T>
void grade_type(const Sizes& s,
                const std::vector<float>& numbers,
                const std::string& what) {
    for (const auto& [name, idea, launcher] :
         wb::implementations(Contract<T>::kName, Contract<T>::kFunction))
        grade_one<T>(name, launcher, s, numbers, what);
}

/// Both types.
inline void grade_numbers(const Sizes& s,
                          const std::vector<float>& numbers,
                          const std::string& what) {
    grade_type<float>(s, numbers, what);
    grade_type<Bf16>(s, numbers, what);
}

/// Random numbers: with outliers, which have nearly all of the weight; or even ones, so
/// that each element counts in the sum.
inline std::vector<float> random_numbers(const Sizes& s, bool even, uint64_t seed) {
    auto numbers = wb::testing::random_normal(s.count(), seed);
    if (even)
        for (float& number : numbers)
            number *= 0.01f;
    return numbers;
}

inline void grade_random(const Sizes& s, bool even = true, uint64_t seed = 1) {
    const std::string what =
        std::string(even ? ", even" : ", outliers") + ", seed " + std::to_string(seed);
    grade_numbers(s, random_numbers(s, even, seed), what);
}
