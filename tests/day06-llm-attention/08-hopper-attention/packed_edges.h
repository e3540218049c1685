// packed_edges.h: the covering design of sequences that are packed, or in pages.
#pragma once

#include <wb/testing/covering.h>
#include <wb/testing/special_attention.h>

#include <array>

#include "packed_grading.h"

namespace hopper_grading {

/// Every triple of layout, head dimension and logits, mask, lengths or group, and of
/// type, head dimension and logits or group; every pair of these and of type,
/// heads, groups, lengths and the most of them, scale, and log-sum-exp wanted or not.
inline std::vector<Combination> packed_edges() {
    using Values = std::vector<int64_t>;
    return Covering()
        .factor("rows",
                {"packed",
                 "with gaps",
                 "in pages of 16",
                 "in pages of 64",
                 "in pages of 128",
                 "in pages of 256"})
        .factor("D", {64, 128, 256})
        .factor("mask", {"none", "causal"})
        .factor("type", {"bf16", "fp16"})
        .factor("Hkv", {1, 2})
        .factor("group", {1, 3})
        .factor("lengths",
                {"short", "empty ones", "more than a tile", "whole tiles", "long"})
        .factor("max_queries", {"exact", "too large"})
        .factor("scale", {"usual", "0.05"})
        .factor("lse", {"wanted", "null"})
        .factor("logits",
                {"usual", "10^4", "near -500", "rising", "falling", "with NaN"})
        .triples("rows", "D", "logits")
        .triples("type", "D", "logits")
        .triples("rows", "D", "mask")
        .triples("rows", "D", "lengths")
        .triples("rows", "D", "group")
        .triples("type", "D", "group")
        // Pages are those of chapter 04: bf16, and rows of 64 or 128.
        .forbid({"rows", "type"}, [](const Values& v) { return v[0] > 1 && v[1] == 1; })
        .forbid({"rows", "D"}, [](const Values& v) { return v[0] > 1 && v[1] == 256; })
        .cases();
}

/// Gives each part logits of a kind; the last kind: NaN and infinity in some places.
template <class T>
void set_logits(Batch& batch, int64_t kind) {
    constexpr Logits kKinds[] = {
        Logits::usual, Logits::high, Logits::low, Logits::rising, Logits::falling};
    for (size_t s = 0; s < batch.parts.size() && kind > 0; ++s) {
        const AttentionShape& part = batch.parts[s];
        AttentionInputs& inputs = batch.inputs[s];
        if (kind < std::ssize(kKinds)) {
            inputs = as_stored<T>(with_logits(part, kKinds[kind], {}, s + 1));
            continue;
        }
        batch.expected.push_back(expect_half<T>(part, inputs));
        if (part.queries == 0 || part.keys == 0) continue;
        const NotFinite places(part, s);
        batch.expected[s] = places.spoilt(batch.expected[s]);
        inputs = places.spoilt(inputs);
    }
}

template <class T>
void grade_packed_edge(const Combination& c) {
    static const std::vector<Lengths> lengths[] = {
        {{3, 3}, {1, 70}, {9, 20}},
        {{0, 5}, {65, 1}, {5, 0}, {2, 130}},
        {{130, 140}, {1, 1}, {150, 70}},
        {{64, 128}, {3, 64}, {128, 128}},
        {{2, 700}, {4, 9}},
    };
    const float scale = c["scale"] == 0 ? 0.0f : std::stof(c.words("scale"));
    Batch batch = make_batch<T>(lengths[c["lengths"]],
                                c["Hkv"] * c["group"],
                                c["Hkv"],
                                c["D"],
                                c["mask"] == 1,
                                scale);
    set_logits<T>(batch, c["logits"]);
    if (c["max_queries"] == 1) batch.shape.max_queries += 100;
    const bool with_lse = c["lse"] == 0;
    if (c["rows"] < 2)
        grade_packed<T>(batch, c["rows"] == 0 ? 0 : 24, with_lse);
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)
        grade_paged(batch, std::array{16, 64, 128, 256}[c["rows"] - 2], with_lse);
}

/// Each as a section; the first of them where a tool watches, as in for_each_case().
inline void grade_packed_edges() {
    constexpr size_t kWatched = 8;
    static const auto all = packed_edges();
    for (size_t i = 0; i < all.size(); ++i) {
        if (is_watched() && i >= kWatched) break;
        DYNAMIC_SECTION(all[i].text()) {
            if (all[i]["type"] == 0)
                grade_packed_edge<__nv_bfloat16>(all[i]);
            else
                grade_packed_edge<__half>(all[i]);
        }
    }
}

}  // namespace hopper_grading
