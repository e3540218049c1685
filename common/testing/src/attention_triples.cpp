#include <wb/testing/attention_triples.h>
#include <wb/testing/covering.h>

namespace wb::testing {
namespace {

constexpr const char* kContents[] = {"chosen keys",
                                     "usual logits",
                                     "logits of 10^4 or 10^5",
                                     "logits near -500",
                                     "rising logits",
                                     "falling logits",
                                     "with NaN and infinity"};

/// Of a case's scale; no other test has it.
constexpr float kNegative = -0.75f;

/// Instead of the largest number of keys or queries others, in turn; and of one that
/// ends in the middle of a tile, by one, by eight, and by sixteen.
void set_lengths(AttentionShape& shape,
                 const TripleLevels& levels,
                 std::uint64_t turn) {
    constexpr int64_t kMore[] = {0, 7, 15};
    for (int64_t* const length : {&shape.queries, &shape.keys})
        if (*length == 33 || *length == 97) *length += kMore[turn % 3];
    const int64_t elements = shape.batch * shape.query_heads * shape.head_dim;
    const auto set = [&](int64_t& length, int64_t other_side) {
        if (turn % 3 == 1) length = TripleLevels::kWhole;
        const int64_t products = elements * other_side * TripleLevels::kMore;
        if (turn % 3 == 0 && products <= levels.most_products)
            length = TripleLevels::kMore;
    };
    if (shape.queries == levels.queries.back()) set(shape.queries, shape.keys);
    if (shape.keys == levels.keys.back()) set(shape.keys, shape.queries);
}

}  // namespace

std::vector<TripleCase> triple_cases(const TripleLevels& levels) {
    Covering design;
    design.factor("batch", levels.batch)
        .factor("kv_heads", levels.kv_heads)
        .factor("groups", levels.groups)
        .factor("queries", levels.queries)
        .factor("keys", levels.keys)
        .factor("head_dim", levels.head_dims)
        .factor("type", levels.types)
        .factor("mask", {"none", "causal"})
        .factor("contents",
                std::vector<std::string>(std::begin(kContents), std::end(kContents)))
        .factor("scale", {"usual", "negative"})
        .factor("lse", {"wanted", "null"})
        .all_triples()
        .forbid({"batch", "kv_heads", "groups", "queries", "keys", "head_dim"},
                [most = levels.most_products](const std::vector<std::int64_t>& v) {
                    return v[0] * v[1] * v[2] * v[3] * v[4] * v[5] > most;
                });
    std::vector<TripleCase> result;
    for (const Combination& c : design.cases()) {
        const int64_t head_dim = c["head_dim"];
        const bool is_negative = c["scale"] == 1;
        TripleCase next{{c["batch"],
                         c["kv_heads"] * c["groups"],
                         c["kv_heads"],
                         c["queries"],
                         c["keys"],
                         head_dim,
                         c["mask"] == 1,
                         odd_scale(head_dim) * (is_negative ? kNegative : 1.0f)},
                        static_cast<Contents>(c["contents"]),
                        static_cast<std::size_t>(c["type"]),
                        c["lse"] == 0,
                        result.size() + 1,
                        "",
                        ""};
        set_lengths(next.shape, levels, next.seed);
        if (levels.types.size() > 1) next.type_name = c.words("type") + ", ";
        if (next.contents != Contents::usual) next.text += ", " + c.words("contents");
        if (is_negative) next.text += ", scale < 0";
        if (!next.with_lse) next.text += ", no lse";
        next.text += ", seed " + std::to_string(next.seed);
        result.push_back(std::move(next));
    }
    return result;
}

}  // namespace wb::testing
