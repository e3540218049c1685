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
#include <vector>

namespace wb::testing {

/// Values from -7 to 7.
inline std::vector<float> whole_numbers(const AttentionShape& shape,
                                        std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(shape.kv_elements()));
    for (float& value : values)
        value = static_cast<float>(random.below(15) - 7);
    return values;
}

/// Inputs whose weights are all equal and whose values are whole numbers: the sums are
/// exact, and the result must be right to a rounding or two. One key that is left out,
/// or taken twice, among a thousand shows.
///
/// The queries are zeros; keys are not, for a kernel that mixes both up must not pass.
inline AttentionInputs equal_weights(const AttentionShape& shape, std::uint64_t seed) {
    AttentionInputs inputs = random_attention(shape, seed);
    inputs.q.assign(inputs.q.size(), 0.0f);
    inputs.v = whole_numbers(shape, seed);
    return inputs;
}

/// The same, but each query chooses seven keys of eight, and one at least; the others
/// have scores so far below that their weights are 0. A key or a query that is read
/// from another place shows, too. Sums are exact.
inline AttentionInputs chosen_keys(const AttentionShape& shape, std::uint64_t seed) {
    AttentionInputs inputs = constant_inputs(shape, 0.0f, 0.0f, 0.0f);
    inputs.v = whole_numbers(shape, seed);
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

/// The same, but there are two scores, near -1 and -3 (or twice that): the last eighth
/// of the keys has the first; for an even seed the first key, too, so that either all
/// that is summed up shrinks in the end, or nothing does. Neither score, nor their
/// exponentials, is a number of 16 bits: one that is rounded to them shows, though all
/// its neighbours are rounded alike, and so does a maximum in another unit. In odd
/// columns, values of the last keys are of the other sign: o is a small difference, and
/// its rounding hides little.
///
/// A score is the sum of a large product and of one nearly as large of the other sign,
/// in two neighbouring columns, for every other query in the last two, besides. All
/// numbers have eight bits, their products have more: one that is rounded to 16 bits
/// shows, too. No value is near 0.
inline AttentionInputs uneven_choice(const AttentionShape& shape, std::uint64_t seed) {
    constexpr float kQuery = 1.0f + 0x1p-7f;
    // In fp16 their products are rounded up, and those of the others down.
    constexpr float kHighest[] = {85.0f, 93.0f};
    constexpr float kOthers[] = {91.0f, 83.0f};
    AttentionInputs inputs = chosen_keys(shape, seed);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = 0; i < inputs.q.size(); i += 2) {
        const bool is_last = i % dim == dim - 2 && i / dim % 2 == 1;
        if (inputs.q[i] + inputs.q[i + 1] != 0.0f || is_last)
            inputs.q[i] = inputs.q[i + 1] = kQuery;
    }
    const auto first_of_last = [](int64_t keys) { return keys - 1 - keys / 8; };
    const float near = std::round(1.0f / shape.scale);
    for (std::size_t i = 0; i < inputs.k.size(); i += 2) {
        const int64_t key = static_cast<int64_t>(i / dim) % shape.keys;
        const bool is_highest =
            (key == 0 && seed % 2 == 0) || key >= first_of_last(shape.keys);
        const float far = inputs.k[i] + inputs.k[i + 1];
        const float sum = is_highest ? -near : far == 0.0f ? -3.0f * near : far;
        const float large = (is_highest ? kHighest : kOthers)[i / 4 % 2];
        inputs.k[i + i / 2 % 2] = large;
        inputs.k[i + 1 - i / 2 % 2] = sum - large;
    }
    for (std::size_t i = 0; i < inputs.v.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i / dim) % shape.keys;
        const float size = 8.0f + std::abs(inputs.v[i]);
        const bool is_positive = i % 2 == 0 || key < first_of_last(shape.keys);
        inputs.v[i] = is_positive ? size : -size;
    }
    return inputs;
}

/// Bounds of values from 8 to 15 whose sums and weights are wrong by this factor in
/// all: they are positive in even columns, and of both signs in odd ones.
inline void bound_of_columns(AttentionExpected& expected, double error) {
    for (std::size_t i = 0; i < expected.o.size(); ++i) {
        const double most = i % 2 == 0 ? std::abs(expected.o[i]) : 15.0;
        expected.o_bound[i] = std::min(expected.o_bound[i], error * most);
    }
}

