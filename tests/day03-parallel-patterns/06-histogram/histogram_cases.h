// What the tests of this chapter share: values of several kinds, and one launch of one
// version of one function, judged.
#pragma once

#include "histogram.h"

#include <wb/implementations.h>
#include <wb/reference/histogram.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace histogram_cases {

using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// A contract's function, and its name.
template <class T>
struct Function {
    using Call = void(const T*, uint32_t*, int64_t, int64_t, cudaStream_t);
    const char* name;
    Call* contract;

    auto versions() const { return wb::implementations(name, contract); }
};
inline constexpr Function<int32_t> kI32 = {"histogram_i32", &histogram_i32};
inline constexpr Function<uint8_t> kU8 = {"histogram_u8", &histogram_u8};

/// One version. @param from  values begin at this element of their memory; those before
/// it are 0, and belong to nobody
template <class T>
void grade_one(const std::string& name,
               typename Function<T>::Call* call,
               const std::vector<T>& values,
               int64_t bins,
               const std::string& text,
               int64_t from = 0) {
    const auto n = static_cast<int64_t>(values.size());
    Grader grade(name,
                 "n = " + std::to_string(n) + ", " + std::to_string(bins) +
                     " bins, values from element " + std::to_string(from) + ", " +
                     text);
    std::vector<T> all(at(from), T{0});
    all.insert(all.end(), values.begin(), values.end());
    const T* d_values = grade.input("values", all) + from;
    // In half of the cases at no multiple of 16 bytes.
    const auto begin =
        n % 2 == 1 ? wb::testing::Begin::anywhere : wb::testing::Begin::aligned;
    uint32_t* d_counts = grade.output<uint32_t>("counts", {bins}, begin);
    grade.run([&](cudaStream_t s) { call(d_values, d_counts, n, bins, s); });
    grade.expect(
        "counts", wb::reference::histogram(values, bins), [](int64_t) { return 0.0; });
}

/// All versions of a function.
template <class T>
void grade(const Function<T>& function,
           const std::vector<T>& values,
           int64_t bins,
           const std::string& text,
           int64_t from = 0) {
    for (const auto& [name, idea, call] : function.versions())
        grade_one<T>(name, call, values, bins, text, from);
}

/// How values are spread over bins.
enum class Kind { uniform, skewed, constant, runs, sorted };
inline constexpr const char* kKinds[] = {
    "uniform", "skewed", "constant", "runs", "sorted"};

/// n values in [0, bins).
template <class T>
std::vector<T> values_of(Kind kind, int64_t n, int64_t bins, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<T> values(at(n));
    const int64_t constant = random.below(bins);
    int64_t run = constant;
    for (int64_t i = 0; i < n; ++i) {
        int64_t value = constant;
        if (kind == Kind::uniform) {
            value = random.below(bins);
        } else if (kind == Kind::skewed) {
            // Bin b has a share of nearly 1 / ((b + 1) log(bins)).
            const double place = std::pow(double(bins + 1), random.uniform()) - 1.0;
            value = std::min(static_cast<int64_t>(place), bins - 1);
        } else if (kind == Kind::runs) {
            if (random.below(5) == 0) run = random.below(bins);
            value = run;
        } else if (kind == Kind::sorted) {
            value = i * bins / n;
        }
        values[at(i)] = static_cast<T>(value);
    }
    return values;
}

/// Both functions with values of one kind; of bytes at most 256 bins have any.
inline void grade_both(
    Kind kind, int64_t n, int64_t bins, uint64_t seed, int64_t from = 0) {
    const std::string text =
        std::string(kKinds[static_cast<int>(kind)]) + ", seed " + std::to_string(seed);
    grade(kI32, values_of<int32_t>(kind, n, bins, seed), bins, text, from);
    const int64_t byte_bins = std::min<int64_t>(bins, 256);
    grade(kU8, values_of<uint8_t>(kind, n, byte_bins, seed), bins, text, from);
}

}  // namespace histogram_cases
