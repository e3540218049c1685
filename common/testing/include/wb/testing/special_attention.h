/// wb/testing/special_attention.h: attention of numbers that are not finite, and of
/// numbers so small that they have lost digits. What the contracts say of them:
///
///   a NaN in q             its own row is NaN, o and lse; no other row is
///   a NaN in a key         each row that sees the key is NaN; no other row is
///   a NaN or an infinity   its column of o is NaN or infinite, in each row that sees
///   in a value             the key, even with a weight that is 0 in float; no other
///                          column is
///   another head's         nothing
///
/// A value of a key that a row does not see is multiplied with a weight of 0 where a
/// tile is one product: it must be finite, and stands nowhere here.
#pragma once

#include <wb/testing/attention.h>
#include <wb/testing/attention_grade.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace wb::testing {

/// Where NaN and infinities are in a problem, and what becomes of the results. Few rows
/// and keys that end in the middle of all tiles, so that each head is followed by one
/// with a NaN in its first key: what reads past its last key multiplies 0 by NaN.
class NotFinite {
 public:
    /// @param query_heads, kv_heads  an even number of K/V heads
    /// @param queries, keys          no less than 2, and no fewer keys than queries
    NotFinite(int64_t query_heads,
              int64_t kv_heads,
              int64_t head_dim,
              int64_t queries = 9,
              int64_t keys = 70)
        : shape{2,
                query_heads,
                kv_heads,
                queries,
                keys,
                head_dim,
                true,
                usual_scale(head_dim)} {}

    /// Of any shape that has keys. Values are not spoilt where some rows see nothing.
    /// @param turn  which heads are spoilt with what; for odd ones, no query is NaN
    NotFinite(const AttentionShape& of, std::uint64_t turn)
        : shape(of), turn_(static_cast<int64_t>(turn)) {}

    const AttentionShape shape;
    static constexpr const char* kText = ", with NaN and infinity in some places";

    /// Queries and keys: in some head dimension several tiles of rows, in another
    /// several of keys.
    static std::pair<int64_t, int64_t> sides(int64_t head_dim) {
        if (head_dim == 32) return {67, 69};
        if (head_dim == 64) return {4, 331};
        return {9, 70};
    }

    /// The inputs with NaN and infinity in their places.
    AttentionInputs spoilt(AttentionInputs inputs) const {
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        const auto dim = static_cast<std::size_t>(shape.head_dim);
        if (turn_ % 2 == 0)
            inputs.q[static_cast<std::size_t>(row_of_nan()) * dim + column(0, 11)] =
                kNaN;
        for (int64_t head = 0; head < shape.batch * shape.kv_heads; ++head) {
            const auto first = static_cast<std::size_t>(head * shape.keys) * dim;
            if (what_of(head) == What::values) {
                // The first key, and the last one that all rows see.
                const auto last = static_cast<std::size_t>(seen_by(0) - 1);
                inputs.v[first + column(head, kColumnOfNaN)] = kNaN;
                inputs.v[first + last * dim + column(head, kColumnOfInfinity)] =
                    static_cast<float>(infinity_of(head));
            }
            const std::size_t column_of_key = column(head, 5);
            if (what_of(head) == What::first_key)
                inputs.k[first + column_of_key] = kNaN;
            if (what_of(head) == What::late_key)
                inputs.k[first + static_cast<std::size_t>(late_key()) * dim +
                         column_of_key] = kNaN;
        }
        return inputs;
    }

