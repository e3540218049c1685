// edges.h: the covering design of sparse attention. Every triple of pattern, head
// dimension and kind of logits meets, every triple of pattern, head dimension and
// number of keys or scale, every triple of rows or blocks, head dimension and scale,
// heads, or log-sum-exp wanted or not; and every pair with all else.
#pragma once

#include <wb/testing/attention_cases.h>
#include <wb/testing/covering.h>

#include "grade.h"

namespace edges {

using wb::testing::Logits;

/// The pattern of a case by its number.
inline HostCsr pattern_of(int64_t kind, int64_t queries, int64_t keys) {
    switch (kind) {
        case 0:
            return wb::dense_pattern(queries, keys, false);
        case 1:
            return wb::dense_pattern(queries, keys, true);
        case 2:
            return wb::window_with_sinks(queries, keys, 9, 4);
        default:
            return wb::random_pattern(queries, keys, 13, 1);
    }
}

inline std::vector<wb::testing::Combination> cases() {
    using Values = std::vector<std::int64_t>;
    wb::testing::Covering design;
    design.factor("pattern", {"dense", "causal", "window 9 and 4 sinks", "random 13"})
        .factor("D", {32, 64, 128})
        .factor(
            "logits",
            {"usual", "near 0", "near 10^4", "near -500", "rising", "falling", "huge"})
        .factor("Nq", {1, 33, 128, 129})
        .factor("Nk", {1, 31, 64, 65, 129})
        .factor("batch", {1, 2})
        .factor("heads", {1, 2})
        .factor("by", {"rows", "blocks"})
        .factor("scale", {"usual", "0.05", "-0.3"})
        .factor("lse", {"wanted", "null"})
        .triples("pattern", "D", "logits")
        .triples("pattern", "D", "Nk")
        .triples("pattern", "D", "scale")
        .triples("pattern", "by", "scale")
        .triples("by", "D", "scale")
        .triples("by", "D", "heads")
        .triples("by", "D", "lse")
        // There, every query sees every key.
        .forbid({"pattern", "logits"},
                [](const Values& v) { return v[0] == 0 && v[1] == 6; })
        .forbid({"Nq", "Nk", "D", "batch", "heads"}, [](const Values& v) {
            return v[0] * v[1] * v[2] * v[3] * v[4] > 540'000;  // else it takes long
        });
    return design.cases();
}

/// Runs a case on all versions of its function.
inline void grade(const wb::testing::Combination& c, uint64_t seed) {
    const HostCsr pattern = pattern_of(c["pattern"], c["Nq"], c["Nk"]);
    auto shape = shape_of(pattern, c["D"], c["batch"], c["heads"]);
    if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
    const auto logits = static_cast<Logits>(c["logits"]);
    const auto inputs =
        wb::testing::with_logits(shape, logits, {shape.keys / 2, shape.keys - 1}, seed);
    const auto expected = expect_sparse(shape, pattern, inputs);
    const bool with_lse = c["lse"] == 0;
    if (c["by"] == 0) {
        grade_rows(shape, pattern, inputs, expected, c.text(), {}, with_lse);
    } else {
        grade_blocks(
            shape, to_blocks(pattern), inputs, expected, c.text(), {}, with_lse);
    }
}

/// Those with this pattern, each as a section.
inline void grade_all(int64_t pattern) {
    constexpr uint64_t kWatched = 30;  // as in for_each_case()
    static const auto all = cases();
    for (uint64_t i = 0; i < all.size(); ++i) {
        if (all[i]["pattern"] != pattern) continue;
        if (wb::testing::is_watched() && i >= kWatched) continue;
        DYNAMIC_SECTION(all[i].text()) {
            grade(all[i], i + 1);
        }
    }
}

}  // namespace edges
