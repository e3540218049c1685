/// wb/testing/attention_past_16_bits.h: attention of more keys than 16 bits count, and
/// of heads whose first row is further on than that.
#pragma once

#include <wb/attention.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::testing {

/// The last key has nearly all the weight. A kernel that does not come so far gives the
/// value of the others; one that counts a key twice would hardly show in a mean.
struct ManyKeys {
    AttentionShape shape;
    bool with_lse;
    static constexpr const char* kText = ", the last score 16, the others 0";

    AttentionInputs inputs() const {
        AttentionInputs inputs = constant_inputs(shape, 1.0f, 0.0f, 1.0f);
        const auto dim = static_cast<std::size_t>(shape.head_dim);
        const auto head = static_cast<std::size_t>(shape.keys) * dim;
        for (std::size_t end = head; end <= inputs.k.size(); end += head) {
            inputs.k[end - dim] = 16.0f;
            std::fill_n(
                inputs.v.begin() + static_cast<std::ptrdiff_t>(end - dim), dim, -1.0f);
        }
        return inputs;
    }
};

/// Each head dimension with and without a mask, and either with several batches and no
/// log-sum-exp, or with shared keys. For any of them, a kernel may have a loop of its
/// own.
/// @param groups  whether query heads may share keys
inline std::vector<ManyKeys> past_16_bits_of_keys(const std::vector<int64_t>& head_dims,
                                                  bool groups) {
    constexpr int64_t kKeys = 65'601;
    std::vector<ManyKeys> cases;
    for (std::size_t i = 0; i < head_dims.size(); ++i) {
        for (const bool causal : {false, true}) {
            const bool batches = (i % 2 == 1) != causal;
            auto shape = plain_attention(
                batches ? 2 : 1, 1, causal ? 2 : 1, kKeys, head_dims[i], causal);
            if (!batches && groups) shape.query_heads = 2;
            shape.scale = 1.0f;
            cases.push_back({shape, !batches});
        }
    }
    return cases;
}

/// Heads of which the last one's first row is past 2^16, of several batches, so that
/// neither number alone says which head it is, of each head dimension; with a mask, by
/// which the last rows see keys; and a single head of more rows, with a mask. (Of K/V
/// heads, several batches of more keys than 16 bits count have one behind these.)
/// @param groups  whether query heads may share keys; half of them do
inline std::vector<AttentionShape> past_16_bits_of_rows(
    const std::vector<int64_t>& head_dims, bool groups) {
    std::vector<AttentionShape> shapes;
    for (std::size_t i = 0; i < head_dims.size(); ++i) {
        shapes.push_back(plain_attention(2, 9, 3901, 1, head_dims[i]));
        if (groups && i % 2 == 1) shapes.back().kv_heads = 3;
        shapes.push_back(plain_attention(2, 9, 3901, 3, head_dims[i], true));
        if (groups && i % 2 == 0) shapes.back().kv_heads = 3;
    }
    shapes.push_back(plain_attention(1, 1, 65'541, 3, head_dims[0], true));
    return shapes;
}

}  // namespace wb::testing
