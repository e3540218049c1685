// edges.h: covering designs of paged_attention and of append_kv.
#pragma once

#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/covering.h>

#include <algorithm>

#include "paged_grading.h"

namespace paged_grading {

/// Random numbers in pages, whose scores are of this kind.
inline PagedInputs paged_with_logits(const PagedShape& shape,
                                     wb::testing::Logits logits,
                                     uint64_t seed,
                                     uint64_t order) {
    PagedInputs inputs = random_paged(shape, seed, order);
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        auto made = wb::testing::with_logits(
            problem_of(inputs, s), logits, {}, seed + static_cast<uint64_t>(s));
        made.v.clear();
        set_sequence(inputs, s, made);
    }
    return inputs;
}

/// Every pair of page, head dimension, logits, heads, groups, where sequences end,
/// scale, log-sum-exp, the order of pages, and spare entries: for every version. The
/// last one has triples.h, too.
inline std::vector<wb::testing::Combination> attention_edges() {
    wb::testing::Covering design;
    design.factor("page", {16, 32, 64, 128, 256})
        .factor("D", {64, 128})
        .factor("logits",
                {"usual", "near 0", "near 10^4", "near -500", "rising", "falling"})
        .factor("Hkv", {1, 2, 9})
        .factor("group", {1, 2, 3, 6, 8})
        .factor("ends", {"before the end of a page", "at it", "behind it"})
        .factor("scale", {"usual", "0.05", "-0.3"})
        .factor("lse", {"wanted", "null"})
        .factor("pages", {"in order", "shuffled"})
        .factor("spare", {1, 0, 3})  // entries of the table
        // Else it takes the simulator too long.
        .forbid({"page", "D", "Hkv", "group"}, [](const std::vector<int64_t>& v) {
            return v[0] * v[1] * v[2] * v[3] > 150'000;
        });
    return design.cases();
}

/// Each as a section; the first of them where a tool watches, as in for_each_case().
inline void grade_attention_edges() {
    constexpr size_t kWatched = 12;
    static const auto all = attention_edges();
    for (size_t i = 0; i < all.size(); ++i) {
        if (wb::testing::is_watched() && i >= kWatched) break;
        const wb::testing::Combination& c = all[i];
        DYNAMIC_SECTION(c.text()) {
            const int64_t page = c["page"];
            const std::vector<int64_t> ends[] = {
                {page - 1, 1, page + 5}, {page, 0, 2 * page}, {page + 1, 2 * page + 3}};
            PagedShape shape{ends[c["ends"]], page};
            shape.kv_heads = c["Hkv"];
            shape.query_heads = c["Hkv"] * c["group"];
            shape.head_dim = c["D"];
            shape.spare_entries = c["spare"];
            if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
            const PagedInputs inputs =
                paged_with_logits(shape,
                                  static_cast<wb::testing::Logits>(c["logits"]),
                                  i + 1,
                                  static_cast<uint64_t>(c["pages"]) * 7);
            const AttentionExpected expected = expect_paged(inputs);
            for (const auto& [name, idea, function] :
                 wb::testing::whose_turn(attentions(), i))
                attend(name, function, inputs, &expected, c.text(), c["lse"] == 0);
        }
    }
}

/// The same tokens in another order.
/// @param numbers  of one token: kv_heads * head_dim
inline Append in_order(const Append& append,
                       const std::vector<size_t>& order,
                       int64_t numbers) {
    Append result;
    for (const size_t token : order) {
        result.sequences.push_back(append.sequences[token]);
        result.positions.push_back(append.positions[token]);
        const auto from = static_cast<std::ptrdiff_t>(token) * numbers;
        result.k.insert(
            result.k.end(), append.k.begin() + from, append.k.begin() + from + numbers);
        result.v.insert(
            result.v.end(), append.v.begin() + from, append.v.begin() + from + numbers);
    }
    return result;
}

/// A token that has no place, at one among the others. Gives what must be reported.
/// @param what   1: no such sequence, 2: no such position, 3: a page that is not there
/// @param place  of it, in the list
/// @param page   what stands in the table for that page
inline std::string add_wrong_token(
    Append& append, PagedInputs& inputs, int64_t what, int64_t place, int32_t page) {
    const int64_t sequence = inputs.batch() - (what == 1 ? 0 : 1);
    const bool has_entry = inputs.shape.spare_entries > 0;
    int64_t entry = inputs.pages_per_sequence;
    if (what == 3 && has_entry) entry = inputs.pages_of(sequence);
    int64_t position = what == 1 ? 0 : entry * inputs.shape.page_size;
    if (what == 2 && place > 0) position = std::numeric_limits<int32_t>::max();
    const int64_t numbers = inputs.shape.kv_heads * inputs.shape.head_dim;
    const auto add = [&](int64_t at) {
        append.sequences.insert(append.sequences.begin() + place, int32_t(sequence));
        append.positions.insert(append.positions.begin() + place, int32_t(at));
        for (auto* values : {&append.k, &append.v})
            values->insert(values->begin() + place * numbers,
                           static_cast<size_t>(numbers),
                           __float2bfloat16(1.0f));
    };
    if (what == 3 && has_entry) add(position + 1);  // two tokens, and the same report
    add(position);
    const std::string of_sequence = "sequence " + std::to_string(sequence);
    const std::string token = "token " + std::to_string(place);
    if (what == 1) return token + " is for " + of_sequence;
    if (what == 3 && has_entry) {
        const int64_t row = sequence * inputs.pages_per_sequence;
        inputs.table[static_cast<size_t>(row + entry)] = page;
        return of_sequence + ": entry " + std::to_string(entry) +
               " of its block table is " + std::to_string(page);
    }
    return of_sequence + ": " + token + " is for position " + std::to_string(position);
}

