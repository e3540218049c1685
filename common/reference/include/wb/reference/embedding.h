/// CPU references of the lookup of rows in a table, and of its backward pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// Sums, and how exact they can be.
struct EmbeddingSums {
    std::vector<double> sums;         ///< [rows, cols]
    std::vector<double> magnitudes;   ///< [rows, cols] the sum of absolute values
    std::vector<std::int64_t> terms;  ///< [rows] summands of each element
    std::int64_t bad = 0;             ///< indices, and bags, that are none
};

/// out[i, :] = table[indices[i], :]; where an index is no row, out stays as it is.
/// Returns the number of those.
/// @param table  [num_rows, cols] row-major
/// @param out    [indices, cols]
template <class T>
std::int64_t embedding(const std::vector<T>& table,
                       std::int64_t num_rows,
                       std::int64_t cols,
                       const std::vector<std::int64_t>& indices,
                       std::vector<double>& out) {
    std::int64_t bad = 0;
    std::size_t place = 0;
    for (const std::int64_t index : indices) {
        const bool is_row = index >= 0 && index < num_rows;
        if (!is_row) ++bad;
        for (std::int64_t col = 0; col < cols; ++col, ++place) {
            if (!is_row) continue;
            out[place] = static_cast<double>(
                table[static_cast<std::size_t>(index * cols + col)]);
        }
    }
    return bad;
}

namespace detail {

/// sums[to, :] += rows[from, :]
template <class T>
void add_row(EmbeddingSums& result,
             std::int64_t to,
             const std::vector<T>& rows,
             std::int64_t from,
             std::int64_t cols) {
    for (std::int64_t col = 0; col < cols; ++col) {
        const auto value = static_cast<double>(
            static_cast<float>(rows[static_cast<std::size_t>(from * cols + col)]));
        const auto place = static_cast<std::size_t>(to * cols + col);
        result.sums[place] += value;
        result.magnitudes[place] += std::abs(value);
    }
    ++result.terms[static_cast<std::size_t>(to)];
}

inline EmbeddingSums no_sums(std::int64_t rows, std::int64_t cols) {
    const auto count = static_cast<std::size_t>(rows * cols);
    return {std::vector<double>(count),
            std::vector<double>(count),
            std::vector<std::int64_t>(static_cast<std::size_t>(rows)),
            0};
}

}  // namespace detail

/// The sum of the rows of each bag, or their mean. `terms` is -1 for a bag whose
/// offsets are wrong.
/// @param table    [num_rows, cols] row-major
/// @param offsets  [bags + 1]
template <class T>
EmbeddingSums embedding_bag(const std::vector<T>& table,
                            std::int64_t num_rows,
                            std::int64_t cols,
                            const std::vector<std::int64_t>& indices,
                            const std::vector<std::int64_t>& offsets,
                            std::int64_t padding,
                            bool mean) {
    const auto bags = static_cast<std::int64_t>(offsets.size()) - 1;
    EmbeddingSums result = detail::no_sums(bags, cols);
    for (std::int64_t bag = 0; bag < bags; ++bag) {
        const auto b = static_cast<std::size_t>(bag);
        const std::int64_t begin = offsets[b];
        const std::int64_t end = offsets[b + 1];
        if (begin < 0 || begin > end ||
            end > static_cast<std::int64_t>(indices.size())) {
            ++result.bad;
            result.terms[b] = -1;
            continue;
        }
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t index = indices[static_cast<std::size_t>(i)];
            if (index < 0 || index >= num_rows)
                ++result.bad;
            else if (index != padding)
                detail::add_row(result, bag, table, index, cols);
        }
        if (!mean || result.terms[b] == 0) continue;
        for (std::int64_t col = 0; col < cols; ++col) {
            const auto place = static_cast<std::size_t>(bag * cols + col);
            result.sums[place] /= static_cast<double>(result.terms[b]);
            result.magnitudes[place] /= static_cast<double>(result.terms[b]);
        }
    }
    return result;
}

/// sums[r, :] = the sum of grad_out[i, :] over all i with indices[i] == r.
/// @param grad_out  [indices, cols] row-major
inline EmbeddingSums embedding_backward(const std::vector<float>& grad_out,
                                        std::int64_t num_rows,
                                        std::int64_t cols,
                                        const std::vector<std::int64_t>& indices,
                                        std::int64_t padding) {
    EmbeddingSums result = detail::no_sums(num_rows, cols);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] < 0 || indices[i] >= num_rows)
            ++result.bad;
        else if (indices[i] != padding)
            detail::add_row(
                result, indices[i], grad_out, static_cast<std::int64_t>(i), cols);
    }
    return result;
}

}  // namespace wb::reference
