// Tests v7 of Hopper attention, over lists of all lengths, in any order, right and
// wrong, on all kinds of numbers: any three edges meet.
#include "any_lists.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace sparse_grading;
using wb::testing::Combination;
using wb::testing::Covering;

namespace {

/// What the numbers are like.
enum class Numbers {
    chosen,
    usual,
    high,
    low,
    rising,
    falling,
    nan_seen,
    nan_unscaled,
    nan_unlisted
};

/// What is wrong with the lists, or unusual.
enum class Wrong { nothing, block, offsets, unused };

std::vector<Combination> all_cases() {
    using Values = std::vector<int64_t>;
    Covering design;
    design.factor("D", {64, 128})
        .factor("full", {0, 1, 2, 3, 35})
        .factor("partial", {0, 1, 2, 3, 35})
        .factor("numbers",
                {"seven keys of eight",
                 "usual",
                 "10^4",
                 "near -500",
                 "rising",
                 "falling",
                 "a NaN that is seen",
                 "a NaN that is seen, and a scale of 0",
                 "NaN where nothing is listed"})
        .factor("wrong",
                {"nothing", "a block", "offsets", "blocks that are of no list"})
        .factor("Nq", {1, 100, 129, 259})
        .factor("Nk", {5, 64, 200, 321})
        .factor("batch", {1, 2})
        .factor("K/V heads", {1, 2})
        .factor("share keys", {1, 3, 4})  // query heads
        .factor("multiprocessors", {"one", "usual"})
        .factor("threads", {"usual", "shuffled"})
        .factor("scale", {"usual", "0.05"})
        .factor("lse", {"wanted", "null"})
        .all_triples()
        // One block is not listed, so that there must be two.
        .forbid({"numbers", "Nk"},
                [](const Values& v) { return v[0] == 8 && v[1] <= 64; })
        // The reference takes long for many rows of long lists.
        .forbid({"full", "partial", "Nq"},
                [](const Values& v) { return v[0] + v[1] > 30 && v[2] == 100; })
        .forbid({"full", "partial", "D", "Nq", "batch", "K/V heads", "share keys"},
                [](const Values& v) {
                    const int64_t rows = (v[3] + kRows - 1) / kRows;
                    const int64_t steps = (v[0] + v[1] + 1) / 2 + 2 * (rows - 1);
                    return (steps + 2) * v[2] * v[4] * v[5] * v[6] > 20 * 128;
                });
    return design.cases();
}

/// Makes NaN of what sees a key, or of a row.
void spoil(const AttentionShape& shape,
           const HostCsr& listed,
           bool is_query,
           wb::testing::Random& random,
           AttentionInputs& stored,
           AttentionExpected& expected) {
    const int64_t D = shape.head_dim;
    const int64_t group = shape.query_heads / shape.kv_heads;
    const int64_t spoilt_row = random.below(shape.rows());
    const int64_t kv_head = random.below(shape.batch * shape.kv_heads);
    const auto key = static_cast<int32_t>(random.below(shape.keys));
    auto& numbers = is_query ? stored.q : stored.k;
    const int64_t first = is_query ? spoilt_row : kv_head * shape.keys + key;
    numbers[static_cast<size_t>(first * D + random.below(D))] = std::nanf("");
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const int64_t query = row % shape.queries;
        const auto begin = listed.indices.begin() + listed.offsets[size_t(query)];
        const auto end = listed.indices.begin() + listed.offsets[size_t(query) + 1];
        const bool sees = is_query ? row == spoilt_row && begin != end
                                   : row / shape.queries / group == kv_head &&
                                         std::find(begin, end, key) != end;
        if (!sees) continue;
        const auto at = static_cast<size_t>(row);
        const auto o = static_cast<int64_t>(row * D);
        std::fill_n(expected.o.begin() + o, D, std::nan(""));
        std::fill_n(expected.o_bound.begin() + o, D, 0.0);
        expected.lse[at] = std::nan("");
        expected.lse_bound[at] = 0.0;
    }
}

