#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/catch.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace {

using wb::testing::AttentionCase;
using wb::testing::Logits;
using wb::testing::Mask;

/// Scores of the row of a shape, as the reference computes them.
std::vector<double> scores(const wb::AttentionShape& shape,
                           Logits logits,
                           const std::vector<int64_t>& unseen = {}) {
    const auto inputs = wb::testing::with_logits(shape, logits, unseen, 5);
    const auto row = wb::reference::attention_row(shape, inputs.q, inputs.k, 0);
    CHECK((logits == Logits::unseen || row.terms.front() <= 4));
    return row.scores;
}

}  // namespace

TEST_CASE("attention cases: every triple of mask, head dimension and logits meets") {
    const auto cases = wb::testing::attention_cases();
    std::set<std::tuple<Mask, int64_t, Logits>> met;
    for (const AttentionCase& c : cases)
        met.insert({c.mask, c.shape.head_dim, c.logits});
    // 4 masks, 4 head dimensions, 7 kinds; without a mask no key is unseen.
    CHECK(met.size() == 4 * 4 * 7 - 4);
    CHECK(cases.size() <= 128);  // each costs every chapter of day 6 its time
}

TEST_CASE("attention cases: sizes are those that the mask is named for") {
    std::set<std::pair<int64_t, int64_t>> sizes;
    std::set<std::string> names;
    for (const AttentionCase& c : wb::testing::attention_cases()) {
        CAPTURE(c.name());
        CHECK(c.shape.causal == (c.mask != Mask::none));
        if (c.mask == Mask::causal) CHECK(c.shape.queries == c.shape.keys);
        if (c.mask == Mask::fewer_queries) CHECK(c.shape.queries < c.shape.keys);
        if (c.mask == Mask::more_queries) CHECK(c.shape.queries > c.shape.keys);
        sizes.insert({c.shape.queries, c.shape.keys});
        CHECK(names.insert(c.name()).second);
    }
    const wb::testing::AttentionLevels levels;
    CHECK(sizes.size() == levels.queries.size() * levels.keys.size());
}

TEST_CASE("attention cases: head dimensions meet batches and groups of heads") {
    wb::testing::AttentionLevels levels;
    levels.groups = {1, 2, 5};
    levels.types = {"fp16", "bf16"};
    std::set<std::tuple<int64_t, int64_t, std::size_t>> met;
    for (const AttentionCase& c : wb::testing::attention_cases(levels)) {
        const int64_t group = c.shape.query_heads / c.shape.kv_heads;
        met.insert({c.shape.head_dim, 0, group});
        met.insert({c.shape.head_dim, 1, c.shape.kv_heads});
        met.insert({c.shape.head_dim, 2, c.shape.batch});
        met.insert({c.shape.head_dim, 3, c.type});
    }
    CHECK(met.size() == 4 * (3 + 3 + 2 + 2));
}

TEST_CASE("attention cases: scores are of the kind that they are named for") {
    for (const float scale : {0.125f, 0.05f, -0.3f}) {
        for (const int64_t dim : {32, 256}) {
            auto shape = wb::testing::plain_attention(1, 1, 1, 100, dim);
            shape.scale = scale;
            for (const double score : scores(shape, Logits::high))
                CHECK(std::abs(score - 1e4) < 20.0);
            for (const double score : scores(shape, Logits::low))
                CHECK(std::abs(score + 500.0) < 20.0);
            const auto rising = scores(shape, Logits::rising);
            CHECK(rising.back() - rising.front() > 30.0);
            const auto falling = scores(shape, Logits::falling);
            CHECK(falling.front() - falling.back() > 30.0);
            const auto peaks = scores(shape, Logits::unseen, {7, 99});
            std::vector<std::size_t> huge;
            for (std::size_t j = 0; j < peaks.size(); ++j) {
                if (peaks[j] > 9000.0) huge.push_back(j);
            }
            CHECK(huge == std::vector<std::size_t>{7, 99});
        }
    }
}

TEST_CASE("attention triples: any two factors meet many keys, and many queries") {
    using wb::testing::Contents;
    std::set<std::pair<int64_t, Contents>> of_keys;
    std::set<std::pair<int64_t, int64_t>> of_queries;
    std::set<int64_t> lengths;
    std::set<std::string> names;
    const auto cases = wb::testing::triple_cases();
    for (const auto& c : cases) {
        CAPTURE(c.name());
        CHECK(names.insert(c.name()).second);
        if (c.shape.keys > 200) {
            lengths.insert(c.shape.keys);
            of_keys.insert({c.shape.head_dim, c.contents});
        }
        if (c.shape.queries > 200)
            of_queries.insert({c.shape.head_dim, c.shape.kv_heads});
    }
    // Four lengths of rows, seven kinds of numbers; one to three heads, or more.
    CHECK(of_keys.size() == 4 * 7);
    CHECK(of_queries.size() >= 4 * 3);
    CHECK(lengths == std::set<int64_t>{512, 1031, 2101});
    CHECK(cases.size() <= 205);  // each costs every chapter its time
}
