/// CPU references of jagged tensors: rows of different lengths, one behind the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// Offsets of rows of these lengths: one more than there are lengths.
inline std::vector<std::int64_t> jagged_offsets(
    const std::vector<std::int32_t>& lengths) {
    std::vector<std::int64_t> offsets = {0};
    for (const std::int32_t length : lengths)
        offsets.push_back(offsets.back() + length);
    return offsets;
}

/// dense[r, t] = the entry t of row r, or zeros where the row is shorter. Entries from
/// max_length on are left out.
/// @param values   [offsets.back(), dim]
/// @param offsets  [num_rows + 1]
template <class T>
std::vector<double> jagged_to_dense(const std::vector<T>& values,
                                    const std::vector<std::int64_t>& offsets,
                                    std::int64_t max_length,
                                    std::int64_t dim) {
    std::vector<double> dense;
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
        for (std::int64_t t = 0; t < max_length; ++t)
            for (std::int64_t d = 0; d < dim; ++d) {
                const std::int64_t entry = offsets[r] + t;
                const auto i = static_cast<std::size_t>(entry * dim + d);
                dense.push_back(entry < offsets[r + 1] ? static_cast<double>(values[i])
                                                       : 0.0);
            }
    return dense;
}

/// The entry t of row r = dense[r, t], or zeros where dense has no such entry.
/// @param dense    [num_rows, max_length, dim]
/// @param offsets  [num_rows + 1]
template <class T>
std::vector<double> dense_to_jagged(const std::vector<T>& dense,
                                    const std::vector<std::int64_t>& offsets,
                                    std::int64_t max_length,
                                    std::int64_t dim) {
    std::vector<double> values;
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
        for (std::int64_t t = 0; t < offsets[r + 1] - offsets[r]; ++t)
            for (std::int64_t d = 0; d < dim; ++d) {
                const std::int64_t entry =
                    static_cast<std::int64_t>(r) * max_length + t;
                const auto i = static_cast<std::size_t>(entry * dim + d);
                values.push_back(t < max_length ? static_cast<double>(dense[i]) : 0.0);
            }
    return values;
}

/// Row r of the result is row r of a, and behind it row r of b.
template <class T>
std::vector<double> jagged_concat(const std::vector<T>& a,
                                  const std::vector<std::int64_t>& a_offsets,
                                  const std::vector<T>& b,
                                  const std::vector<std::int64_t>& b_offsets,
                                  std::int64_t dim) {
    std::vector<double> values;
    const auto append =
        [&](const std::vector<T>& from, std::int64_t first, std::int64_t last) {
            values.insert(
                values.end(), from.begin() + first * dim, from.begin() + last * dim);
        };
    for (std::size_t r = 0; r + 1 < a_offsets.size(); ++r) {
        append(a, a_offsets[r], a_offsets[r + 1]);
        append(b, b_offsets[r], b_offsets[r + 1]);
    }
    return values;
}

/// What jagged_concat() has put together, taken apart again.
template <class T>
struct Split {
    std::vector<double> a;
    std::vector<double> b;
};

template <class T>
Split<T> jagged_split(const std::vector<T>& values,
                      const std::vector<std::int64_t>& a_offsets,
                      const std::vector<std::int64_t>& b_offsets,
                      std::int64_t dim) {
    Split<T> parts;
    std::int64_t next = 0;
    const auto take = [&](std::vector<double>& part, std::int64_t entries) {
        part.insert(
            part.end(), values.begin() + next, values.begin() + next + entries * dim);
        next += entries * dim;
    };
    for (std::size_t r = 0; r + 1 < a_offsets.size(); ++r) {
        take(parts.a, a_offsets[r + 1] - a_offsets[r]);
        take(parts.b, b_offsets[r + 1] - b_offsets[r]);
    }
    return parts;
}

}  // namespace wb::reference