/// Sums of chosen_keys() are exact.
void bound_chosen(AttentionExpected& expected) {
    for (size_t i = 0; i < expected.o.size(); ++i) {
        const double in_float = float_bound(3, std::abs(expected.o[i])) + 1e-12;
        expected.o_bound[i] = stored_bound<T>(expected.o[i], in_float);
    }
}

void grade_case(const Combination& c, uint64_t seed) {
    wb::testing::Random random(seed);
    const auto kind = static_cast<Numbers>(c["numbers"]);
    const auto wrong = static_cast<Wrong>(c["wrong"]);
    const int64_t D = c["D"];
    auto shape = plain_attention(
        c["batch"], c["K/V heads"] * c["share keys"], c["Nq"], c["Nk"], D);
    shape.kv_heads = c["K/V heads"];
    if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
    if (kind == Numbers::nan_unscaled) shape.scale = 0.0f;
    const bool has_unlisted = kind == Numbers::nan_unlisted;
    const int64_t unlisted =
        has_unlisted ? random.below((shape.keys + 63) / BlockPattern::kKeys) : -1;
    HostBlocks blocks = random_lists(
        shape.queries, shape.keys, c["full"], c["partial"], unlisted, random);
    const auto number = static_cast<int64_t>(seed);
    const bool is_partial = random.below(2) == 0;
    if (wrong == Wrong::block)
        insert_block(blocks, is_partial, wrong_block(blocks, number), random);
    if (wrong == Wrong::offsets) break_offsets(blocks, is_partial, number, random);
    if (wrong == Wrong::unused) add_unused(blocks, random);

    const Logits logits[] = {
        Logits::usual, Logits::high, Logits::low, Logits::rising, Logits::falling};
    AttentionInputs inputs;
    if (kind == Numbers::chosen)
        inputs = chosen_keys(shape, seed);
    else if (kind <= Numbers::falling)
        inputs = with_logits(shape, logits[c["numbers"] - 1], {}, seed);
    else
        inputs = random_attention(shape, seed);
    auto stored = as_stored<T>(inputs);
    const HostCsr listed = keys_of(blocks);
    auto expected = expect_listed(shape, listed, stored);
    if (kind == Numbers::chosen) bound_chosen(expected);
    if (kind == Numbers::nan_seen || kind == Numbers::nan_unscaled)
        spoil(shape, listed, seed % 3 == 0, random, stored, expected);
    for (size_t i = 0; has_unlisted && i < stored.k.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i) / D % shape.keys;
        if (key / BlockPattern::kKeys == unlisted)
            stored.k[i] = stored.v[i] = std::nanf("");
    }

    std::optional<FewMultiprocessors> few;
    if (c["multiprocessors"] == 0) few.emplace(1);
    const ThreadOrder order(c["threads"] == 0 ? 0 : static_cast<unsigned>(seed));
    grade_stored(
        shape, blocks, stored, expected, c.text(), faults_of(blocks), c["lse"] == 0);
}

/// The cases whose lists have this wrong, each as a section.
void grade_all(Wrong wrong) {
    static const auto all = all_cases();
    constexpr size_t kWatched = 24;
    for (size_t i = 0; i < all.size(); ++i) {
        if (wb::testing::is_watched() && i >= kWatched) break;
        if (static_cast<Wrong>(all[i]["wrong"]) != wrong) continue;
        DYNAMIC_SECTION(all[i].text()) {
            grade_case(all[i], i + 1);
        }
    }
}

}  // namespace

TEST_CASE("blocks: any three edges meet: lists are right") {
    NEEDS_BLOCKS();
    grade_all(Wrong::nothing);
}

TEST_CASE("blocks: any three edges meet: a block does not exist") {
    NEEDS_BLOCKS();
    grade_all(Wrong::block);
}

TEST_CASE("blocks: any three edges meet: offsets are wrong") {
    NEEDS_BLOCKS();
    grade_all(Wrong::offsets);
}

TEST_CASE("blocks: any three edges meet: some blocks are of no list") {
    NEEDS_BLOCKS();
    grade_all(Wrong::unused);
}
