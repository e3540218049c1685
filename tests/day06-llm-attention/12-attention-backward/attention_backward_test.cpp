// Grades day06-llm-attention/12-attention-backward: sizes, masks, groups, and edges
// that meet.
#include "grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/simulator.h>

using namespace backward_grading;
using wb::testing::Combination;
using wb::testing::Covering;
using wb::testing::Logits;
using wb::testing::plain_attention;

namespace {

/// What the numbers of a case are like; `whole` is whole_numbers().
enum Contents { whole, usual, high, low, rising, falling };

/// The shape of a case; of the masks 0 is none, and 1 to 3 are causal.
AttentionShape shape_of(const Combination& c) {
    auto shape = plain_attention(c["batch"],
                                 c["kv_heads"],
                                 c["queries"],
                                 c["keys"],
                                 c["D"],
                                 c.words("mask") != "none");
    if (c.words("scale") == "odd") shape.scale = wb::testing::odd_scale(shape.head_dim);
    if (c.words("scale") == "negative") shape.scale = -0.3f;
    return grouped(shape, c["group"]);
}

template <class T>
Inputs contents_of(const Combination& c, const AttentionShape& shape, uint64_t seed) {
    if (c["contents"] == whole) return whole_numbers(shape, seed);
    const Logits logits[] = {Logits::usual,
                             Logits::usual,
                             Logits::high,
                             Logits::low,
                             Logits::rising,
                             Logits::falling};
    const auto kind = logits[static_cast<size_t>(c["contents"])];
    return inputs_of<T>(shape, wb::testing::with_logits(shape, kind, {}, seed), seed);
}

using Values = std::vector<int64_t>;

/// Causal masks have names for how many queries there are beside keys.
bool is_impossible(const Values& v) {
    return (v[0] == 1 && std::abs(v[1] - v[2]) > 2) || (v[0] == 2 && v[1] >= v[2]) ||
           (v[0] == 3 && v[1] <= v[2]);
}

Covering design_of(const Values& kv_heads,
                   const Values& queries,
                   const Values& keys,
                   int64_t most) {
    Covering design;
    design.factor("batch", {1, 2})
        .factor("kv_heads", kv_heads)
        .factor("group", {1, 2, 3})
        .factor("queries", queries)
        .factor("keys", keys)
        .factor("D", {64, 128})
        .factor("type", {"fp32", "bf16"})
        .factor("mask", {"none", "causal", "fewer queries", "more queries"})
        .factor("contents", {"whole", "usual", "high", "low", "rising", "falling"})
        .factor("scale", {"usual", "odd", "negative"})
        .factor("bits", {"any", "deterministic"})
        .forbid({"mask", "queries", "keys"}, is_impossible)
        .forbid({"batch", "kv_heads", "group", "queries", "keys", "D"},
                [most](const Values& v) {
                    return v[0] * v[1] * v[2] * v[3] * v[4] * v[5] > most;
                });
    return design;
}

/// Every pair of levels of two factors meets, and some triples.
std::vector<Combination> edges() {
    return design_of({1, 2, 3},
                     {1, 7, 31, 33, 64, 65, 129},
                     {1, 5, 32, 63, 65, 128, 130},
                     540'000)
        .triples("mask", "D", "contents")
        .triples("batch", "kv_heads", "group")
        .triples("type", "D", "bits")
        .triples("type", "contents", "group")
        .cases();
}

/// Every triple of levels of three factors meets.
std::vector<Combination> triples() {
    return design_of({1, 2}, {1, 33, 64, 131}, {2, 33, 130}, 300'000)
        .all_triples()
        .cases();
}

template <class T>
void grade_edge(const Combination& c, uint64_t number, bool last_alone) {
    const auto shape = shape_of(c);
    const Inputs in = contents_of<T>(c, shape, number);
    const Expected e = expect<T>(shape, in);
    const std::string text = ", " + c.words("contents") + " numbers, scale " +
                             c.words("scale") + ", seed " + std::to_string(number);
    auto versions = wb::testing::whose_turn(implementations_of<T>(), number);
    if (last_alone) versions = wb::testing::last_of(versions);
    for (const auto& [name, idea, launch] : versions)
        grade_one<T>(name, launch, shape, in, e, text, c["bits"] == 1);
}

/// Many rows of many heads: more of the same accesses.
bool is_dear(const Combination& c) {
    return c["batch"] * c["kv_heads"] * c["group"] * c["queries"] > 1000;
}

/// Those with this mask, each as a section.
void grade_those(const std::vector<Combination>& cases,
                 const std::string& mask,
                 bool last_alone) {
    constexpr uint64_t kWatched = 12;
    uint64_t number = 0;
    for (const Combination& c : cases) {
        ++number;
        if (c.words("mask") != mask) continue;
        if (wb::testing::is_watched() && (number > kWatched || is_dear(c))) continue;
        DYNAMIC_SECTION(c.text()) {
            if (c.words("type") == "fp32")
                grade_edge<float>(c, number, last_alone);
            else
                grade_edge<__nv_bfloat16>(c, number, last_alone);
        }
    }
}

void grade_edges(const std::string& mask) {
    static const auto cases = edges();
    grade_those(cases, mask, false);
}

void grade_triples(const std::string& mask) {
    static const auto cases = triples();
    grade_those(cases, mask, true);
}

}  // namespace

TEST_CASE("one query and one key") {
    grade(plain_attention(1, 1, 1, 1, 64));
    grade(plain_attention(1, 1, 1, 1, 128));
}

TEST_CASE("two heads, each with its own gradients") {
    grade(plain_attention(2, 2, 5, 4, 64));
}

TEST_CASE("causal: the last query sees the last key") {
    grade(plain_attention(1, 1, 9, 9, 64, true));
    grade(plain_attention(1, 1, 3, 7, 64, true));
}

TEST_CASE("a key that no query sees, and a query that sees no key") {
    grade(plain_attention(1, 2, 7, 2, 64, true));
    grade(plain_attention(1, 1, 140, 5, 64, true));
}

TEST_CASE("every remainder of queries and of keys by 64") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (int64_t n = 1; n < 64; ++n) {
        const auto shape = plain_attention(1, 1, n, 64 - n, 64);
        const Inputs in = whole_numbers(shape, 1);
        if (n % 2 == 0)
            grade_type<float>(shape, in, ", whole numbers");
        else
            grade_type<__nv_bfloat16>(shape, in, ", whole numbers");
    }
}

TEST_CASE("a group: the gradients of its heads are added up") {
    grade(grouped(plain_attention(1, 1, 4, 5, 64), 2));
    grade(grouped(plain_attention(2, 2, 5, 3, 64, true), 3));
}

TEST_CASE("large groups, and more heads than a byte counts") {
    // Emulated wgmma under the checker: minutes for what it has seen in three heads.
    if (wb::testing::is_watched()) return;
    grade(grouped(plain_attention(1, 1, 3, 4, 128, true), 33));
    grade(plain_attention(130, 2, 1, 2, 64));
}

TEST_CASE("no keys, or no queries: zeros, and they are written") {
    for (const int64_t dim : {64, 128}) {
        for (const bool causal : {false, true}) {
            grade(plain_attention(2, 1, 3, 0, dim, causal));
            grade(plain_attention(1, 2, 0, 5, dim, causal));
        }
    }
    auto no_heads = plain_attention(1, 2, 3, 5, 64);
    no_heads.query_heads = 0;
    grade(no_heads);
}

TEST_CASE("edges meet: no mask") {
    grade_edges("none");
}

TEST_CASE("edges meet: causal, as many queries as keys, or nearly") {
    grade_edges("causal");
}

TEST_CASE("edges meet: causal, fewer queries than keys") {
    grade_edges("fewer queries");
}

TEST_CASE("edges meet: causal, more queries than keys") {
    grade_edges("more queries");
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    grade_triples("none");
}

TEST_CASE("any three edges meet: causal, as many queries as keys, or nearly",
          "[long]") {
    grade_triples("causal");
}

TEST_CASE("any three edges meet: causal, fewer queries than keys", "[long]") {
    grade_triples("fewer queries");
}

TEST_CASE("any three edges meet: causal, more queries than keys", "[long]") {
    grade_triples("more queries");
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 70, 64, true), seed);
    wb::testing::shuffle_threads(0);
}
