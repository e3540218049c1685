/// wb/testing/attention_cases.h: the covering design (covering.h) of attention. Every
/// triple of mask, head dimension and kind of logits meets, and every pair of these and
/// of batch, heads, groups, sizes, type, scale, and log-sum-exp wanted or not.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/attention.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace wb::testing {

/// Which keys a query sees.
enum class Mask {
    none,
    causal,         ///< as many queries as keys
    fewer_queries,  ///< causal: the first query sees some keys already
    more_queries,   ///< causal: the first queries see no key
};

/// What the scores are like, before the softmax. But for the first two, they are
/// those of standard normal q and k plus:
enum class Logits {
    usual,      ///< q and k standard normal, any scale
    near_zero,  ///< weights nearly equal
    high,       ///< 10^4: exp() overflows unless the maximum is subtracted
    low,        ///< -500: exp() vanishes, and a maximum of 0 is too large
    rising,     ///< half a unit more with each key: each is a new maximum
    falling,    ///< half a unit less
    unseen,     ///< two keys have 10^4 more, and most queries do not see them
    highest,    ///< 10^5: more than a half can hold; only where it is asked for
    gentle,     ///< a fortieth more with each key: a tile of 64 keys has a new maximum,
                ///< and those before it count still; ditto
    peak,       ///< a quarter of a unit less with each key from the one in the middle:
                ///< in either direction, the maximum rises for half of the keys; ditto
};

/// The levels of each factor. They are few and small: all is multiplied in a simulator.
struct AttentionLevels {
    std::vector<int64_t> batch = {1, 2};
    std::vector<int64_t> kv_heads = {1, 2, 3};
    std::vector<int64_t> groups = {1};  ///< query heads of each K/V head
    std::vector<int64_t> queries = {1, 7, 31, 32, 33, 64, 65, 128, 129};
    std::vector<int64_t> keys = {1, 7, 31, 32, 33, 63, 64, 65, 96, 128, 129};
    std::vector<int64_t> head_dims = {32, 64, 128, 256};
    std::vector<std::string> types = {"fp32"};
    std::vector<Mask> masks = {
        Mask::none, Mask::causal, Mask::fewer_queries, Mask::more_queries};
    std::vector<Logits> logits = {Logits::usual,
                                  Logits::near_zero,
                                  Logits::high,
                                  Logits::low,
                                  Logits::rising,
                                  Logits::falling,
                                  Logits::unseen};
    std::vector<float> scales = {0.0f, 0.05f, -0.3f, 1.0f};  ///< 0: 1 / sqrt(head_dim)
    /// A case has at most so many products of q and k: those that have more cost too
    /// much in the simulator. Each pair of levels must be possible with fewer.
    int64_t most_products = 540'000;
};

struct AttentionCase {
    AttentionShape shape;
    Mask mask;
    Logits logits;
    std::size_t type;  ///< of AttentionLevels::types
    bool with_lse;
    std::uint64_t seed;
    std::string text;       ///< behind the shape: ", logits near -500, seed 3"
    std::string type_name;  ///< "fp16, ", or "" where there is one type only

    /// The name of its section, and what a report shows as inputs.
    std::string name() const { return type_name + describe(shape) + text; }
};

/// The cases, the same on every machine.
std::vector<AttentionCase> attention_cases(const AttentionLevels& levels = {});

/// Problems without keys, all of whose results are zeros and minus infinity: each head
/// dimension, with a mask and without, and more rows than a block has threads. They are
/// graded with the log-sum-exp and without it.
/// @param group  query heads of each K/V head in half of them; in the others, one
/// @param grade  is given a shape, and whether the log-sum-exp is wanted
template <class Grade>
void for_each_without_keys(const std::vector<int64_t>& head_dims,
                           Grade grade,
                           int64_t group = 1) {
    for (const int64_t head_dim : head_dims)
        for (const bool causal : {false, true})
            for (const bool with_lse : {false, true}) {
                const bool is_group = causal != with_lse;
                const int64_t queries = is_group ? 67 : 131;
                auto shape = plain_attention(2, 2, queries, 0, head_dim, causal);
                if (is_group) shape.query_heads *= group;
                grade(shape, with_lse);
            }
}

/// Runs grade(c) for those with this mask, each as a section of the test case.
///
/// Where a tool watches (is_watched()), only the first thirty of all are run.
template <class Grade>
void for_each_case(const std::vector<AttentionCase>& cases, Mask mask, Grade grade) {
    constexpr std::uint64_t kWatched = 30;
    for (const AttentionCase& c : cases) {
        if (c.mask != mask || (is_watched() && c.seed > kWatched)) continue;
        DYNAMIC_SECTION(c.name()) {
            grade(c);
        }
    }
}

/// The implementations that run a case of a design: the last version all of them, those
/// below a third each, in turn. A learner's function is alone, and runs all.
/// @param number  of the case
template <class Implementations>
Implementations whose_turn(Implementations all, std::uint64_t number) {
    constexpr std::uint64_t kTurns = 3;
    Implementations some;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i + 1 == all.size() || (i + number) % kTurns == 0)
            some.push_back(std::move(all[i]));
    return some;
}

/// The last version alone, or the learner's function: for what costs much, and is the
/// same in all versions.
template <class Implementations>
Implementations last_of(Implementations all) {
    all.erase(all.begin(), all.end() - 1);
    return all;
}

/// Inputs whose scores are of this kind.
///
/// What is added to the scores stands in one column of q and k, and, but for `usual`,
/// `near_zero` and `unseen`, all but three other columns are zeros. The score of a key
/// is then the sum of four products, however large the head dimension is, and at a
/// score s its rounding error at most gamma(4 + 4) |s| (see weight_error()): 0.5 % of
/// the weight at 10^4. With D columns of noise it would be gamma(D + 4) |s|, 15 % for
/// D = 256, and the bound would hide mistakes.
///
/// @param unseen  for Logits::unseen, the keys with the large score
AttentionInputs with_logits(const AttentionShape& shape,
                            Logits logits,
                            const std::vector<int64_t>& unseen,
                            std::uint64_t seed);

/// The inputs of a case, as floats; for other types they are rounded (stored_types.h).
AttentionInputs inputs_of(const AttentionCase& c);

}  // namespace wb::testing
