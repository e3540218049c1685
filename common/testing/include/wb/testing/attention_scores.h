/// wb/testing/attention_scores.h: inputs whose scores are chosen, so that a sum, a
/// weight or a key that is wrong shows; and what is expected of those that are exact.
#pragma once

#include <wb/attention.h>
#include <wb/testing/attention.h>
#include <wb/testing/bounds.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace wb::testing {

/// Inputs whose weights are all equal and whose values are whole numbers: the sums are
/// exact, and the result must be right to a rounding or two. One key that is left out,
/// or taken twice, among a thousand shows.
///
/// The queries are zeros; keys are not, for a kernel that mixes both up must not pass.
inline AttentionInputs equal_weights(const AttentionShape& shape, std::uint64_t seed) {
    AttentionInputs inputs = random_attention(shape, seed);
    Random random(seed);
    for (float& value : inputs.q)
        value = 0.0f;
    for (float& value : inputs.v)
        value = static_cast<float>(random.below(15) - 7);
    return inputs;
}

/// The same, but each query chooses seven keys of eight, and one at least; the others
/// have scores so far below that their weights are 0. A key or a query that is read
/// from another place shows, too. Sums are exact.
inline AttentionInputs chosen_keys(const AttentionShape& shape, std::uint64_t seed) {
    AttentionInputs inputs = equal_weights(shape, seed);
    Random random(seed + 1);
    const int64_t dim = shape.head_dim;
    // A query asks one column of the keys, 0 or far below.
    const float far = std::copysign(4096.0f, -shape.scale);
    for (int64_t row = 0; row < shape.rows(); ++row)
        inputs.q[static_cast<std::size_t>(row * dim + random.below(dim))] = 1.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i) / dim % shape.keys;
        const bool chosen =
            random.below(8) != 0 || key == shape.keys - 1 || (shape.causal && key == 0);
        inputs.k[i] = chosen ? 0.0f : far;
    }
    return inputs;
}

/// What is expected of equal_weights(), and of chosen_keys().
inline AttentionExpected expect_equal_weights(const AttentionShape& shape,
                                              const AttentionInputs& inputs) {
    AttentionExpected expected = expect_attention(shape, inputs);
    // A quotient, or a reciprocal and a product; exp(0) and the sums are exact. And the
    // reference's own rounding, of the weight 1 / keys in double.
    for (std::size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = float_bound(3, std::abs(expected.o[i])) + 1e-12;
    return expected;
}

/// The same, but what is chosen has the score -3 - 2^-10, and the last key has -1; for
/// an even seed the first one, too, so that either all that is summed up shrinks in the
/// end, or nothing does. Neither score, nor their exponentials, is a number of 16 bits
/// and 1: one that is rounded to them shows, though all its neighbours are rounded
/// alike, and so does a maximum in another unit. The scale must be a power of two, or
/// minus one. No value is near 0.
inline AttentionInputs uneven_choice(const AttentionShape& shape, std::uint64_t seed) {
    AttentionInputs inputs = chosen_keys(shape, seed);
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i) / shape.head_dim % shape.keys;
        const bool is_highest = (key == 0 && seed % 2 == 0) || key == shape.keys - 1;
        if (is_highest || inputs.k[i] == 0.0f)
            inputs.k[i] = (is_highest ? -1.0f : -3.0f - 0x1p-10f) / shape.scale;
    }
    for (float& value : inputs.v)
        value += 8.0f;
    return inputs;
}

/// What is expected of uneven_choice(): there are two scores, both exact, so that the
/// maximum of a sum changes once, and once more where sums are merged, which up to 64
/// threads have. A weight is an exponential; it passes an addition for each key.
inline AttentionExpected expect_uneven_choice(const AttentionShape& shape,
                                              const AttentionInputs& inputs) {
    AttentionExpected expected = expect_attention(shape, inputs);
    const double terms = static_cast<double>(shape.keys) + 9.0 * 66.0 + 20.0;
    const double error = 2.0 * gamma(terms, kUnitRoundoff<float>);
    for (std::size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] =
            std::min(expected.o_bound[i], error * std::abs(expected.o[i]));
    for (std::size_t i = 0; i < expected.lse.size(); ++i)
        if (std::isfinite(expected.lse[i]))
            expected.lse_bound[i] = std::min(expected.lse_bound[i], error + 1e-5);
    return expected;
}

/// Every score is the same, and far from zero: exactly, for a scale of 1 and a score
/// that is a power of two. A maximum that begins at some large negative number, or that
/// a half must hold, loses all keys. v is never near 0.
inline AttentionInputs far_scores(const AttentionShape& shape, float score) {
    AttentionInputs inputs = equal_weights(shape, 1);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % dim == 0 ? 1024.0f : 0.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i)
        inputs.k[i] = i % dim == 0 ? score / 1024.0f : 0.0f;
    for (float& value : inputs.v)
        value += 8.0f;
    return inputs;
}

/// The first key has the score -64 and the value 1, all others -124: weights of 9e-27,
/// far below what a sum in float with 1 in it can show, whose values are so large that
/// together they make most of the result. exp(-124) is 0 in float: divided by exp(-64)
/// it is no weight. The scale must be 1, and the type one that has such values: not
/// fp16.
inline AttentionInputs small_weights(const AttentionShape& shape) {
    AttentionInputs inputs = equal_weights(shape, 1);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    const auto keys = static_cast<std::size_t>(shape.keys);
    for (std::size_t i = 0; i < inputs.q.size(); i += dim)
        inputs.q[i] = 1.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const bool is_first = i / dim % keys == 0;
        inputs.k[i] = i % dim != 0 ? 0.0f : is_first ? -64.0f : -124.0f;
        inputs.v[i] = is_first ? 1.0f : 0x1p74f * static_cast<float>(16 + i % 7);
    }
    return inputs;
}

/// One of four keys has all the weight but for a 20,000th: the sum of weights is so
/// near to 1 that its logarithm is what a lazy one calls 0. The scale must be 1.
/// @param highest  the score of that key
inline AttentionInputs nearly_alone(const AttentionShape& shape, float highest = 0.0f) {
    AttentionInputs inputs = equal_weights(shape, 1);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = 0; i < inputs.q.size(); i += dim)
        inputs.q[i] = 1.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const std::size_t key = i / dim % 4;
        const float below = key == 2 ? 0.0f : 10.5f + 0.5f * static_cast<float>(key);
        inputs.k[i] = i % dim == 0 ? highest - below : 0.0f;
    }
    return inputs;
}

/// Logits from -peak to peak: key j of a head has the logit peak * (2 j / keys - 1), or
/// the same in the opposite order; in the upper half, every fourth key has one that is
/// a little below the largest. Rising, each key of the lower half is a new maximum. It
/// all lies in one element of q and k, so that a score rounds only a few times, however
/// large it is.
inline AttentionInputs large_logits(const AttentionShape& shape,
                                    double peak,
                                    bool rising,
                                    std::uint64_t seed) {
    AttentionInputs inputs = random_attention(shape, seed);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % dim == 3 ? 1.0f / shape.scale : 0.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const auto key = static_cast<int64_t>(i / dim) % shape.keys;
        const int64_t place = rising ? key + 1 : shape.keys - key;
        double logit =
            peak *
            (2.0 * static_cast<double>(place) / static_cast<double>(shape.keys) - 1.0);
        if (key % 4 == 0 && 2 * place > shape.keys) {
            logit = peak - 0.25 * static_cast<double>(key % 7);
        }
        inputs.k[i] = i % dim == 3 ? static_cast<float>(logit) : 0.0f;
    }
    return inputs;
}

}  // namespace wb::testing