    /// What is expected of them.
    /// @param expected  of the inputs without NaN; bounds are of the stored result
    AttentionExpected spoilt(AttentionExpected expected) const {
        for (int64_t row = 0; row < shape.rows(); ++row) {
            const int64_t query = row % shape.queries;
            const int64_t head = row / shape.queries % shape.query_heads;
            const int64_t batch = row / shape.queries / shape.query_heads;
            const int64_t kv_head =
                batch * shape.kv_heads + head / (shape.query_heads / shape.kv_heads);
            const What what = what_of(kv_head);
            const bool is_of_nan = turn_ % 2 == 0 && row == row_of_nan();
            if (seen_by(query) == 0) continue;
            if (is_of_nan || what == What::first_key ||
                (what == What::late_key && seen_by(query) > late_key())) {
                for (int64_t d = 0; d < shape.head_dim; ++d)
                    make_nan(expected.o, expected.o_bound, row * shape.head_dim + d);
                make_nan(expected.lse, expected.lse_bound, row);
            } else if (what == What::values) {
                const auto first = static_cast<std::size_t>(row * shape.head_dim);
                const std::size_t of_nan = first + column(kv_head, kColumnOfNaN);
                make_nan(expected.o, expected.o_bound, static_cast<int64_t>(of_nan));
                expected.o[first + column(kv_head, kColumnOfInfinity)] =
                    infinity_of(kv_head);
            }
        }
        return expected;
    }

 private:
    /// Of the first head; a row follows it, if there is one.
    int64_t row_of_nan() const { return std::max(shape.queries - 2, int64_t{0}); }
    /// The last half of the rows sees it.
    int64_t late_key() const {
        return std::max(shape.keys - 1 - shape.queries / 2, int64_t{0});
    }
    int64_t seen_by(int64_t query) const {
        return visible_keys(shape.queries, shape.keys, shape.causal, query);
    }

    static constexpr std::size_t kColumnOfNaN = 3;
    static constexpr std::size_t kColumnOfInfinity = 22;

    /// One of the first columns, or as far from the last one: of each head in turn, and
    /// of each head dimension.
    bool is_late(int64_t head) const {
        return (head + turn_ / 2 + shape.head_dim / 64) % 3 != 1;
    }
    std::size_t column(int64_t head, std::size_t from_end) const {
        const auto last = static_cast<std::size_t>(shape.head_dim) - 1;
        return is_late(head) ? last - from_end : from_end;
    }
    /// Of either sign.
    double infinity_of(int64_t head) const {
        const bool is_negative = (head + turn_ / 4 + shape.head_dim / 64) % 2 == 1;
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return is_negative ? -kInfinity : kInfinity;
    }

    enum class What { nothing, values, first_key, late_key };
    What what_of(int64_t head) const {
        auto what = static_cast<What>((head + turn_) % 4);
        if (shape.batch * shape.kv_heads == 1)  // a lone head always has something
            what = turn_ % 2 == 0 ? What::values : What::late_key;
        return what == What::values && seen_by(0) == 0 ? What::nothing : what;
    }

    int64_t turn_ = 0;

    static void make_nan(std::vector<double>& values,
                         std::vector<double>& bounds,
                         int64_t at) {
        values[static_cast<std::size_t>(at)] = std::numeric_limits<double>::quiet_NaN();
        bounds[static_cast<std::size_t>(at)] = 0.0;
    }
};

/// Half of the keys, the first or the last ones, have scores so far below the others
/// that their weights are 0 in float. A kernel may want to leave them out.
inline AttentionInputs weightless_keys(const AttentionShape& shape, bool first) {
    constexpr std::size_t kColumn = 3;
    AttentionInputs inputs = random_attention(shape, 1);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = kColumn; i < inputs.q.size(); i += dim)
        inputs.q[i] = 16.0f;
    for (std::size_t i = kColumn; i < inputs.k.size(); i += dim) {
        const bool is_first =
            static_cast<int64_t>(i / dim) % shape.keys * 2 < shape.keys;
        inputs.k[i] = is_first == first ? -32.0f / shape.scale : 0.0f;
    }
    return inputs;
}

