// How the tests of day 4 lay matrices out in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace gemm_grading {

/// Where a matrix lies in memory: its rows are ld apart from element `from` on, and
/// `gap` is what stands in all other places.
template <class T>
std::vector<T> laid_out(const std::vector<float>& values,
                        int64_t rows,
                        int64_t columns,
                        int64_t ld,
                        int64_t from,
                        float gap) {
    if (rows == 0 || columns == 0) return {};
    const int64_t count = from + (rows - 1) * ld + columns;
    std::vector<T> memory(static_cast<size_t>(count), static_cast<T>(gap));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < columns; ++i)
            memory[static_cast<size_t>(from + r * ld + i)] =
                static_cast<T>(values[static_cast<size_t>(r * columns + i)]);
    return memory;
}

/// What tensor cores take these numbers for.
///
/// @param round  from a float to the float that the type has
template <class Function>
std::vector<float> rounded_by(Function round, const std::vector<float>& values) {
    std::vector<float> result;
    for (const float value : values)
        result.push_back(round(value));
    return result;
}

}  // namespace gemm_grading