/// Among the numbers of k and v some of each kind: infinity, NaN, -0, subnormal ones
/// and the largest. They are copied, as all others are.
inline void set_special_numbers(PagedInputs& inputs, size_t turn) {
    constexpr unsigned short kBits[] = {
        0x7F80, 0xFF80, 0x7FFF, 0x8000, 0x0001, 0x807F, 0x7F7F, 0xFF7F};
    for (size_t s = 0; s < inputs.lengths.size(); ++s)
        for (auto* numbers : {&inputs.k[s], &inputs.v[s]})
            for (size_t i = turn % 7; i < numbers->size(); i += 11) {
                __nv_bfloat16_raw raw;
                raw.x = kBits[i / 11 % std::size(kBits)];
                (*numbers)[i] = __nv_bfloat16(raw);
            }
    for (int64_t s = 0; s < inputs.batch(); ++s)
        fill_pages(inputs, s);
}

/// Triples of page, head dimension, K/V heads, sequences, the order of tokens, spare
/// entries of the table, lengths that count the new tokens or do not, and a token that
/// has no place.
inline void grade_append_edges() {
    static const auto all =
        wb::testing::Covering()
            .factor("page", {16, 32, 64, 128, 256})
            .factor("D", {64, 128})
            .factor("Hkv", {1, 2, 9})
            .factor("sequences", {1, 3})
            .factor("tokens", {"rising", "descending", "shuffled"})
            .factor("spare", {1, 0, 3})
            .factor("lengths", {"with them", "without them"})
            .factor("wrong", {"none", "a sequence", "a position", "a page"})
            .all_triples()
            // Else it takes the simulator too long.
            .forbid({"page", "D", "Hkv", "sequences"},
                    [](const std::vector<int64_t>& v) {
                        return v[0] * v[1] * v[2] * v[3] > 150'000;
                    })
            .cases();
    for (size_t i = 0; i < all.size(); ++i) {
        const wb::testing::Combination& c = all[i];
        DYNAMIC_SECTION(c.text()) {
            const int64_t page = c["page"];
            PagedShape shape{{page + 1}, page};
            if (c["sequences"] == 3) shape.lengths = {page + 1, 2 * page + 1, page - 3};
            shape.kv_heads = c["Hkv"];
            shape.head_dim = c["D"];
            shape.spare_entries = c["spare"];
            PagedInputs inputs = random_paged(shape, i + 1, 7);
            set_special_numbers(inputs, i);
            std::vector<NewTokens> prompts;
            for (int64_t s = 0; s < inputs.batch(); ++s)
                prompts.push_back({s, 0, inputs.lengths[static_cast<size_t>(s)]});
            const Append append = tokens_of(inputs, prompts);
            std::vector<size_t> order(static_cast<size_t>(append.tokens()));
            for (size_t t = 0; t < order.size(); ++t)
                order[t] = t;
            if (c["tokens"] == 1) std::reverse(order.begin(), order.end());
            wb::testing::Random random(i);
            for (size_t t = order.size(); c["tokens"] == 2 && t > 1; --t)
                std::swap(order[t - 1],
                          order[static_cast<size_t>(random.below(int64_t(t)))]);
            const int64_t numbers = shape.kv_heads * shape.head_dim;
            Append given = in_order(append, order, numbers);
            const int64_t places[] = {0, given.tokens() / 2, given.tokens()};
            std::string report;
            if (c["wrong"] != 0)
                report = add_wrong_token(
                    given, inputs, c["wrong"], places[i % 3], no_page(inputs, i / 3));
            if (c["lengths"] == 1)
                std::fill(begin(inputs.lengths), end(inputs.lengths), 0);
            grade_append(inputs, given, c.text(), report);
        }
    }
}

/// One token at position 2^24 + 1, which is no float, in the only page of a sequence
/// that has one there.
inline void grade_far_token() {
    constexpr int64_t kPage = 256;
    constexpr int64_t kPosition = (int64_t{1} << 24) + 1;
    PagedShape shape{{1}, kPage};
    PagedInputs inputs = random_paged(shape, 1, 0);
    Append append = tokens_of(inputs, {{0, 0, 1}});
    append.positions[0] = static_cast<int32_t>(kPosition);
    const int32_t page = inputs.table[0];
    inputs.pages_per_sequence = kPosition / kPage + 2;
    inputs.table.assign(static_cast<size_t>(inputs.pages_per_sequence), -1);
    inputs.table[static_cast<size_t>(kPosition / kPage)] = page;
    for (auto* pool : {&inputs.k_pool, &inputs.v_pool}) {
        const auto row = pool->begin() + page * kPage * shape.head_dim;
        std::rotate(row, row + shape.head_dim, row + 2 * shape.head_dim);
    }
    grade_append(inputs, append, "one token, at position 2^24 + 1");
}

}  // namespace paged_grading