/// A NaN in a value of each head, of one of these keys.
inline void spoil_weightless(const AttentionShape& shape,
                             bool first,
                             AttentionInputs& inputs,
                             AttentionExpected& expected) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    const int64_t key = first ? 1 : shape.keys - 2;
    const int64_t column = shape.head_dim - 2;
    for (int64_t head = 0; head < shape.batch * shape.kv_heads; ++head)
        inputs.v[static_cast<std::size_t>((head * shape.keys + key) * shape.head_dim +
                                          column)] = kNaN;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const auto at = static_cast<std::size_t>(row * shape.head_dim + column);
        expected.o[at] = std::numeric_limits<double>::quiet_NaN();
        expected.o_bound[at] = 0.0;
    }
}

/// What is told of them.
inline std::string weightless_text(bool first) {
    return std::string("NaN in a value of weight 0 among the ") +
           (first ? "first" : "last") + " keys";
}

/// Values below the smallest number that has all its digits: subnormal ones. If they
/// are flushed to zero, the error is as large as they are.
/// @param unit  values are 40 to 99 of it: a power of two that the type has
inline AttentionInputs subnormal_values(const AttentionShape& shape, double unit) {
    AttentionInputs inputs = random_attention(shape, 1);
    Random random(1);
    for (float& value : inputs.v)
        value = static_cast<float>(unit * double(40 + random.below(60)));
    return inputs;
}

/// Values near 2^106, whose logits rise by half a unit with each key. Weights may be
/// larger than 1 for a while, where a kernel puts off a new maximum; but e^60 times
/// such a value is infinite.
inline AttentionInputs huge_values(const AttentionShape& shape) {
    AttentionInputs inputs = with_logits(shape, Logits::rising, {}, 1);
    inputs.v = subnormal_values(shape, 0x1p100).v;
    return inputs;
}

/// What is expected of subnormal_values(). Those that are 2^100 times as large lose
/// nothing; each rounding on the way back loses half a step of the type at most.
/// @param unit    as above; no less than such a step
/// @param expect  gives what is expected of other inputs
template <class Expect>
AttentionExpected expect_subnormal(const AttentionShape& shape,
                                   AttentionInputs inputs,
                                   double unit,
                                   Expect expect) {
    for (float& value : inputs.v)
        value *= 0x1p100f;
    AttentionExpected expected = expect(shape, inputs);
    const double in_float = 0x1p-150 * (2.0 * static_cast<double>(shape.keys) + 10.0);
    for (std::size_t i = 0; i < expected.o.size(); ++i) {
        expected.o[i] *= 0x1p-100;
        expected.o_bound[i] = 0x1p-100 * expected.o_bound[i] + 0.5 * unit + in_float;
    }
    return expected;
}

/// Queries of every other head, and keys of the others, that are subnormal numbers,
/// beside numbers and a scale, which the shape gets, that make ordinary scores of them.
/// The shape has an even number of heads, as many for k as for q.
/// @param unit  the subnormal ones are 40 to 99 of it: 2^-24 of fp16, or below 2^-130
inline AttentionInputs subnormal_scores(AttentionShape& shape, double unit) {
    // Products of q and the scale stay in the range of float.
    const bool is_half = unit > 0x1p-100;
    const double other = is_half ? 1.0 : 0x1p60;
    shape.scale = is_half ? 0x1p16f : 0x1p64f;
    AttentionInputs inputs = random_attention(shape, 1);
    Random random(1);
    const auto set = [&](std::vector<float>& numbers, int64_t rows, int64_t which) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const int64_t head = static_cast<int64_t>(i) / (rows * shape.head_dim);
            const double tiny = unit * double(40 + random.below(60));
            const double x = head % 2 == which ? std::copysign(tiny, numbers[i])
                                               : other * double{numbers[i]};
            numbers[i] = static_cast<float>(x);
        }
    };
    set(inputs.q, shape.queries, 0);
    set(inputs.k, shape.keys, 1);
    return inputs;
}

