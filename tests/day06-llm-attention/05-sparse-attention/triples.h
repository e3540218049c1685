// triples.h: sparse attention by a covering design of strength three. Whatever three
// factors a mistake needs, some case has them; what would take a simulator too long
// is left out.
#pragma once

#include <wb/testing/attention_cases.h>
#include <wb/testing/covering.h>

#include <limits>

#include "edges.h"
#include "faults.h"

namespace triples {

using wb::testing::Combination;
using wb::testing::Logits;

/// What the numbers are like, or what is wrong with the pattern.
enum class Contents {
    chosen,
    usual,
    high,
    low,
    rising,
    falling,
    not_finite,
    wrong_index,
    wrong_offsets
};

constexpr int64_t kMany = 1031;  // keys

inline std::vector<Combination> cases() {
    wb::testing::Covering design;
    design
        .factor("pattern",
                {"dense", "causal", "window 9 and 4 sinks", "random 13", "shuffled"})
        .factor("D", {32, 64, 128})
        .factor("contents",
                {"seven keys of eight",
                 "usual",
                 "10^4 or 10^5",
                 "near -500",
                 "rising",
                 "falling",
                 "NaN",
                 "a wrong index",
                 "wrong offsets"})
        .factor("Nq", {1, 33, 128, 261})
        .factor("Nk", {7, 64, 97, kMany})
        .factor("batch", {1, 2})
        .factor("heads", {1, 2, 3})
        .factor("by", {"rows", "blocks"})
        .factor("scale", {"usual", "negative"})
        .factor("lse", {"wanted", "null"})
        .all_triples()
        .forbid({"pattern", "Nq", "Nk", "D", "batch", "heads"},
                [](const std::vector<std::int64_t>& v) {
                    const bool is_short = v[0] == 2 || v[0] == 3;
                    const int64_t listed = is_short ? 13 : v[2];
                    return v[1] * listed * v[3] * v[4] * v[5] > 800'000;
                });
    return design.cases();
}

/// The pattern of a case. "shuffled" has rows of no key, of keys in any order, and, if
/// it is a list of keys, of keys that come twice.
inline HostCsr pattern_of(const Combination& c, uint64_t number) {
    const int64_t queries = c["Nq"];
    const int64_t keys = c["Nk"];
    if (c["pattern"] < 4) return edges::pattern_of(c["pattern"], queries, keys);
    wb::testing::Random random(number);
    const bool may_repeat = c["by"] == 0;
    std::vector<std::vector<int32_t>> rows;
    for (int64_t row = 0; row < queries; ++row) {
        rows.emplace_back();
        if (row % 4 == 2) continue;
        for (int64_t key = 0; key < keys; ++key) {
            if (random.below(8) == 0) continue;
            rows.back().push_back(static_cast<int32_t>(key));
            if (may_repeat && random.below(5) == 0)
                rows.back().push_back(rows.back()[0]);
        }
    }
    return may_repeat ? shuffled(rows_of(keys, rows), number) : rows_of(keys, rows);
}

inline AttentionInputs inputs_of(const Combination& c,
                                 const AttentionShape& shape,
                                 uint64_t number) {
    const auto contents = static_cast<Contents>(c["contents"]);
    if (contents == Contents::chosen) return wb::testing::chosen_keys(shape, number);
    const Logits high = number % 2 == 0 ? Logits::high : Logits::highest;
    const Logits logits[] = {
        Logits::usual, high, Logits::low, Logits::rising, Logits::falling};
    if (contents <= Contents::falling)
        return with_logits(shape, logits[c["contents"] - 1], {}, number);
    return random_attention(shape, number);
}

/// A NaN in a query, in a key, or in a value, in one head. By blocks, values must be
/// finite wherever a block is listed.
inline void spoil(const Combination& c,
                  const AttentionShape& shape,
                  const HostCsr& pattern,
                  AttentionInputs& inputs,
                  AttentionExpected& expected,
                  uint64_t number) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    const auto turn = static_cast<int64_t>(number);
    const int64_t D = shape.head_dim;
    const int64_t head = turn / 3 % (shape.batch * shape.query_heads);
    const int64_t query = turn / 6 % shape.queries;
    const int64_t keys[] = {shape.keys - 1, 0, shape.keys / 2};
    const int64_t key = keys[turn / 9 % 3];
    enum { of_query, of_key, of_value } what = of_query;
    if (turn % 3 == 1 || (turn % 3 == 2 && c["by"] == 1)) what = of_key;
    if (turn % 3 == 2 && c["by"] == 0) what = of_value;
    const auto at = static_cast<size_t>((head * shape.keys + key) * D);
    if (what == of_query)
        inputs.q[static_cast<size_t>((head * shape.queries + query) * D + 11)] = kNaN;
    if (what == of_key) inputs.k[at + 5] = kNaN;
    if (what == of_value) inputs.v[at + 3] = kNaN;
    const auto make_nan = [](auto& values, auto& bounds, size_t place) {
        values[place] = std::numeric_limits<double>::quiet_NaN();
        bounds[place] = 0.0;
    };
    for (int64_t row = 0; row < shape.queries; ++row) {
        const auto begin = pattern.indices.begin() + pattern.offsets[size_t(row)];
        const auto end = pattern.indices.begin() + pattern.offsets[size_t(row) + 1];
        if (begin == end || (what == of_query && row != query)) continue;
        if (what != of_query && std::find(begin, end, int32_t(key)) == end) continue;
        const auto result = static_cast<size_t>(head * shape.queries + row);
        for (int64_t d = 0; d < D; ++d)
            if (what != of_value || d == 3)
                make_nan(expected.o, expected.o_bound, result * size_t(D) + size_t(d));
        if (what != of_value) make_nan(expected.lse, expected.lse_bound, result);
    }
}

