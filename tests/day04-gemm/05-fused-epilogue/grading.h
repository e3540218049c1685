// What the tests of the fused epilogue have in common: matrices in memory, and what
// numbers may be off by.
#pragma once

#include "fused_epilogue.h"

#include <wb/implementations.h>
#include <wb/reference/activations.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace fused_epilogue_grading {

using Bf16 = __nv_bfloat16;
using wb::testing::Grader;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The activations, in their order.
inline const char* const kActivations[] = {"none", "silu", "gelu"};

inline Activation another(Activation activation) {
    return activation == Activation::silu ? Activation::gelu : Activation::silu;
}

/// The nearest bf16.
inline float stored(float value) {
    return static_cast<float>(static_cast<Bf16>(value));
}

inline std::vector<float> stored(std::vector<float> values) {
    for (float& value : values)
        value = stored(value);
    return values;
}

inline std::vector<float> all(int64_t count, float value) {
    return std::vector<float>(static_cast<size_t>(count), value);
}

/// Standard normal bf16, times `scale` before they are rounded; one in 64 is large.
inline std::vector<float> random_stored(int64_t count, uint64_t seed, float scale) {
    auto values = wb::testing::random_normal(count, seed);
    for (float& value : values)
        value = stored(value * scale);
    return values;
}

// --- Matrices in memory -------------------------------------------------------------

/// Where a matrix lies in memory: from element `from` on, rows ld apart.
struct Layout {
    int64_t rows;
    int64_t columns;
    int64_t ld;
    int64_t from;

    int64_t count() const {
        return rows == 0 || columns == 0 ? 0 : from + (rows - 1) * ld + columns;
    }
    /// Calls function(place in memory, place in the matrix without gaps).
    template <class Function>
    void each(Function function) const {
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c)
                function(static_cast<size_t>(from + r * ld + c),
                         static_cast<size_t>(r * columns + c));
    }
    /// `gap` stands in all other places.
    template <class T, class Value>
    std::vector<T> lay_out(const std::vector<Value>& values, Value gap) const {
        std::vector<T> memory(static_cast<size_t>(count()), static_cast<T>(gap));
        each([&](size_t to, size_t i) { memory[to] = static_cast<T>(values[i]); });
        return memory;
    }
};

/// Numbers, and how far from them a kernel's may be.
struct Wanted {
    std::vector<double> value;
    std::vector<double> bound;

    void add(double exact, double may_be_off) {
        value.push_back(exact);
        bound.push_back(std::isfinite(exact) ? may_be_off : 0.0);
    }
};

/// Between the rows of an output, where nothing must be changed.
inline constexpr float kUntouched = 7.0f;

/// An output of a case: poisoned, and where it is no dense array, with gaps.
/// @param before  what is in it before the launch; empty: poison, or NaN
template <class T>
T* add_output(Grader& grade,
              const std::string& name,
              const Layout& at,
              const std::vector<float>& before = {}) {
    if (before.empty() && at.from == 0 && at.ld == at.columns)
        return grade.output<T>(name, {at.rows, at.columns});
    const auto nan = all(at.rows * at.columns, kNan);
    const auto memory = at.lay_out<T>(before.empty() ? nan : before, kUntouched);
    return grade.in_out(name, {at.count()}, memory) + at.from;
}

/// Compares it, its gaps included.
inline void expect_output(Grader& grade,
                          const std::string& name,
                          const Layout& at,
                          const Wanted& wanted,
                          bool was_there = false) {
    if (!was_there && at.from == 0 && at.ld == at.columns) {
        grade.expect(name, wanted.value, [&](int64_t i) {
            return wanted.bound[static_cast<size_t>(i)];
        });
        return;
    }
    const auto value = at.lay_out<double>(wanted.value, double{kUntouched});
    const auto bound = at.lay_out<double>(wanted.bound, 0.0);
    grade.expect(name, value, [&](int64_t i) { return bound[static_cast<size_t>(i)]; });
}

// --- Bounds -------------------------------------------------------------------------

/// Half the distance of neighbours around a number.
/// @param digits    of a number, the first one included
/// @param smallest  exponent of the smallest normal number
inline double half_a_unit(double value, int digits, int smallest) {
    int exponent = smallest;
    if (value != 0.0) exponent = std::max(std::ilogb(value), smallest);
    return std::ldexp(1.0, exponent - digits);
}

/// The bound of a number that is rounded to bf16 at the end.
inline double bf16_bound(double exact, double off) {
    return off + half_a_unit(std::abs(exact) + off, 8, -126);
}

/// To e4m3.
inline double e4m3_bound(double exact, double off) {
    return off + half_a_unit(std::abs(exact) + off, 4, -6);
}

inline double act(Activation activation, double z) {
    if (activation == Activation::silu) return wb::reference::silu(z);
    if (activation == Activation::gelu) return wb::reference::gelu_tanh(z);
    return z;
}

/// How far act() of a z that is off by `off` may be off.
inline double act_bound(Activation activation, double z, double off) {
    if (activation == Activation::none) return off;
    return 1.13 * off + 0x1p-14 * std::abs(act(activation, z)) + 0x1p-50;
}

inline double slope(Activation activation, double z) {
    if (activation == Activation::silu) return wb::reference::silu_slope(z);
    if (activation == Activation::gelu) return wb::reference::gelu_tanh_slope(z);
    return 1.0;
}

/// How far the slope may be off.
inline double slope_bound(Activation activation, double z) {
    if (activation == Activation::none || !std::isfinite(z))
        return activation == Activation::none ? 0.0 : 0x1p-14;
    double s = z;
    double s_slope = 1.0;
    if (activation == Activation::gelu) {
        s = 2.0 * wb::reference::gelu_argument(z);
        s_slope = 2.0 * wb::reference::gelu_argument_slope(z);
    }
    const double yes = wb::reference::sigmoid(s);
    const double no = wb::reference::sigmoid(-s);
    return 0x1p-14 * (yes + std::abs(z * s_slope) * yes * no) + 0x1p-50;
}

/// What a sum of `terms` products on tensor cores may be off by (chapter 03), beside
/// the sum of their magnitudes.
inline double tensor_core_gamma(double terms) {
    return wb::testing::gamma(2.0 * terms + 4.0, 0x1p-23);
}

}  // namespace fused_epilogue_grading