/// Queries of one K/V head, and keys of the next, of a few times the smallest number of
/// a type, whose digits the scale, 1/8, takes if it is multiplied into them as numbers
/// of this type. The other factors are so large that these count.
/// @param unit  the smallest number
inline AttentionInputs smallest_factors(AttentionShape& shape, double unit) {
    shape.scale = 0.125f;
    AttentionInputs inputs = random_attention(shape, 3);
    const double large = unit > 0x1p-100 ? 0x1p14 : 0x1p124;
    const int64_t group = shape.query_heads / shape.kv_heads;
    const auto set = [&](std::vector<float>& numbers, int64_t rows, int64_t which) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto head = static_cast<int64_t>(i) / (rows * shape.head_dim);
            const double x = numbers[i];
            numbers[i] = static_cast<float>(head % 2 == which
                                                ? unit * std::trunc(5.0 * x)
                                                : large * std::clamp(x, -3.0, 3.0));
        }
    };
    set(inputs.q, shape.queries * group, 0);
    set(inputs.k, shape.keys, 1);
    return inputs;
}

/// Scores between -2 and 2 that are products of large queries, large keys, and a scale
/// that is a subnormal number, which the shape gets. One product a score, so that no
/// order of factors overflows.
inline AttentionInputs subnormal_scale(AttentionShape& shape) {
    shape.scale = 0x1.8p-127f;
    AttentionInputs inputs = random_attention(shape, 1);
    const auto set = [&](std::vector<float>& numbers, bool random) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const double factor =
                random ? std::remainder(double{numbers[i]}, 2.0) : 1.0;
            const bool counts = static_cast<int64_t>(i) % shape.head_dim == 7;
            numbers[i] = counts ? static_cast<float>(0x1p63 * factor) : 0.0f;
        }
    };
    set(inputs.q, false);
    set(inputs.k, true);
    return inputs;
}

/// Both, for every rung of a chapter in float, or the learner's function.
inline void grade_not_finite(const std::string& exercise,
                             AttentionFunction* contract,
                             int64_t query_heads,
                             int64_t kv_heads) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        if (is_watched() && head_dim > 64) break;  // a branch on a NaN is the same one
        const auto [queries, keys] = NotFinite::sides(head_dim);
        const NotFinite numbers(query_heads, kv_heads, head_dim, queries, keys);
        const auto inputs = random_attention(numbers.shape, 1);
        grade_attention(exercise,
                        contract,
                        numbers.shape,
                        numbers.spoilt(inputs),
                        numbers.spoilt(expect_attention(numbers.shape, inputs)),
                        numbers.kText);
    }
    // Where scores seem not to matter: a scale of 0, and a single key.
    auto unscaled = plain_attention(1, query_heads, 3, 40, 64);
    unscaled.scale = 0.0f;
    auto lone = plain_attention(1, query_heads, 2, 1, 64);
    std::uint64_t turn = 2;
    for (auto* shape : {&unscaled, &lone}) {
        shape->kv_heads = kv_heads;
        const NotFinite numbers(*shape, turn);
        const auto inputs = random_attention(*shape, 1);
        grade_attention(exercise,
                        contract,
                        *shape,
                        numbers.spoilt(inputs),
                        numbers.spoilt(expect_attention(*shape, inputs)),
                        numbers.kText);
        turn = 0;
    }
    if (is_watched()) return;  // there, accesses are no others
    for (const int64_t head_dim : {32, 64, 128, 256})
        for (const bool first : {false, true}) {
            auto shape = plain_attention(1, query_heads, 3, 150, head_dim);
            shape.kv_heads = kv_heads;
            auto inputs = weightless_keys(shape, first);
            auto expected = expect_attention(shape, inputs);
            spoil_weightless(shape, first, inputs, expected);
            grade_attention(exercise,
                            contract,
                            shape,
                            inputs,
                            expected,
                            ", " + weightless_text(first));
        }
}
inline void grade_subnormal(const std::string& exercise, AttentionFunction* contract) {
    constexpr double kUnit = 0x1p-136;  // of float: 2^13 steps
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        // In one head dimension several tiles of keys, in another several of rows.
        const auto shape = plain_attention(
            1, 2, head_dim == 64 ? 67 : 5, head_dim == 32 ? 299 : 37, head_dim);
        const auto graded = [&](const AttentionShape& of,
                                const AttentionInputs& inputs,
                                const AttentionExpected& expected,
                                const char* text) {
            grade_attention(exercise, contract, of, inputs, expected, text);
        };
        const auto inputs = subnormal_values(shape, kUnit);
        graded(shape,
               inputs,
               expect_subnormal(shape, inputs, kUnit, expect_attention),
               ", subnormal v");
        auto scaled = shape;
        const auto small = subnormal_scores(scaled, kUnit);
        graded(scaled, small, expect_attention(scaled, small), ", subnormal q or k");
        auto flushed = shape;
        const auto large = subnormal_scale(flushed);
        graded(flushed, large, expect_attention(flushed, large), ", subnormal scale");
        auto longer = shape;
        longer.keys = 150;
        const auto huge = huge_values(longer);
        graded(longer, huge, expect_attention(longer, huge), ", huge v, rising logits");
        if (is_watched()) continue;
        // Many keys may be another kernel's, which is the last version's.
        auto longest = plain_attention(1, 1, 2, 1031, head_dim);
        const auto last = [&](const AttentionInputs& its,
                              const AttentionExpected& expected,
                              const char* text) {
            grade_attention(last_of(implementations(exercise, contract)),
                            longest,
                            its,
                            expected,
                            text);
        };
        auto two = two_of_many(longest, 1);
        two.v = subnormal_values(longest, kUnit).v;
        last(two,
             expect_subnormal(longest, two, kUnit, expect_two_of_many),
             ", subnormal v, few keys have all the weight");
        const auto rising = huge_values(longest);
        last(rising, expect_attention(longest, rising), ", huge v, rising logits");
    }
}

