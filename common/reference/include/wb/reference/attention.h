/// CPU reference of attention, in double.
#pragma once

#include <wb/attention.h>
#include <wb/reference/sums.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// What one query makes of the keys that it sees.
struct AttentionRow {
    std::vector<double> scores;      ///< [visible] scale * q . k
    std::vector<double> magnitudes;  ///< [visible] scale * sum of |q k|: what the
                                     ///< rounding errors of a score are measured by
    std::vector<int> terms;          ///< [visible] products that are not zero
    std::vector<double> weights;     ///< [visible] softmax of the scores
    double max = -std::numeric_limits<double>::infinity();  ///< of the scores
    double lse = -std::numeric_limits<double>::infinity();  ///< log of sum of exp
    int64_t first_kv = 0;  ///< index in k and v of the first element of key 0
};

/// @param q, k  as the kernels get them, of any type that converts to float
/// @param row   of all rows, 0 <= row < shape.rows()
template <class T>
AttentionRow attention_row(const AttentionShape& shape,
                           const std::vector<T>& q,
                           const std::vector<T>& k,
                           int64_t row) {
    const int64_t head = row / shape.queries % shape.query_heads;
    const int64_t batch = row / shape.queries / shape.query_heads;
    const int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
    const int64_t visible =
        visible_keys(shape.queries, shape.keys, shape.causal, row % shape.queries);
    AttentionRow result;
    result.first_kv = (batch * shape.kv_heads + kv_head) * shape.keys * shape.head_dim;
    for (int64_t j = 0; j < visible; ++j) {
        const T* const a = &q[static_cast<std::size_t>(row * shape.head_dim)];
        const T* const b =
            &k[static_cast<std::size_t>(result.first_kv + j * shape.head_dim)];
        const auto [sum, size, terms] =
            product_sum(a, b, static_cast<std::size_t>(shape.head_dim));
        result.scores.push_back(double{shape.scale} * sum);
        result.magnitudes.push_back(std::abs(double{shape.scale}) * size);
        result.terms.push_back(static_cast<int>(terms));
        result.max = std::max(result.max, result.scores.back());
    }
    double sum = 0.0;
    for (const double score : result.scores) {
        result.weights.push_back(std::exp(score - result.max));
        sum += result.weights.back();
    }
    for (double& weight : result.weights)
        weight /= sum;
    if (visible > 0) result.lse = result.max + std::log(sum);
    return result;
}

/// One element of the output: the weighted mean of a column of v, 0 if no key is seen.
/// @param d  0 <= d < head_dim
template <class T>
double attention_element(const AttentionShape& shape,
                         const AttentionRow& row,
                         const std::vector<T>& v,
                         int64_t d) {
    double sum = 0.0;
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
        const auto place = static_cast<std::size_t>(row.first_kv + d) +
                           j * static_cast<std::size_t>(shape.head_dim);
        sum += row.weights[j] * static_cast<double>(static_cast<float>(v[place]));
    }
    return sum;
}

}  // namespace wb::reference
