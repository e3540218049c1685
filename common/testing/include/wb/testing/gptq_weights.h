/// wb/testing/gptq_weights.h: weights in 4 bits for tests: random bits, or numbers that
/// make exact sums, with groups in any order.
#pragma once

#include <wb/reference/gptq.h>
#include <wb/testing/random.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace wb::testing::gptq {

using wb::reference::GptqWeights;

/// How g_idx gives rows to groups: not at all; in the order of the rows; each group as
/// often as it should be, in any order; any group for each row, so that groups differ
/// in size; and with rows of no group in between.
enum Order { none, rising, shuffled, unequal, with_bad };

inline const char* text_of(Order order) {
    const char* const orders[] = {
        "no g_idx", "g_idx rising", "g_idx shuffled", "any g_idx", "bad g_idx"};
    return orders[order];
}

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Rows that are in no group: below, above, and with a sign.
inline int32_t bad_group(int64_t i, int64_t groups) {
    const int32_t bad[] = {-1, static_cast<int32_t>(groups), INT32_MIN, INT32_MAX};
    return bad[at(i) % std::size(bad)];
}

/// g_idx for K rows.
inline std::vector<int32_t> make_order(int64_t K,
                                       int64_t rows_of_group,
                                       Order order,
                                       uint64_t seed) {
    std::vector<int32_t> g_idx;
    if (order == none) return g_idx;
    Random random(seed);
    const int64_t groups = K == 0 ? 0 : K / rows_of_group;
    for (int64_t k = 0; k < K; ++k)
        g_idx.push_back(static_cast<int32_t>(k / rows_of_group));
    for (int64_t k = K - 1; k > 0 && order == shuffled; --k)
        std::swap(g_idx[at(k)], g_idx[at(random.below(k + 1))]);
    for (int64_t k = 0; k < K && (order == unequal || order == with_bad); ++k)
        g_idx[at(k)] = static_cast<int32_t>(random.below(groups));
    for (int64_t k = 1; k < K && order == with_bad; k += 5)
        g_idx[at(k)] = bad_group(k / 5, groups);
    return g_idx;
}

/// Random bits, and a random scale for each group and column.
/// @param shape  a GptqShape
template <class Shape>
GptqWeights random_weights_of(const Shape& shape, Order order, uint64_t seed) {
    Random random(seed);
    GptqWeights w = wb::reference::empty_gptq(
        shape.N, shape.K, shape.rows_of_group(), shape.zeros_minus_one, false);
    for (int32_t& word : w.qweight)
        word = static_cast<int32_t>(random.bits());
    for (int32_t& word : w.qzeros)
        word = static_cast<int32_t>(random.bits());
    for (__half& scale : w.scales)
        scale = static_cast<__half>(static_cast<float>(0.02 + 0.01 * random.normal()));
    w.g_idx = make_order(shape.K, shape.rows_of_group(), order, seed + 1);
    return w;
}

/// The same with scales that are powers of two. With x of small whole numbers all sums
/// are exact, in any order.
template <class Shape>
GptqWeights exact_weights_of(const Shape& shape, Order order, uint64_t seed) {
    GptqWeights w = random_weights_of(shape, order, seed);
    Random random(seed + 2);
    for (__half& scale : w.scales)
        scale = static_cast<__half>(random.below(2) == 0 ? 0.25f : -0.5f);
    return w;
}

/// All numbers are 15, all zeros 5, all scales this one: all weights are 10 scales.
template <class Shape>
GptqWeights equal_weights_of(const Shape& shape, Order order, float scale) {
    GptqWeights w = random_weights_of(shape, order, 1);
    for (int64_t n = 0; n < w.N; ++n) {
        for (int64_t k = 0; k < w.K; ++k)
            w.set_number(k, n, 15);
        for (int64_t g = 0; g < w.groups(); ++g)
            w.set_zero(g, n, 5);
    }
    for (__half& each : w.scales)
        each = static_cast<__half>(scale);
    return w;
}

}  // namespace wb::testing::gptq
