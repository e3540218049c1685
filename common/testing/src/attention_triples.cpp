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
constexpr float kThird = 1.0f / 3.0f;

/// Of a case, as TripleLevels counts them.
int64_t keys_of(int64_t keys) {
    return std::max(keys, int64_t{3});
}

int64_t rows_of(int64_t queries, const TripleLevels& levels) {
    const int64_t tile = levels.row_tile;
    return (queries + tile - 1) / tile * tile;
}

int64_t products_of(const AttentionShape& shape, const TripleLevels& levels) {
    return shape.batch * shape.query_heads * shape.head_dim *
           rows_of(shape.queries, levels) * keys_of(shape.keys);
}

/// More batches, heads, or query heads of a group in most of the cases that have more
/// than one: a single number of each is one that a mistake can be right for. Not where
/// it costs too much.
void set_more(AttentionShape& shape, const TripleLevels& levels, std::uint64_t turn) {
    constexpr int64_t kMore[] = {0, 1, 3};
    constexpr int64_t kPair[] = {0, 1, 2, 4, 6};  // of a group of two
    constexpr int64_t kGroup[] = {0, 2, 4, 12, 20};
    const auto change = [&](auto set) {
        const AttentionShape before = shape;
        set();
        if (products_of(shape, levels) > levels.most_products) shape = before;
    };
    const int64_t group = shape.query_heads / shape.kv_heads;
    const int64_t more = group == 2 ? kPair[turn % 5] : kGroup[turn % 5];
    if (group > 1) change([&] { shape.query_heads += shape.kv_heads * more; });
    if (shape.kv_heads > 1)
        change([&] {
            const int64_t of_each = shape.query_heads / shape.kv_heads;
            shape.kv_heads += kMore[turn / 2 % 3] * (shape.kv_heads - 1);
            shape.query_heads = of_each * shape.kv_heads;
        });
    if (shape.batch > 1) change([&] { shape.batch += kMore[turn % 3]; });
}

/// Instead of the largest number of keys or queries others, in turn; and of one that
/// ends in the middle of a tile, by one, by eight, and by sixteen.
void set_lengths(AttentionShape& shape,
                 const TripleLevels& levels,
                 std::uint64_t turn) {
    constexpr int64_t kMore[] = {0, 7, 15};
    for (int64_t* const length : {&shape.queries, &shape.keys})
        if (*length == 33 || *length == 97) *length += kMore[turn % 3];
    const auto set = [&](int64_t& length) {
        const int64_t before = length;
        if (turn % 3 == 2) return;
        length = turn % 3 == 1 ? TripleLevels::kWhole : TripleLevels::kMore;
        const bool must_be_cheap = turn % 3 == 0 || levels.row_tile > 1;
        if (must_be_cheap && products_of(shape, levels) > levels.most_products)
            length = before;
    };
    if (shape.queries == levels.queries.back()) set(shape.queries);
    if (shape.keys == levels.keys.back()) set(shape.keys);
    set_more(shape, levels, turn);
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
        .factor("scale", {"usual", levels.negative_scales ? "negative" : "small"})
        .factor("lse", {"wanted", "null"})
        .all_triples()
        .forbid({"batch", "kv_heads", "groups", "queries", "keys", "head_dim"},
                [&](const std::vector<std::int64_t>& v) {
                    return v[0] * v[1] * v[2] * rows_of(v[3], levels) * keys_of(v[4]) *
                               v[5] >
                           levels.most_products;
                });
    std::vector<TripleCase> result;
    for (const Combination& c : design.cases()) {
        const int64_t head_dim = c["head_dim"];
        const bool is_usual = c["scale"] == 0;
        const float other = levels.negative_scales ? kNegative : kThird;
        TripleCase next{{c["batch"],
                         c["kv_heads"] * c["groups"],
                         c["kv_heads"],
                         c["queries"],
                         c["keys"],
                         head_dim,
                         c["mask"] == 1,
                         odd_scale(head_dim) * (is_usual ? 1.0f : other)},
                        static_cast<Contents>(c["contents"]),
                        static_cast<std::size_t>(c["type"]),
                        c["lse"] == 0,
                        result.size() + 1,
                        "",
                        ""};
        set_lengths(next.shape, levels, next.seed);
        if (levels.types.size() > 1) next.type_name = c.words("type") + ", ";
        if (next.contents != Contents::usual) next.text += ", " + c.words("contents");
        if (!is_usual)
            next.text += levels.negative_scales ? ", scale < 0" : ", scale / 3";
        if (!next.with_lse) next.text += ", no lse";
        next.text += ", seed " + std::to_string(next.seed);
        result.push_back(std::move(next));
    }
    return result;
}

}  // namespace wb::testing
