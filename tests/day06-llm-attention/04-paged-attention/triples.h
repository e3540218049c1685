// triples.h: paged_attention by a covering design of strength three. Whatever three
// factors a mistake needs, some case has them; what would take a simulator too long
// is left out.
#pragma once

#include <wb/testing/attention_scores.h>
#include <wb/testing/covering.h>

#include "edges.h"
#include "paged_grading.h"

namespace paged_grading {

/// What a cache holds: exact sums, Logits, NaN and infinity, or what is not there.
enum class Contents {
    chosen,
    usual,
    high,
    low,
    rising,
    falling,
    not_finite,
    empty,  ///< the last sequence: alone, or behind one that may be long
    missing_page,
    wrong_length
};

inline std::vector<wb::testing::Combination> triples() {
    constexpr int64_t kMany = 3;  // of "ends"
    wb::testing::Covering design;
    design.factor("page", {16, 32, 64, 128, 256})
        .factor("D", {64, 128})
        .factor("contents",
                {"chosen keys",
                 "usual",
                 "10^4 or 10^5",
                 "near -500",
                 "rising",
                 "falling",
                 "NaN",
                 "an empty sequence",
                 "a missing page",
                 "a wrong length"})
        .factor("Hkv", {1, 2, 3})
        .factor("group", {1, 2, 3, 5})
        .factor("ends", {"before the end of a page", "at it", "behind it", "far"})
        .factor("scale", {"usual", "negative"})
        .factor("lse", {"wanted", "null"})
        .factor("pages", {"in order", "shuffled"})
        .factor("spare", {1, 0, 3})
        .factor("sequences", {1, 3})
        .all_triples()
        .forbid({"page", "D", "Hkv", "group", "ends"},
                [](const std::vector<int64_t>& v) {
                    const int64_t keys = v[4] == kMany ? 1031 : 2 * v[0];
                    return keys * v[1] * v[2] * v[3] > 700'000;
                });
    return design.cases();
}

/// The sequences of a case. The last one is as long as it says; where there are three,
/// the first is, too, unless it is far.
inline PagedShape shape_of(const wb::testing::Combination& c, size_t number) {
    const int64_t page = c["page"];
    // Far: at the end of a page, one behind it, or in the middle; of pages of 16 as
    // many as 257, where that does not cost too much.
    constexpr int64_t kMany[] = {1024, 1025, 1031};
    const bool is_cheap = c["Hkv"] * c["group"] * c["D"] <= 256;
    const int64_t many = page == 16 && is_cheap ? 4097 : kMany[number % 3];
    const int64_t ends[] = {page - 1, page, page + 1, many};
    const int64_t last[] = {2 * page - 1, 2 * page, 2 * page + 3, many};
    const auto which = c["ends"];
    PagedShape shape{{last[which]}, page};
    if (c["sequences"] == 3)
        shape.lengths = {
            which == 3 ? 17 : ends[which], number % 2 == 0 ? 0 : 5, last[which]};
    if (static_cast<Contents>(c["contents"]) == Contents::empty) {
        if (c["sequences"] == 3) shape.lengths[1] = shape.lengths.back();
        shape.lengths.back() = 0;
    }
    shape.kv_heads = c["Hkv"];
    shape.query_heads = c["Hkv"] * c["group"];
    shape.head_dim = c["D"];
    shape.spare_entries = c["spare"];
    shape.scale = wb::testing::odd_scale(c["D"]) * (c["scale"] == 1 ? -0.75f : 1.0f);
    return shape;
}

/// A NaN in a query of the first sequence; and in the last one, in a key, or in a value
/// with an infinity in another column. Which head and which key is another each time.
inline void spoil(PagedInputs& inputs, AttentionExpected& expected, size_t number) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const int64_t D = inputs.shape.head_dim;
    const int64_t heads = inputs.shape.query_heads;
    const int64_t group = heads / inputs.shape.kv_heads;
    const int64_t last = inputs.batch() - 1;
    const auto at = static_cast<size_t>(last);
    const int64_t length = inputs.lengths[at];
    const auto turn = static_cast<int64_t>(number);
    const auto column = [&](int64_t d) { return turn / 8 % 2 == 0 ? d : D - 1 - d; };
    const double infinity = turn / 16 % 2 == 0 ? kInfinity : -kInfinity;
    const auto set = [](auto& numbers, int64_t index, double value) {
        numbers[static_cast<size_t>(index)] = __double2bfloat16(value);
    };
    const auto expect_at = [&](int64_t row, int64_t d, double value) {
        const auto index = static_cast<size_t>(row * D + d);
        expected.o[index] = value;
        expected.o_bound[index] = 0.0;
    };
    const auto expect_nan = [&](int64_t row) {
        for (int64_t d = 0; d < D; ++d)
            expect_at(row, d, kNaN);
        expected.lse[static_cast<size_t>(row)] = kNaN;
        expected.lse_bound[static_cast<size_t>(row)] = 0.0;
    };
    const int64_t kv_head = turn / 4 % inputs.shape.kv_heads;
    const int64_t key = turn / 2 % 2 == 0 ? length - 1 : length / 2;
    const int64_t first = (kv_head * length + key) * D;
    const bool is_of_key = turn % 2 == 0;
    if (is_of_key) {
        set(inputs.k[at], first + column(5), kNaN);
    } else {
        set(inputs.v[at], first + column(3), kNaN);
        set(inputs.v[at], first + column(22), infinity);
    }
    for (int64_t i = 0; i < group; ++i) {
        const int64_t row = last * heads + kv_head * group + i;
        if (is_of_key) {
            expect_nan(row);
        } else {
            expect_at(row, column(3), kNaN);
            expect_at(row, column(22), infinity);
        }
    }
    if (last > 0) {  // its first sequence has keys
        set(inputs.q, turn % heads * D + column(11), kNaN);
        expect_nan(turn % heads);
    }
    fill_pages(inputs, last);
}

