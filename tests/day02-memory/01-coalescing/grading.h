// Calls every version of this chapter's functions with slices of arrays, and compares.
#pragma once

#include "coalescing.h"

#include <wb/implementations.h>
#include <wb/reference/coalescing.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <string>
#include <vector>

namespace coalescing_grading {

using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Everything is copied, nothing is computed.
inline double exactly(int64_t) {
    return 0.0;
}

/// The part of an array that a slice is.
template <class T>
std::vector<T> part(const std::vector<T>& values, int64_t first, int64_t count) {
    return {values.begin() + first, values.begin() + first + count};
}

/// Arbitrary bytes.
inline std::vector<uint8_t> random_bytes(int64_t count, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<uint8_t> bytes(at(count));
    for (uint8_t& byte : bytes)
        byte = static_cast<uint8_t>(random.below(256));
    return bytes;
}

/// `before` with `slice` in it, as numbers.
template <class T>
std::vector<double> with_slice(const std::vector<T>& before,
                               int64_t first,
                               const std::vector<double>& slice) {
    std::vector<double> all(before.begin(), before.end());
    std::copy(slice.begin(), slice.end(), all.begin() + first);
    return all;
}

/// Calls f(name, launcher) for each version of a function.
template <class Function, class F>
void for_each_version(const std::string& exercise, Function* contract, F f) {
    for (const auto& [name, idea, launcher] : wb::implementations(exercise, contract))
        f(name, launcher);
}

}  // namespace coalescing_grading