/// Makes a list wrong: an index that is none in front of those of one row, or the last
/// offset. Gives what status must hold.
/// @param indices  of keys, or of blocks
/// @param count    of these that there are
inline PatternStatus break_list(std::vector<int64_t>& offsets,
                                std::vector<int32_t>& indices,
                                int64_t count,
                                bool is_of_offsets,
                                uint64_t number) {
    const auto rows = static_cast<int64_t>(offsets.size()) - 1;
    if (is_of_offsets) {
        offsets.back() += 1 + static_cast<int64_t>(number % 3);
        return {static_cast<int32_t>(PatternFault::offsets),
                static_cast<int32_t>(rows - 1),
                offsets[size_t(rows) - 1],
                offsets.back()};
    }
    // Row 2 of shuffled patterns is empty.
    const int64_t row =
        rows > 2 && number % 4 < 2 ? 2 : static_cast<int64_t>(number) % rows;
    const int64_t length = offsets[size_t(row) + 1] - offsets[size_t(row)];
    const int64_t place =
        offsets[size_t(row)] + static_cast<int64_t>(number / 2) % (length + 1);
    const auto wrong = static_cast<int32_t>(number % 2 == 0 ? count : -1);
    indices.insert(indices.begin() + place, wrong);
    for (auto next = size_t(row) + 1; next < offsets.size(); ++next)
        ++offsets[next];
    return {static_cast<int32_t>(PatternFault::index),
            static_cast<int32_t>(row),
            place,
            wrong};
}

/// A case in one of the two forms.
struct Problem {
    const Combination& c;
    uint64_t number;
    AttentionShape shape;
    HostCsr pattern;

    Contents contents() const { return static_cast<Contents>(c["contents"]); }
    bool is_of_offsets() const { return contents() == Contents::wrong_offsets; }
    bool is_wrong() const {
        return is_of_offsets() || contents() == Contents::wrong_index;
    }

    /// The last version, or the learner's function.
    /// @param first  it and all rows behind it are empty where the last offset is wrong
    template <class Pattern, class Host>
    void grade(const std::string& exercise,
               wb::testing::SparseAttentionFunction<Pattern>* contract,
               const Host& given,
               int64_t first,
               const PatternStatus& fault) const {
        AttentionInputs inputs = inputs_of(c, shape, number);
        const HostCsr listed = is_of_offsets()
                                   ? faults::without_rows(pattern, first, shape.queries)
                                   : pattern;
        AttentionExpected expected = expect_sparse(shape, listed, inputs);
        for (size_t i = 0; contents() == Contents::chosen && i < expected.o.size(); ++i)
            expected.o_bound[i] =
                wb::testing::float_bound(3, std::abs(expected.o[i])) + 1e-12;
        if (contents() == Contents::not_finite)
            spoil(c, shape, pattern, inputs, expected, number);
        wb::testing::grade_sparse<Pattern>(
            wb::testing::last_of(wb::implementations(exercise, contract)),
            shape,
            given,
            inputs,
            expected,
            c.text(),
            fault,
            c["lse"] == 0);
    }
};

inline void grade_by_rows(const Problem& p) {
    HostCsr given = p.pattern;
    PatternStatus fault;
    if (p.is_wrong())
        fault = break_list(
            given.offsets, given.indices, p.shape.keys, p.is_of_offsets(), p.number);
    p.grade("sparse_attention", sparse_attention, given, p.shape.queries - 1, fault);
}

inline void grade_by_blocks(const Problem& p) {
    constexpr int64_t kRows = wb::BlockPattern::kRows;
    HostBlocks given = to_blocks(p.pattern);
    const bool is_partial = !given.partial.blocks.empty();
    auto& list = is_partial ? given.partial : given.full;
    PatternStatus fault;
    if (p.is_of_offsets()) {
        // Of the last rows nothing is in the other list, so that they are empty.
        auto& other = is_partial ? given.full : given.partial;
        const int64_t before = other.offsets[other.offsets.size() - 2];
        other.blocks.resize(size_t(before));
        other.offsets.back() = before;
    }
    if (p.is_wrong())
        fault = break_list(list.offsets,
                           list.blocks,
                           wb::BlockPattern::key_blocks(static_cast<int>(p.shape.keys)),
                           p.is_of_offsets(),
                           p.number);
    if (is_partial && p.contents() == Contents::wrong_index)
        given.masks.insert(
            given.masks.begin() + fault.place * kRows, size_t{kRows}, ~uint64_t{0});
    const int64_t first = (p.shape.queries - 1) / kRows * kRows;
    p.grade("block_sparse_attention", block_sparse_attention, given, first, fault);
}

/// Those by rows or by blocks, each as a section: the last version, or the learner's
/// function.
inline void grade_all(bool by_blocks) {
    static const auto all = cases();
    for (uint64_t i = 0; i < all.size(); ++i) {
        if ((all[i]["by"] == 1) != by_blocks) continue;
        DYNAMIC_SECTION(all[i].text()) {
            const HostCsr pattern = pattern_of(all[i], i + 1);
            auto shape =
                shape_of(pattern, all[i]["D"], all[i]["batch"], all[i]["heads"]);
            shape.scale = wb::testing::odd_scale(shape.head_dim) *
                          (all[i]["scale"] == 1 ? -0.75f : 1.0f);
            const Problem problem{all[i], i + 1, shape, pattern};
            by_blocks ? grade_by_blocks(problem) : grade_by_rows(problem);
        }
    }
}

}  // namespace triples