/// The numbers of a case.
inline PagedInputs inputs_of(const wb::testing::Combination& c, size_t number) {
    using wb::testing::Logits;
    const PagedShape shape = shape_of(c, number);
    const auto order = static_cast<uint64_t>(c["pages"]) * 7;
    const auto contents = static_cast<Contents>(c["contents"]);
    if (contents == Contents::chosen) {
        PagedInputs inputs = random_paged(shape, number, order);
        for (int64_t s = 0; s < inputs.batch(); ++s)
            if (inputs.lengths[static_cast<size_t>(s)] > 0)
                set_sequence(
                    inputs, s, wb::testing::chosen_keys(problem_of(inputs, s), number));
        return inputs;
    }
    const Logits high = number % 2 == 0 ? Logits::high : Logits::highest;
    const Logits logits[] = {
        Logits::usual, high, Logits::low, Logits::rising, Logits::falling};
    if (contents <= Contents::falling)
        return paged_with_logits(shape, logits[c["contents"] - 1], number, order);
    return random_paged(shape, number, order);
}

/// Each case as a section: the last version, or the learner's function.
/// @param is_wrong  those whose last sequence is not as it should be; or all others
inline void grade_triples(bool is_wrong) {
    static const auto all = triples();
    for (size_t i = 0; i < all.size(); ++i) {
        const wb::testing::Combination& c = all[i];
        const auto contents = static_cast<Contents>(c["contents"]);
        if ((contents >= Contents::missing_page) != is_wrong) continue;
        DYNAMIC_SECTION(c.text()) {
            PagedInputs inputs = inputs_of(c, i + 1);
            AttentionExpected expected = expect_paged(inputs);
            if (contents == Contents::chosen) expect_exactly(expected);
            if (contents == Contents::not_finite) spoil(inputs, expected, i);
            const int64_t last = inputs.batch() - 1;
            const std::string sequence = "sequence " + std::to_string(last);
            std::string report;
            if (contents == Contents::missing_page) {
                const int64_t entry = static_cast<int64_t>(i) % inputs.pages_of(last);
                const int32_t bad = no_page(inputs, i);
                inputs.table[static_cast<size_t>(last * inputs.pages_per_sequence +
                                                 entry)] = bad;
                report = sequence + ": entry " + std::to_string(entry) +
                         " of its block table is " + std::to_string(bad);
            }
            if (contents == Contents::wrong_length) {
                const int64_t room = inputs.pages_per_sequence * inputs.shape.page_size;
                constexpr auto kMost = std::numeric_limits<int32_t>::max();
                const int32_t all_bad[] = {
                    static_cast<int32_t>(room + 1), -1, kMost, -7};
                const int32_t bad = all_bad[i % std::size(all_bad)];
                inputs.lengths[static_cast<size_t>(last)] = bad;
                report = sequence + ": its length is " + std::to_string(bad);
            }
            for (const auto& [name, idea, function] :
                 wb::testing::last_of(attentions())) {
                const bool with_lse = c["lse"] == 0;
                if (!is_wrong) {
                    attend(name, function, inputs, &expected, c.text(), with_lse);
                    continue;
                }
                const Result result =
                    attend(name, function, inputs, nullptr, c.text(), with_lse, report);
                const bool is_empty = contents == Contents::wrong_length;
                expect_others(name, result, expected, last, is_empty);
            }
        }
    }
}

}  // namespace paged_grading
