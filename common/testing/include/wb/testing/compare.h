/// wb/testing/compare.h: an output against its reference, NaN-safe, and explained.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wb::testing {

/// The extents of an array, row-major: the last one runs fastest. {rows, cols}.
using Shape = std::vector<std::int64_t>;

/// The number of elements of a shape.
std::int64_t elements(const Shape& shape);

/// {2, 17} for the element at a flat index.
std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index);

/// What a kernel left in an output, ready to be judged.
struct Observed {
    std::string name;             ///< the parameter's name, "c"
    Shape shape;                  ///< its extents
    std::vector<double> values;   ///< what was read back
    std::vector<bool> untouched;  ///< still holds the poison of before the launch
    bool is_floating = true;      ///< else counts, indices or bits: never inexact
};

/// The verdict on one output.
struct Comparison {
    std::int64_t wrong = 0;         ///< elements with error > bound, or NaN
    std::int64_t first_wrong = -1;  ///< flat index of the first of them
    std::int64_t worst = -1;        ///< flat index of the largest error / bound
    double worst_error = 0.0;       ///< |got - expected| there
    double worst_bound = 0.0;       ///< what is allowed there
    /// [d][i]: an element whose index along dimension d is i is wrong.
    std::vector<std::vector<bool>> wrong_at;

    bool passed() const { return wrong == 0; }
};

/// The error allowed at a flat index.
using Bound = std::function<double(std::int64_t)>;

/// Passes an element only if |got - expected| <= bound, or if both are the same
/// infinity. A NaN passes only where one is expected exactly, with the bound 0, and
/// if it was written.
Comparison compare(const Observed& got,
                   const std::vector<double>& expected,
                   const Bound& bound);

/// Why the output is probably wrong, in one sentence, from the pattern of the errors:
/// untouched elements, a shift by one, rows and columns exchanged, lost precision.
/// Empty if the pattern is none that is known: no guess is better than a wrong one.
std::string likely_cause(const Observed& got,
                         const std::vector<double>& expected,
                         const Comparison& comparison);

/// What all wrong elements have in common, as facts, each a sentence: where they are
/// ("all of them are in o[*, 1, *, *]"), that all are 0, NaN, or the same multiple of
/// what they should be. Empty if they have nothing in common.
std::vector<std::string> what_was_seen(const Observed& got,
                                       const std::vector<double>& expected,
                                       const Comparison& comparison);

}  // namespace wb::testing