/// Queries or keys that are above the smallest float with all its digits; what is left
/// of them behind the first eleven, as TF32 has them, is not. Large keys or a large
/// scale make them count.
/// @param grade  is given a shape, inputs, and what is told of them
template <class Grade>
void for_each_small_numbers(Grade grade) {
    constexpr float kSmall = 0x1p-124f;  // whose inverse, times q, is finite
    const auto inputs_of = [](const AttentionShape& shape) {
        AttentionInputs inputs = random_attention(shape, 2);
        for (float& x : inputs.q)
            x = std::clamp(x, -4.0f, 4.0f);
        return inputs;
    };
    for (const int64_t head_dim : {32, 128}) {
        auto shape = plain_attention(1, 1, 35, 2, head_dim);  // nothing evens out
        auto inputs = inputs_of(shape);
        for (float& x : inputs.q)
            x *= 0x1p-118f;
        for (float& x : inputs.k)
            x *= 0x1p118f;
        grade(shape, inputs, "small q, large k");
        inputs = inputs_of(shape);
        for (float& x : inputs.k)
            x *= kSmall;
        shape.scale /= kSmall;
        grade(shape, inputs, "small k, large scale");
    }
    // Some keys behind the first tiles, whose keys are zeros; too many rows for parts.
    auto shape = plain_attention(1, 1, 100, 67, 32);
    auto inputs = inputs_of(shape);
    for (std::size_t i = 0; i < inputs.k.size(); ++i)
        inputs.k[i] *= i < 64 * 32 ? 0.0f : kSmall;
    shape.scale *= 4.0f / kSmall;
    grade(shape, inputs, "the last keys small, large scale");
}

/// Both, for every rung of a chapter in float, or the learner's function.
inline void grade_small_numbers(const std::string& exercise,
                                AttentionFunction* contract) {
    for_each_small_numbers([&](const AttentionShape& shape,
                               const AttentionInputs& inputs,
                               const std::string& text) {
        const auto expected = expect_attention(shape, inputs);
        grade_attention(exercise, contract, shape, inputs, expected, ", " + text);
    });
}

}  // namespace wb::testing
