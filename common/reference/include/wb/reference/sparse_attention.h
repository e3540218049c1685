/// CPU reference of sparse attention: dense attention of one query over the keys that
/// its row lists, with <wb/reference/attention.h>.
#pragma once

#include <wb/reference/attention.h>
#include <wb/sparse_builders.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// One query, and the keys and values that it attends to, in the order of its list.
struct ListedKeys {
    AttentionShape shape;  ///< one query of one head
    std::vector<float> q;  ///< [D]
    std::vector<float> k;  ///< [listed keys, D]
    std::vector<float> v;  ///< [listed keys, D]
};

/// @param q, k, v  as the kernels get them
/// @param row      of all rows, 0 <= row < shape.rows()
inline ListedKeys listed_keys(const AttentionShape& shape,
                              const HostCsr& pattern,
                              const std::vector<float>& q,
                              const std::vector<float>& k,
                              const std::vector<float>& v,
                              int64_t row) {
    const int64_t D = shape.head_dim;
    const auto query = static_cast<std::size_t>(row % shape.queries);
    const int64_t first_kv = row / shape.queries * shape.keys * D;
    ListedKeys listed;
    listed.shape = {1, 1, 1, 1, 0, D, false, shape.scale};
    listed.q.assign(q.begin() + row * D, q.begin() + (row + 1) * D);
    for (int64_t at = pattern.offsets[query]; at < pattern.offsets[query + 1]; ++at) {
        const int64_t key = pattern.indices[static_cast<std::size_t>(at)];
        const int64_t begin = first_kv + key * D;
        listed.k.insert(listed.k.end(), k.begin() + begin, k.begin() + begin + D);
        listed.v.insert(listed.v.end(), v.begin() + begin, v.begin() + begin + D);
        ++listed.shape.keys;
    }
    return listed;
}

}  // namespace wb::reference
