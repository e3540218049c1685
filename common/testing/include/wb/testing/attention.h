/// wb/testing/attention.h: inputs, expected values and shapes that the chapters on
/// attention share.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/reference/attention.h>
#include <wb/testing/bounds.h>
#include <wb/testing/covering.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace wb::testing {

/// What a float kernel is given.
struct AttentionInputs {
    std::vector<float> q;
    std::vector<float> k;
    std::vector<float> v;
};

/// Random inputs. q and k are standard normal, without outliers: with them one key
/// would take all the weight, and no error of the softmax would show. v has outliers.
/// Every fifth query is the one before it once more, and every seventh key: what is the
/// same for both is only what their places say.
inline AttentionInputs random_attention(const AttentionShape& shape,
                                        std::uint64_t seed) {
    Random random(seed);
    AttentionInputs inputs;
    inputs.q.resize(static_cast<std::size_t>(shape.query_elements()));
    inputs.k.resize(static_cast<std::size_t>(shape.kv_elements()));
    random.normals(inputs.q.data(), inputs.q.size());
    random.normals(inputs.k.data(), inputs.k.size());
    const auto repeat = [&](std::vector<float>& rows, int64_t every) {
        const int64_t dim = shape.head_dim;
        for (int64_t i = every * dim; i < static_cast<int64_t>(rows.size()); ++i)
            if (i / dim % every == 0)
                rows[static_cast<std::size_t>(i)] =
                    rows[static_cast<std::size_t>(i - dim)];
    };
    repeat(inputs.q, 5);
    repeat(inputs.k, 7);
    inputs.v = random_normal(shape.kv_elements(), seed + 1000);
    return inputs;
}

/// Inputs with the same number everywhere.
inline AttentionInputs constant_inputs(const AttentionShape& shape,
                                       float q,
                                       float k,
                                       float v) {
    return {std::vector<float>(static_cast<size_t>(shape.query_elements()), q),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), k),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), v)};
}

/// The exact result, and how far from it a kernel may be.
struct AttentionExpected {
    std::vector<double> o;
    std::vector<double> o_bound;
    std::vector<double> lse;
    std::vector<double> lse_bound;
};

/// The relative error that the weight of each key may have before it is normalised, in
/// float, in whatever order a kernel goes through the keys.
///
///   score      `terms` products and sums, and 4 more roundings for scale and log2(e),
///              make an error of gamma(terms + 4) * magnitude in the exponent;
///   exponent   the subtraction of the maximum, and the conversion to a power of two,
///              are wrong by 4 u |score - max| at most;
///   sums       each term of the two sums over n keys passes n additions, and as the
///              maximum may change at each key, up to n rescalings: a product and an
///              exponential of at most 4 ulp, 9 roundings together.
inline double weight_error(const reference::AttentionRow& row, std::size_t j) {
    constexpr double u = kUnitRoundoff<float>;
    const double n = static_cast<double>(row.weights.size());
    const double exponent = gamma(row.terms[j] + 4, u) * row.magnitudes[j] +
                            4.0 * u * (row.max - row.scores[j]);
    return std::expm1(exponent) + gamma(10.0 * n + 20.0, u);
}

/// Adds what is expected of one row, in the order of rows.
/// @param with_output  also o, whose cost is as large as that of the scores
inline void expect_row(const AttentionShape& shape,
                       const AttentionInputs& inputs,
                       int64_t row_index,
                       AttentionExpected& expected) {
    constexpr double u = kUnitRoundoff<float>;
    const auto row = reference::attention_row(shape, inputs.q, inputs.k, row_index);
    const std::size_t n = row.weights.size();
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    std::vector<double> weighted(n);  // weight times its relative error
    double error = 0.0;               // of the sum of weights
    for (std::size_t j = 0; j < n; ++j) {
        weighted[j] = row.weights[j] * weight_error(row, j);
        error += weighted[j];
    }
    const double shrink = 1.0 / (1.0 - std::min(error, 0.5));
    std::vector<double> o(dim, 0.0);
    std::vector<double> bound(dim, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        const float* const v =
            &inputs.v[static_cast<std::size_t>(row.first_kv) + j * dim];
        reference::add_row(o.data(), row.weights[j], v, dim);
        // Weights below the smallest float may be lost altogether.
        reference::add_sizes(bound.data(), weighted[j] + kSmallestFloat, v, dim);
    }
    for (std::size_t d = 0; d < dim; ++d) {
        // (sum of p v) / (sum of p): errors of both, and a reciprocal and a product.
        bound[d] = (bound[d] + (error + 4.0 * u) * std::abs(o[d])) * shrink;
        expected.o.push_back(o[d]);
        expected.o_bound.push_back(bound[d] + kSmallestFloat);
    }
    expected.lse.push_back(row.lse);
    expected.lse_bound.push_back(
        n == 0 ? 0.0
               : error * shrink + 8.0 * u * (std::abs(row.max) + std::log(n) + 1.0));
}

/// What is expected of all rows.
inline AttentionExpected expect_attention(const AttentionShape& shape,
                                          const AttentionInputs& inputs) {
    AttentionExpected expected;
    for (int64_t row = 0; row < shape.rows(); ++row)
        expect_row(shape, inputs, row, expected);
    return expected;
}

/// 1 / sqrt(head_dim), as a caller computes it.
inline float usual_scale(int64_t head_dim) {
    return 1.0f / std::sqrt(static_cast<float>(head_dim));
}

/// Nearly the usual scale, for covering designs. In 16 bits it is another number, for
/// each head dimension; 1 / 8 and 1 / 16 are not, and would hide that.
inline float odd_scale(int64_t head_dim) {
    return 1.003418f * usual_scale(head_dim);
}

/// A shape with as many query heads as K/V heads and the usual scale.
inline AttentionShape plain_attention(int64_t batch,
                                      int64_t heads,
                                      int64_t queries,
                                      int64_t keys,
                                      int64_t head_dim,
                                      bool causal = false) {
    return {
        batch, heads, heads, queries, keys, head_dim, causal, usual_scale(head_dim)};
}

/// Sequences from one to odd primes, around the sizes of warps and tiles; where a tool
/// watches (is_watched()), one of each kind: threads race for the tiles that a shape
/// has, not for each of its rows.
inline std::vector<int64_t> lengths() {
    if (is_watched()) return {1, 33, 64, 129};
    return {1, 2, 3, 7, 31, 32, 33, 61, 64, 65, 97, 127, 128, 129};
}

/// Queries and keys of different number: decoding, a chunk of a prompt, and more
/// queries than keys, so that with a causal mask the first rows see nothing.
struct UnequalLengths {
    int64_t queries;
    int64_t keys;
};
inline std::vector<UnequalLengths> unequal_lengths() {
    if (is_watched()) return {{1, 97}, {33, 64}, {2, 1}, {129, 67}};
    return {{1, 2},
            {1, 97},
            {1, 128},
            {3, 130},
            {33, 64},
            {64, 129},
            {2, 1},
            {70, 3},
            {129, 67}};
}

}  // namespace wb::testing
