/// wb/attention.h: the shape of an attention problem, as every chapter of day 6 takes
/// it.
///
///     o[b, h, i, :] = sum over j of softmax_j(scale * q[b, h, i, :] . k[b, g, j, :])
///                     * v[b, g, j, :]              g = h / (query_heads / kv_heads)
///
/// Layout: q and o [batch, query_heads, queries, head_dim], k and v [batch, kv_heads,
/// keys, head_dim], row-major and dense: one row of head_dim elements after the other.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>

#include <cstdint>
#include <initializer_list>

namespace wb {

/// Sizes and options of one call.
struct AttentionShape {
    int64_t batch = 1;        ///< B, sequences
    int64_t query_heads = 1;  ///< Hq
    int64_t kv_heads = 1;     ///< Hkv; divides query_heads
    int64_t queries = 1;      ///< Nq, rows of one head
    int64_t keys = 1;         ///< Nk
    int64_t head_dim = 64;    ///< D
    bool causal = false;      ///< a query sees no later key; the last sees the last
    float scale = 1.0f;       ///< of q . k before the softmax; usually 1 / sqrt(D)

    /// Rows of q, of o, and of the log-sum-exp.
    int64_t rows() const { return batch * query_heads * queries; }
    /// Elements of q, and of o.
    int64_t query_elements() const { return rows() * head_dim; }
    /// Elements of k, and of v.
    int64_t kv_elements() const { return batch * kv_heads * keys * head_dim; }
};

/// The longest sequence: positions in it, and a few tiles past it, fit into an int.
/// Offsets into tensors do not, and are int64_t everywhere.
inline constexpr int64_t kMaxSequence = int64_t{1} << 30;

/// How many keys, counted from the first, a query sees. Causal attention is aligned to
/// the last key, so that decoding one token (queries = 1) sees the whole cache. With
/// more queries than keys, the first rows see nothing.
///
///     queries = 3, keys = 5          queries = 3, keys = 2
///         x x x . .                      . .
///         x x x x .                      x .
///         x x x x x                      x x
///
/// @param row  0 <= row < queries
template <class Int>
__host__ __device__ inline Int visible_keys(Int queries,
                                            Int keys,
                                            bool causal,
                                            Int row) {
    if (!causal) return keys;
    const Int visible = row + 1 + keys - queries;
    return visible < 0 ? 0 : visible;
}

/// Refuses a shape that no kernel takes: negative sizes, heads that do not divide, a
/// head dimension that is not in the list, a scale beyond 2^127 or NaN, or tensors of
/// 2^63 elements. Sizes may be 0.
///
/// @param head_dims  those that the caller's kernels are compiled for
/// Throws wb::InvalidArgument, which names the field.
void check_shape(const Arguments& arguments,
                 const AttentionShape& shape,
                 std::initializer_list<int64_t> head_dims);

/// FLOP of the two products, as attention kernels are compared: 4 * B * H * Nq * Nk * D
/// in all, half of it for a causal mask.
double attention_flop(const AttentionShape& shape);

}  // namespace wb