/// What is expected of uneven_choice(): there are two scores, so that the maximum of a
/// sum changes once, and once more where sums are merged, which up to 64 threads have.
/// A weight is an exponential; it passes an addition for each key. Products and their
/// sums are exact; a scale that is multiplied before rounds four products, which are
/// 260 |scale| at most.
inline AttentionExpected expect_uneven_choice(const AttentionShape& shape,
                                              const AttentionInputs& inputs) {
    AttentionExpected expected = expect_attention(shape, inputs);
    const double terms = static_cast<double>(shape.keys) + 9.0 * 66.0 + 20.0;
    const double products = 4.0 * 260.0 * std::abs(double{shape.scale});
    const double error = 2.0 * (gamma(terms, kUnitRoundoff<float>) +
                                gamma(6.0, kUnitRoundoff<float>) * products);
    bound_of_columns(expected, error);
    for (std::size_t i = 0; i < expected.lse.size(); ++i)
        if (std::isfinite(expected.lse[i]))
            expected.lse_bound[i] = std::min(expected.lse_bound[i], error + 1e-5);
    return expected;
}

/// Which keys count in two_of_many(): one, the last that all rows see, and those that
/// only some see.
inline bool is_of_two(const AttentionShape& shape, int64_t key) {
    const int64_t last =
        visible_keys(shape.queries, shape.keys, shape.causal, int64_t{0}) - 1;
    return key >= last || key == last * 5 / 8;
}

/// Random numbers with all their digits, of which two keys, or a few more with a mask,
/// have all the weight: those of the others are 0 in float. The error of many keys is
/// that of two then. What the bound of many would excuse shows: a query, a key, a value
/// or a weight that is rounded to 16 bits, or to those of TF32. A lost key does, too.
/// Scores are sums of three products.
/// @param shape  with a mask, of more keys than queries
inline AttentionInputs two_of_many(const AttentionShape& shape, std::uint64_t seed) {
    constexpr float kQuery = 64.0f;
    AttentionInputs inputs = random_attention(shape, seed);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    const std::size_t common = seed % dim;
    const float far = -4096.0f / (kQuery * shape.scale);
    const float factor = 0.5f / shape.scale;
    const auto set = [&](std::vector<float>& numbers, auto in_common, float by) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t d = i % dim;
            const bool is_noise = (d + dim - common) % (dim / 4) == 0;
            if (d == common)
                numbers[i] = in_common(static_cast<int64_t>(i / dim));
            else
                numbers[i] = is_noise ? by * numbers[i] : 0.0f;
        }
    };
    set(
        inputs.q, [](int64_t) { return kQuery; }, 1.0f);
    set(
        inputs.k,
        [&](int64_t row) { return is_of_two(shape, row % shape.keys) ? 0.0f : far; },
        factor);
    return inputs;
}

/// What is expected of two_of_many(): attention over the keys that count.
inline AttentionExpected expect_two_of_many(const AttentionShape& shape,
                                            const AttentionInputs& inputs) {
    AttentionExpected expected;
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    const int64_t group = shape.query_heads / shape.kv_heads;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const int64_t visible =
            visible_keys(shape.queries, shape.keys, shape.causal, row % shape.queries);
        const int64_t first = row / shape.queries / group * shape.keys;
        const auto append =
            [&](std::vector<float>& to, const std::vector<float>& from, int64_t which) {
                const float* const begin = &from[static_cast<std::size_t>(which) * dim];
                to.insert(to.end(), begin, begin + dim);
            };
        AttentionInputs few;
        append(few.q, inputs.q, row);
        for (int64_t key = 0; key < visible; ++key) {
            if (!is_of_two(shape, key)) continue;
            append(few.k, inputs.k, first + key);
            append(few.v, inputs.v, first + key);
        }
        auto of_few = plain_attention(
            1, 1, 1, static_cast<int64_t>(few.k.size() / dim), shape.head_dim);
        of_few.scale = shape.scale;
        expect_row(of_few, few, 0, expected);
    }
    return expected;
}

/// Each row's scores rise once, by 150, at a key that is not its neighbours': a warp or
/// a block whose rows share a decision, to rescale or to leave that out, needs to have
/// asked all of them. Every fifth column of q and k up to the 32nd decides, in turn.
inline AttentionInputs steps_of_rows(const AttentionShape& shape, std::uint64_t seed) {
    constexpr int64_t kColumns = 32;
    AttentionInputs inputs = constant_inputs(shape, 0.0f, 0.0f, 0.0f);
    inputs.v = random_attention(shape, seed).v;
    const int64_t dim = shape.head_dim;
    for (int64_t row = 0; row < shape.rows(); ++row)
        inputs.q[static_cast<std::size_t>(row * dim + 5 * row % kColumns)] = 1.0f;
    for (int64_t i = 0; i < static_cast<int64_t>(inputs.k.size()); ++i) {
        const int64_t key = i / dim % shape.keys;
        if (i % dim < kColumns && kColumns * key >= i % dim * shape.keys)
            inputs.k[static_cast<std::size_t>(i)] = 150.0f / shape.scale;
    }
    return inputs;
}

