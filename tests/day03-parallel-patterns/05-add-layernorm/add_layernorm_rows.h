/// add_layernorm_rows.h: matrices whose rows lie anywhere in the memory of a Grader.
#pragma once

#include "add_layernorm.h"

#include <wb/testing/grader.h>

#include <cstdint>
#include <vector>

namespace add_layernorm_cases {

using wb::testing::Grader;
using Floats = std::vector<float>;

inline size_t at(int64_t i) {
    return static_cast<size_t>(i);
}

/// A matrix as it lies in memory: `from` elements, then rows with gaps between them.
struct Lie {
    int64_t from, gap, rows, columns;

    int64_t stride() const { return columns + gap; }
    int64_t count() const { return from + (rows - 1) * stride() + columns; }
    /// Its place in memory of element i of the matrix.
    int64_t place(int64_t i) const {
        return from + i / columns * stride() + i % columns;
    }
    template <class Number, class Other>
    std::vector<Number> spread(const std::vector<Other>& values, Number between) const {
        std::vector<Number> all(at(count()), between);
        for (size_t i = 0; i < values.size(); ++i)
            all[at(place(static_cast<int64_t>(i)))] = static_cast<Number>(values[i]);
        return all;
    }
};

/// The values after rounding to T.
template <class T>
Floats stored(const Floats& values) {
    Floats result;
    for (const float value : values)
        result.push_back(static_cast<float>(static_cast<T>(value)));
    return result;
}

template <class T>
Rows<const T> input(Grader& grade,
                    const char* name,
                    const Lie& lie,
                    const Floats& values) {
    return {grade.input(name, lie.spread(values, T(9e4f))) + lie.from, lie.stride()};
}

/// What is written, between elements that must stay. @param values  what is there
template <class T>
Rows<T> output(Grader& grade,
               const char* name,
               const Lie& lie,
               const Floats& values = {}) {
    if (values.empty() && lie.count() == lie.rows * lie.columns)
        return {grade.output<T>(name, {lie.rows, lie.columns}), lie.stride()};
    return {grade.in_out(name, {lie.count()}, lie.spread(values, T(7.0f))) + lie.from,
            lie.stride()};
}

template <class Bounds>
void expect(Grader& grade,
            const char* name,
            const Lie& lie,
            const std::vector<double>& exact,
            const Bounds& bounds) {
    const auto all = lie.spread(bounds, 0.0);
    grade.expect(name, lie.spread(exact, 7.0), [&](int64_t i) { return all[at(i)]; });
}

}  // namespace add_layernorm_cases
