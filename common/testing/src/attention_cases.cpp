#include <wb/testing/attention_cases.h>
#include <wb/testing/covering.h>

#include <cmath>
#include <cstdio>

namespace wb::testing {
namespace {

/// Numbers that are their own places, as levels.
template <class Enum>
std::vector<int64_t> numbers(const std::vector<Enum>& values) {
    std::vector<int64_t> result;
    for (const Enum value : values)
        result.push_back(static_cast<int64_t>(value));
    return result;
}

const char* words(Logits logits) {
    switch (logits) {
        case Logits::usual:
            return "usual logits";
        case Logits::near_zero:
            return "logits near 0";
        case Logits::high:
            return "logits near 10^4";
        case Logits::low:
            return "logits near -500";
        case Logits::rising:
            return "rising logits";
        case Logits::falling:
            return "falling logits";
        case Logits::unseen:
            return "a huge logit of keys that few queries see";
        case Logits::highest:
            return "logits near 10^5";
        case Logits::gentle:
            return "gently rising logits";
        case Logits::peak:
            return "logits with their peak in the middle";
    }
    return "";
}

/// What is added to the score of a key.
double added(Logits logits, int64_t key, int64_t keys) {
    const double half = 0.5 * static_cast<double>(key) - 0.25 * double(keys);
    switch (logits) {
        case Logits::high:
            return 1e4;
        case Logits::low:
            return -500.0;
        case Logits::rising:
            return half;
        case Logits::falling:
            return -half;
        case Logits::highest:
            return 1e5;
        case Logits::gentle:
            return 0.025 * static_cast<double>(key);
        case Logits::peak:
            return -0.25 * std::abs(double(key) - 0.5 * double(keys));
        default:
            return 0.0;
    }
}

std::string words(float scale) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(scale));
    return scale == 0.0f ? "usual" : text;
}

bool kept(Mask mask, int64_t queries, int64_t keys) {
    switch (mask) {
        case Mask::none:
            return true;
        case Mask::causal:
            return queries == keys;
        case Mask::fewer_queries:
            return queries < keys;
        case Mask::more_queries:
            return queries > keys;
    }
    return false;
}

using Values = std::vector<std::int64_t>;

Covering design_of(const AttentionLevels& levels) {
    std::vector<std::string> scales;
    for (const float scale : levels.scales)
        scales.push_back(words(scale));
    Covering design;
    design.factor("batch", levels.batch)
        .factor("kv_heads", levels.kv_heads)
        .factor("groups", levels.groups)
        .factor("queries", levels.queries)
        .factor("keys", levels.keys)
        .factor("head_dim", levels.head_dims)
        .factor("type", levels.types)
        .factor("mask", numbers(levels.masks))
        .factor("logits", numbers(levels.logits))
        .factor("scale", scales)
        .factor("lse", {"wanted", "null"})
        .triples("mask", "head_dim", "logits")
        .forbid(
            {"mask", "queries", "keys"},
            [](const Values& v) { return !kept(static_cast<Mask>(v[0]), v[1], v[2]); })
        // Without a mask, or for a single query, there is nothing unseen.
        .forbid({"logits", "mask", "queries"},
                [](const Values& v) {
                    return static_cast<Logits>(v[0]) == Logits::unseen &&
                           (static_cast<Mask>(v[1]) == Mask::none || v[2] == 1);
                })
        .forbid({"batch", "kv_heads", "groups", "queries", "keys", "head_dim"},
                [most = levels.most_products](const Values& v) {
                    return v[0] * v[1] * v[2] * v[3] * v[4] * v[5] > most;
                });
    return design;
}

}  // namespace

std::vector<AttentionCase> attention_cases(const AttentionLevels& levels) {
    std::vector<AttentionCase> result;
    for (const Combination& c : design_of(levels).cases()) {
        AttentionCase next;
        next.mask = static_cast<Mask>(c["mask"]);
        next.logits = static_cast<Logits>(c["logits"]);
        next.type = static_cast<std::size_t>(c["type"]);
        next.with_lse = c["lse"] == 0;
        next.seed = result.size() + 1;
        const int64_t head_dim = c["head_dim"];
        const float scale = levels.scales[static_cast<std::size_t>(c["scale"])];
        next.shape = {c["batch"],
                      c["kv_heads"] * c["groups"],
                      c["kv_heads"],
                      c["queries"],
                      c["keys"],
                      head_dim,
                      next.mask != Mask::none,
                      scale == 0.0f ? usual_scale(head_dim) : scale};
        if (levels.types.size() > 1) next.type_name = c.words("type") + ", ";
        next.text += std::string(", ") + words(next.logits);
        if (scale != 0.0f) next.text += ", scale " + c.words("scale");
        if (!next.with_lse) next.text += ", lse = nullptr";
        next.text += ", seed " + std::to_string(next.seed);
        result.push_back(std::move(next));
    }
    return result;
}

AttentionInputs with_logits(const AttentionShape& shape,
                            Logits logits,
                            const std::vector<int64_t>& unseen,
                            std::uint64_t seed) {
    constexpr float kQuery = 256.0f;  // so that k fits into a half where a score does
    AttentionInputs inputs = random_attention(shape, seed);
    if (logits == Logits::usual) return inputs;
    if (logits == Logits::near_zero) {
        for (float& value : inputs.q)
            value *= 0.01f;
        return inputs;
    }
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    const std::size_t common = seed % dim;
    // Which columns keep their noise: all, or three, a quarter of D from each other.
    const auto is_noise = [&](std::size_t d) {
        return logits == Logits::unseen || (d + dim - common) % (dim / 4) == 0;
    };
    const double scale = shape.scale;
    // With three columns, k is larger, so that they alone spread the scores.
    const double factor =
        logits == Logits::unseen ? 1.0 : 0.5 / std::max(std::abs(scale), 1e-3);
    const double huge = 1e4 / (scale * kQuery);
    for (std::size_t i = 0; i < inputs.q.size(); ++i) {
        const std::size_t d = i % dim;
        if (d == common) {
            inputs.q[i] = kQuery;
        } else if (!is_noise(d)) {
            inputs.q[i] = 0.0f;
        }
    }
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
        const std::size_t d = i % dim;
        const auto key = static_cast<int64_t>(i / dim) % shape.keys;
        if (d == common) {
            const double sum = added(logits, key, shape.keys) / (scale * kQuery);
            inputs.k[i] = static_cast<float>(sum);
        } else {
            inputs.k[i] = is_noise(d) ? static_cast<float>(factor * inputs.k[i]) : 0.0f;
        }
        if (d == common && logits == Logits::unseen) {
            for (const int64_t j : unseen) {
                if (j == key) inputs.k[i] = static_cast<float>(huge);
            }
        }
    }
    return inputs;
}

AttentionInputs inputs_of(const AttentionCase& c) {
    // The last key, which only the last query sees, and the last that the query in the
    // middle sees: who comes before it does not.
    const int64_t middle =
        visible_keys(c.shape.queries, c.shape.keys, true, c.shape.queries / 2);
    return with_logits(c.shape, c.logits, {c.shape.keys - 1, middle - 1}, c.seed);
}

}  // namespace wb::testing