/// Scores that rise from key to key by a step, or not at all: up to 64 equal steps.
/// What a step multiplies the earlier sums with lies in the middle between two numbers
/// of fp16, and of bf16: where it is rounded to them, each step makes the same mistake,
/// and all the earlier weights shrink or grow. In odd columns, the later half of the
/// keys has values of the other sign, so that o is a small difference of both, and the
/// mistake is large beside it, and beside the rounding of o. Numbers have eight bits.
inline AttentionInputs stepped_scores(const AttentionShape& shape, std::uint64_t seed) {
    constexpr int64_t kSteps = 64;
    AttentionInputs inputs = chosen_keys(shape, seed);
    const double scale = std::abs(double{shape.scale});
    const double unit = std::ldexp(1.0, -7 - std::ilogb(scale));
    const auto apart = [](double x) { return std::abs(x - std::nearbyint(x)); };
    double query = unit;
    double farthest = 0.0;
    for (int i = 0; i < 128; ++i) {
        const double next = unit * (1.0 + i / 128.0);
        const double factor = std::exp(-scale * next);
        const double distance = std::min(apart(factor * 0x1p11), apart(factor * 0x1p8));
        if (distance > farthest) query = next;
        farthest = std::max(distance, farthest);
    }
    for (float& value : inputs.q)
        value *= static_cast<float>(std::copysign(query, shape.scale));
    const int64_t width = (shape.keys + kSteps - 1) / kSteps;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i) / shape.head_dim % shape.keys;
        inputs.k[i] = static_cast<float>(key / width - kSteps);
        const float size = 8.0f + std::abs(inputs.v[i]);
        inputs.v[i] = i % 2 == 0 || 2 * key < shape.keys ? size : -size;
    }
    return inputs;
}

/// What is expected of stepped_scores(): each step, and each of up to 64 threads whose
/// sums are merged, is a product and an exponential.
inline AttentionExpected expect_stepped(const AttentionShape& shape,
                                        const AttentionInputs& inputs) {
    AttentionExpected expected = expect_attention(shape, inputs);
    const double terms = static_cast<double>(shape.keys) + 9.0 * (64.0 + 66.0) + 20.0;
    const double error = 2.0 * gamma(terms, kUnitRoundoff<float>);
    bound_of_columns(expected, error);
    for (double& allowed : expected.lse_bound)
        allowed = std::min(allowed, error + 1e-5);
    return expected;
}

/// A scale that makes 9e35 of 2^20: further from zero than what stands for infinity in
/// many a kernel. It is a power of two times ln(2): the scale is no other in powers of
/// two, and what multiplies a power of two by either makes no error.
constexpr float kFarScale = 0x1p100f * 0.693147180559945309f;

/// Every score is the same, and far from zero: exactly, for a scale of 1 or kFarScale,
/// and a product that is a power of two. A maximum that begins at some large negative
/// number, or that a half must hold, loses all keys; a number that hides one is seen.
/// v is never near 0.
/// @param score  before it is scaled
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

/// Bounds of far_scores(): all weights are equal, exactly, and values are positive.
/// Those of any scores of that size would allow everything.
inline void bound_far_scores(const AttentionShape& shape, AttentionExpected& expected) {
    const double roundings = static_cast<double>(shape.keys) + 4.0;
    for (std::size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = float_bound(roundings, std::abs(expected.o[i])) + 1e-12;
    for (std::size_t i = 0; i < expected.lse.size(); ++i)
        if (std::isfinite(expected.lse[i]))
            expected.lse_bound[i] = float_bound(16, std::abs(expected.lse[i]) + 8.0);
}

/// What is expected of far_scores().
inline AttentionExpected expect_far_scores(const AttentionShape& shape,
                                           const AttentionInputs& inputs) {
    AttentionExpected expected = expect_attention(shape, inputs);
    bound_far_scores(shape, expected);
    return expected;
}

/// The first key has the score -64 and the value 1, all others -124: weights of 9e-27,
/// far below what a sum in float with 1 in it can show, whose values are so large that
/// together they make most of the result. exp(-124) is 0 in float: divided by exp(-64)
/// it is no weight. The scale must be 1, and the type one that has such values: not
/// fp16.
/// @param below  how far the others are below the first: 60, or up to 87, which is a
///               weight of 1.6e-38, for a few hundred keys
inline AttentionInputs small_weights(const AttentionShape& shape, float below = 60.0f) {
    const float unit = std::exp2(std::floor(below * 1.442695f) - 12.0f);
    AttentionInputs inputs = equal_weights(shape, 1);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    const auto keys = static_cast<std::size_t>(shape.keys);
    for (std::size_t i = 0; i < inputs.q.size(); i += dim)
        inputs.q[i] = 1.0f;
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const bool is_first = i / dim % keys == 0;
        inputs.k[i] = i % dim != 0 ? 0.0f : is_first ? -64.0f : -64.0f - below;
        inputs.v[i] = is_first ? 1.0f : unit * static_cast<float>(16 + i % 7);
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
