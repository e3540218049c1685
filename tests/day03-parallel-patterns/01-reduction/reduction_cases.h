// What the tests of this chapter share: numbers of several kinds, and one launch of one
// version of one function, judged.
#pragma once

#include "reduction.h"

#include <wb/implementations.h>
#include <wb/reference/reduction.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace reduction_cases {

using wb::testing::Grader;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// A contract's function, and its name.
template <class T, class R>
struct Function {
    using Call = void(const T*, R*, int64_t, unsigned*, cudaStream_t);
    const char* name;
    Call* contract;

    auto versions() const { return wb::implementations(name, contract); }
};
inline constexpr Function<float, float> kSum = {"reduce_sum", &reduce_sum};
inline constexpr Function<bf16, float> kSumBf16 = {"reduce_sum_bf16", &reduce_sum_bf16};
inline constexpr Function<int32_t, int64_t> kSumI32 = {"reduce_sum_i32",
                                                       &reduce_sum_i32};
inline constexpr Function<float, float> kMax = {"reduce_max", &reduce_max};
inline constexpr Function<float, int64_t> kArgMax = {"reduce_argmax", &reduce_argmax};

/// What a call is to give, and how far from it a result may be.
struct Wanted {
    double value;
    double bound = 0.0;
};

/// One version. @param from  x begins at this element of its memory; those before it
/// are large, and belong to nobody
/// @return what it has written
template <class T, class R>
double grade_one(const std::string& name,
                 typename Function<T, R>::Call* call,
                 const std::vector<T>& x,
                 const Wanted& wanted,
                 const std::string& text,
                 int64_t from = 0) {
    const auto n = static_cast<int64_t>(x.size());
    Grader grade(name,
                 "n = " + std::to_string(n) + ", x from element " +
                     std::to_string(from) + ", " + text);
    std::vector<T> all(at(from), static_cast<T>(1e9f));
    all.insert(all.end(), x.begin(), x.end());
    const T* d_x = grade.input("x", all) + from;
    R* d_result = grade.output<R>("result", {1});
    unsigned* d_counter = grade.in_out("counter", {1}, std::vector<unsigned>{0});
    grade.run([&](cudaStream_t s) { call(d_x, d_result, n, d_counter, s); });
    grade.expect("result", {wanted.value}, [&](int64_t) { return wanted.bound; });
    grade.expect("counter", {0.0}, [](int64_t) { return 0.0; });
    return grade.read("result")[0];
}

/// All versions of a function.
template <class T, class R>
void grade(const Function<T, R>& function,
           const std::vector<T>& x,
           const Wanted& wanted,
           const std::string& text,
           int64_t from = 0) {
    for (const auto& [name, idea, call] : function.versions())
        grade_one<T, R>(name, call, x, wanted, text, from);
}

/// The sum, and the contract's bound of its error.
template <class T>
Wanted sum_of(const std::vector<T>& x) {
    const auto total = wb::reference::reduce_sum(x);
    if (std::is_integral_v<T> || !std::isfinite(total.sum)) return {total.sum};
    const double additions = 40.0 + static_cast<double>(x.size() / 65536);
    return {total.sum, wb::testing::float_bound(additions, total.magnitude)};
}

/// The largest element, and the first place of it.
inline Wanted max_of(const std::vector<float>& x) {
    return {double{x[at(wb::reference::reduce_argmax(x))]}};
}
inline Wanted argmax_of(const std::vector<float>& x) {
    return {static_cast<double>(wb::reference::reduce_argmax(x))};
}

/// Numbers of T: standard normal ones with outliers, as T stores them; integers of all
/// sizes.
template <class T>
std::vector<T> numbers(int64_t n, uint64_t seed) {
    std::vector<T> result;
    if constexpr (std::is_integral_v<T>) {
        wb::testing::Random random(seed);
        for (int64_t i = 0; i < n; ++i)
            result.push_back(static_cast<T>(random.bits()));
    } else {
        for (const float value : wb::testing::random_normal(n, seed))
            result.push_back(static_cast<T>(value));
    }
    return result;
}

/// Whole numbers whose sum no order of additions rounds: n * 8 < 2^24.
template <class T>
std::vector<T> whole_numbers(int64_t n, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<T> result;
    for (int64_t i = 0; i < n; ++i)
        result.push_back(static_cast<T>(static_cast<float>(random.below(17) - 8)));
    return result;
}

/// All five functions with random numbers.
inline void grade_all(int64_t n, uint64_t seed, int64_t from = 0) {
    const std::string text = "seed " + std::to_string(seed);
    const auto x = numbers<float>(n, seed);
    grade(kSum, x, sum_of(x), text, from);
    const auto narrow = numbers<bf16>(n, seed);
    grade(kSumBf16, narrow, sum_of(narrow), text, from);
    const auto integers = numbers<int32_t>(n, seed);
    grade(kSumI32, integers, sum_of(integers), text, from);
    if (n == 0) return;
    grade(kMax, x, max_of(x), text, from);
    grade(kArgMax, x, argmax_of(x), text, from);
}

}  // namespace reduction_cases
