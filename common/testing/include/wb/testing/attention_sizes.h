/// wb/testing/attention_sizes.h: many batches, heads and groups; and single heads of
/// more than 2^31 elements, for a GPU with room for them.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/describe.h>
#include <wb/scratch.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wb::testing {

/// Random inputs. The scores of a row are all about -150, 0 or 150, whatever those of
/// its neighbours are. A block that goes from one row to another, because there are
/// more rows than blocks, and keeps a maximum or a sum, loses the next row.
inline AttentionInputs uneven_rows(const AttentionShape& shape, std::uint64_t seed) {
    constexpr std::size_t kColumn = 3;
    AttentionInputs inputs = random_attention(shape, seed);
    Random random(seed);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (std::size_t i = kColumn; i < inputs.q.size(); i += dim)
        inputs.q[i] = 150.0f * static_cast<float>(random.below(3) - 1) / shape.scale;
    for (std::size_t i = kColumn; i < inputs.k.size(); i += dim)
        inputs.k[i] = 1.0f;
    return inputs;
}

/// More than 4096 of each: batches, K/V heads, and, if wanted, query heads of a group,
/// with one query and two keys each, for they cost a block in the simulator. On a GPU
/// more than 65,535 of these: a grid has no more blocks along y and along z. Then more
/// queries than 16 bits with a sign hold, of two heads, which share keys if wanted:
/// more rows than 16 bits without a sign hold. So many queries of one head. As many
/// queries as keys, causal, as far as that is to be had, and a few less. Last, of the
/// other head dimensions, more batches and more heads than eight bits hold (on a GPU as
/// many as above), more than 4096 queries, and if wanted groups of more than 128.
/// @param in_simulator  as many, instead, in the simulator
/// @param others        the other head dimensions
inline std::vector<AttentionShape> shapes_of_many(
    int64_t head_dim,
    bool groups,
    [[maybe_unused]] int64_t in_simulator = 4099,
    const std::vector<int64_t>& others = {64, 128, 256}) {
#ifdef SIMT_CPU
    const int64_t many = in_simulator;
    constexpr int64_t bytes = 259;
    constexpr int64_t kSide = 1100;
#else
    constexpr int64_t many = 65'539;
    constexpr int64_t bytes = many;
    constexpr int64_t kSide = 4129;
#endif
    std::vector<AttentionShape> shapes = {
        plain_attention(many, 1, 1, 2, head_dim),
        plain_attention(1, many, 1, 2, head_dim),
    };
    if (groups) {
        shapes.push_back(plain_attention(1, many, 1, 2, head_dim));
        shapes.back().kv_heads = 1;
    }
    shapes.push_back(plain_attention(1, 2, 33'003, 1, head_dim));
    if (groups) shapes.back().kv_heads = 1;
    shapes.push_back(plain_attention(1, 1, 65'541, 1, head_dim));
    shapes.push_back(plain_attention(1, 1, kSide, kSide, head_dim, true));
    shapes.push_back(plain_attention(1, 1, kSide - 37, kSide, head_dim, true));
    for (const int64_t other : others) {
        shapes.push_back(plain_attention(bytes, 1, 1, 2, other));
        shapes.push_back(plain_attention(1, bytes, 1, 2, other));
        shapes.push_back(plain_attention(1, 1, 4109, 2, other));
        if (!groups) continue;
        shapes.push_back(plain_attention(1, 2 * 131, 1, 2, other));
        shapes.back().kv_heads = 2;
    }
    return shapes;
}

/// Two sizes at once. Of batches, K/V heads, if wanted heads of a group, queries and
/// keys, each is past 8 bits where each other one is past what a warp or a tile holds
/// (of batches and heads two: a few); the rest are small. With several queries, with a
/// mask, too. A kernel for few of something may be right where that for more is not.
/// Where a tool watches (is_watched()), there are fewer of all: it takes long.
/// @param head_dims  take turns
/// @param many       past 8 bits, or fewer where a tile costs much in the simulator
inline std::vector<AttentionShape> shapes_of_pairs(
    const std::vector<int64_t>& head_dims, bool groups, int64_t many = 259) {
    enum { kBatch, kKvHeads, kGroup, kQueries, kKeys, kSizes };
    const bool less = is_watched();
    if (less) many = 9;
    const int64_t some = less ? 3 : 17;
    const int64_t tile = less ? 17 : 70;
    const int64_t tiles = less ? 70 : 300;
    std::vector<AttentionShape> shapes;
    const auto add = [&](const int64_t(&n)[kSizes], bool causal, int64_t head_dim = 0) {
        if (head_dim == 0) head_dim = head_dims[shapes.size() % head_dims.size()];
        const int64_t heads = n[kKvHeads] * n[kGroup];
        shapes.push_back(
            plain_attention(n[kBatch], heads, n[kQueries], n[kKeys], head_dim, causal));
        shapes.back().kv_heads = n[kKvHeads];
    };
    for (int a = 0; a < kSizes; ++a)
        for (int b = 0; b < kSizes; ++b) {
            if (a == b || (!groups && (a == kGroup || b == kGroup))) continue;
            const bool both_heads = a < kQueries && b < kQueries;
            int64_t n[kSizes] = {1, 1, 1, 1, 5};
            n[a] = a < kQueries ? many : tiles;
            n[b] = both_heads ? 3 : b < kQueries ? some : tile;
            if (a == kQueries && b < kQueries && !less) {  // of many heads, too
                n[b] = 67;
                n[kKeys] = 2;
            }
            add(n, false);
            if (a < kQueries && b == kQueries) {  // several tiles of queries
                n[b] = 2 * tile;
                n[kKeys] = 2;
                add(n, false, head_dims.front());
            }
            if (a == kKeys && b == kQueries) add(n, true);
            if (a >= kQueries || b != kQueries) continue;
            n[kQueries] = n[kKeys] = some;
            add(n, true);
        }
    return shapes;
}

/// More than 4200 keys, on a GPU more than 2^16, of each head dimension: one query that
/// sees all of them; three of which none but the last one does; and, with a negative
/// scale, more than a few, for which a kernel may be another. Kernels that are compiled
/// for a head dimension, a type or a mask have loops of their own.
/// @param negative_scales  whether there may be one
inline std::vector<AttentionShape> shapes_of_many_keys(
    const std::vector<int64_t>& head_dims, bool negative_scales = true) {
#ifdef SIMT_CPU
    constexpr int64_t kKeys = 4243;
#else
    constexpr int64_t kKeys = 70'001;
#endif
    std::vector<AttentionShape> shapes;
    for (const int64_t head_dim : head_dims) {
        for (const bool causal : {false, true})
            shapes.push_back(
                plain_attention(1, 1, causal ? 3 : 1, kKeys, head_dim, causal));
        shapes.push_back(plain_attention(1, 1, 17, kKeys, head_dim, head_dim == 64));
        shapes.back().scale = negative_scales ? -0.3f : 0.3f;
    }
    return shapes;
}

/// Several tiles of queries, and many of keys, of two K/V heads with as many query
/// heads as wanted: with or without a mask.
inline std::vector<AttentionShape> shapes_of_many_tiles(
    const std::vector<int64_t>& head_dims, int64_t group) {
    std::vector<AttentionShape> shapes;
    for (const int64_t head_dim : head_dims) {
        shapes.push_back(
            plain_attention(1, 2 * group, 70, 1100, head_dim, head_dim == 128));
        shapes.back().kv_heads = 2;
    }
    return shapes;
}

/// Small calls for a GPU with little shared memory, on which another kernel may be
/// launched: of each head dimension, seen or masked; rows without a key; no keys; many.
/// Where a tool watches (is_watched()), the first of each: it takes long.
/// @param group  query heads of each K/V head
inline std::vector<AttentionShape> shapes_of_another_kernel(
    const std::vector<int64_t>& head_dims, int64_t group) {
    const bool less = is_watched();
    std::vector<AttentionShape> shapes;
    for (const int64_t head_dim : head_dims)
        for (const bool causal : {false, true}) {
            shapes.push_back(
                plain_attention(less ? 1 : 2, 2 * group, 13, 35, head_dim, causal));
            if (less) continue;
            shapes.push_back(plain_attention(1, 2 * group, 9, 5, head_dim, causal));
            shapes.push_back(plain_attention(1, 2 * group, 2, 0, head_dim, causal));
            shapes.push_back(plain_attention(1, 2 * group, 3, 301, head_dim, causal));
            shapes.back().scale = -0.3f;
        }
    for (AttentionShape& shape : shapes)
        shape.kv_heads = 2;
    return shapes;
}

/// Small calls, each of which is to be made twice at once: of each head dimension, seen
/// or masked; of many queries; of two batches. A kernel that is compiled for one of
/// these may have memory of its own.
/// @param group  query heads of each K/V head
inline std::vector<AttentionShape> shapes_at_once(const std::vector<int64_t>& head_dims,
                                                  int64_t group) {
    std::vector<AttentionShape> shapes;
    for (const int64_t head_dim : head_dims)
        for (const bool causal : {false, true})
            shapes.push_back(plain_attention(1, group, 5, 19, head_dim, causal));
    shapes.push_back(plain_attention(1, group, 300, 3, head_dims.front()));
    shapes.push_back(plain_attention(2, group, 5, 19, head_dims.front()));
    for (AttentionShape& shape : shapes)
        shape.kv_heads = 1;
    return shapes;
}

/// Whether so many bytes are to be had, and a gigabyte besides.
inline bool has_room(std::size_t bytes) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes >= bytes + (std::size_t{1} << 30);
}

/// A row of a head: the first number, and others that tell their place.
template <class T>
std::vector<T> marked_row(int64_t dim, float first, float others) {
    std::vector<T> row(static_cast<std::size_t>(dim), static_cast<T>(first));
    for (std::size_t d = 1; d < row.size(); ++d)
        row[d] = static_cast<T>(others + static_cast<float>(d % 64));
    return row;
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& row) {
    std::vector<double> values;
    for (const T x : row)
        values.push_back(static_cast<double>(static_cast<float>(x)));
    return values;
}

/// A causal head of 2^24 + 2 keys of 128 numbers, and two queries. The first one does
/// not see the last key, and gives all weight to the one before it, number 2^24, whose
/// first element is number 2^31 of the head; the second one to the last key. A position
/// that is a float, or an offset of 32 bits, is another one.
/// @param rounding  of values, on the way, relative: for types narrower than T
template <class T, class Attention>
void grade_far_keys(const std::string& name,
                    Attention attention,
                    double rounding = 0.0) {
    constexpr int64_t kDim = 128;
    const AttentionShape shape{1, 1, 1, 2, (int64_t{1} << 24) + 2, kDim, true, 1.0f};
    const auto bytes = static_cast<std::size_t>(shape.kv_elements()) * sizeof(T);
    if (!has_room(bytes)) WB_SKIP("needs 10 GB of free GPU memory");
    const Scratch<T> kv(shape.kv_elements(), nullptr);  // k is v
    CUDA_CHECK(cudaMemset(kv.data(), 0, bytes));
    const auto hidden = marked_row<T>(kDim, 200.0f, 65.0f);
    const auto seen = marked_row<T>(kDim, 100.0f, 1.0f);
    const T* const end = kv.data() + shape.kv_elements();
    for (const auto& [row, behind] : {std::pair{&seen, 2}, std::pair{&hidden, 1}})
        CUDA_CHECK(cudaMemcpy(const_cast<T*>(end) - behind * kDim,
                              row->data(),
                              kDim * sizeof(T),
                              cudaMemcpyHostToDevice));
    std::vector<T> queries(2 * kDim, static_cast<T>(0.0f));
    queries[0] = queries[kDim] = static_cast<T>(1.0f);
    std::vector<double> expected = as_doubles(seen);
    for (const double x : as_doubles(hidden))
        expected.push_back(x);

    Grader grade(name, describe(shape) + ", a key at 2^24 has all the weight");
    const T* d_q = grade.input("q", queries);
    T* d_o = grade.output<T>("o", {2, kDim});
    grade.run([&](cudaStream_t stream) {
        attention(shape, d_q, kv.data(), kv.data(), d_o, nullptr, stream);
    });
    grade.expect("o", expected, [&](int64_t i) {
        const double value = expected[static_cast<std::size_t>(i)];
        return float_bound(3, value) + rounding * value;
    });
}

/// A head of 2^24 + 2 queries of 128 numbers and one key: each row of o is its value,
/// also those past element 2^31.
/// @param rounding  of values, on the way, relative: for types narrower than T
template <class T, class Attention>
void grade_far_rows(const std::string& name,
                    Attention attention,
                    double rounding = 0.0) {
    constexpr int64_t kDim = 128;
    constexpr int64_t kRows = (int64_t{1} << 24) + 2;
    const AttentionShape shape{1, 1, 1, kRows, 1, kDim, false, 1.0f};
    const auto bytes = static_cast<std::size_t>(shape.query_elements()) * sizeof(T);
    if (!has_room(2 * bytes)) WB_SKIP("needs 19 GB of free GPU memory");
    const Scratch<T> q(shape.query_elements(), nullptr);
    const Scratch<T> o(shape.query_elements(), nullptr);
    CUDA_CHECK(cudaMemset(q.data(), 0, bytes));
    CUDA_CHECK(cudaMemset(o.data(), 0xFF, bytes));
    const auto value = marked_row<T>(kDim, 100.0f, 1.0f);
    const std::vector<int64_t> rows = {0, kRows / 2, kRows - 2, kRows - 1};
    std::vector<double> expected;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const double x : as_doubles(value))
            expected.push_back(x);

    Grader grade(name, describe(shape) + ", rows of o past element 2^31");
    const T* d_kv = grade.input("k and v", value);
    T* d_o = grade.output<T>("o", {static_cast<int64_t>(rows.size()), kDim});
    grade.run([&](cudaStream_t stream) {
        attention(shape, q.data(), d_kv, d_kv, o.data(), nullptr, stream);
        for (std::size_t i = 0; i < rows.size(); ++i)
            CUDA_CHECK(cudaMemcpyAsync(d_o + i * kDim,
                                       o.data() + rows[i] * kDim,
                                       kDim * sizeof(T),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
    });
    grade.expect("o", expected, [&](int64_t i) {
        return rounding * expected[static_cast<std::size_t>(i)];
    });
}

}  // namespace wb::testing
