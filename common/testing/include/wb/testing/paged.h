/// wb/testing/paged.h: sequences in pages, and what attention makes of them.
#pragma once

#include <cuda_bf16.h>
#include <wb/attention.h>
#include <wb/paged_cache.h>
#include <wb/reference/attention.h>
#include <wb/testing/attention.h>
#include <wb/testing/bounds.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace wb::testing {

/// Sizes of a problem.
struct PagedShape {
    std::vector<int64_t> lengths;  ///< of the sequences
    int64_t page_size = 16;
    int64_t query_heads = 2;
    int64_t kv_heads = 1;
    int64_t head_dim = 64;
    int64_t spare_entries = 1;  ///< of each row of the table, past its longest sequence
    std::optional<float> scale = {};  ///< none: 1 / sqrt(head_dim)
};

/// The host's image of a cache: what sequences hold, and where in the pool it lies.
struct PagedInputs {
    PagedShape shape;
    std::vector<__nv_bfloat16> q;               // [batch, query_heads, head_dim]
    std::vector<std::vector<__nv_bfloat16>> k;  // [batch][kv_heads, length, head_dim]
    std::vector<std::vector<__nv_bfloat16>> v;  // the same
    std::vector<__nv_bfloat16> k_pool;  // [num_pages, kv_heads, page_size, head_dim]
    std::vector<__nv_bfloat16> v_pool;  // the same; what nobody wrote is NaN
    std::vector<int32_t> table;         // [batch, pages_per_sequence]
    std::vector<int32_t> lengths;       // [batch]
    int64_t num_pages = 0;
    int64_t pages_per_sequence = 0;

    int64_t batch() const { return static_cast<int64_t>(lengths.size()); }
    int64_t pages_of(int64_t sequence) const {
        return (lengths[static_cast<std::size_t>(sequence)] + shape.page_size - 1) /
               shape.page_size;
    }
    float scale() const { return shape.scale.value_or(usual_scale(shape.head_dim)); }
    /// "lengths 0, 1, 15, page 16, Hq4 Hkv2 D64"
    std::string text() const {
        std::string text = "lengths";
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (i == 8) return text + ", ..." + sizes();
            text += (i == 0 ? " " : ", ") + std::to_string(lengths[i]);
        }
        return text + sizes();
    }

 private:
    std::string sizes() const {
        return ", page " + std::to_string(shape.page_size) + ", Hq" +
               std::to_string(shape.query_heads) + " Hkv" +
               std::to_string(shape.kv_heads) + " D" + std::to_string(shape.head_dim);
    }
};

/// A NaN that no arithmetic gives, as 0xFF bytes are in fresh device memory.
inline __nv_bfloat16 stale_number() {
    __nv_bfloat16_raw raw;
    raw.x = 0xFFFF;
    return __nv_bfloat16(raw);
}

/// Copies a sequence's k and v into its pages, as its row of the table says.
inline void fill_pages(PagedInputs& inputs, int64_t sequence) {
    const PagedShape& shape = inputs.shape;
    const auto at = static_cast<std::size_t>(sequence);
    const int64_t length = inputs.lengths[at];
    for (int64_t head = 0; head < shape.kv_heads; ++head) {
        for (int64_t token = 0; token < length; ++token) {
            const int64_t page = inputs.table[static_cast<std::size_t>(
                sequence * inputs.pages_per_sequence + token / shape.page_size)];
            const int64_t to = ((page * shape.kv_heads + head) * shape.page_size +
                                token % shape.page_size) *
                               shape.head_dim;
            const int64_t from = (head * length + token) * shape.head_dim;
            std::copy_n(inputs.k[at].begin() + from,
                        shape.head_dim,
                        inputs.k_pool.begin() + to);
            std::copy_n(inputs.v[at].begin() + from,
                        shape.head_dim,
                        inputs.v_pool.begin() + to);
        }
    }
}

/// Gives every sequence its pages, and puts its tokens there. There are three pages
/// more than needed, and entries past a sequence's end are -1.
/// @param order  0: pages in order; else the seed of a shuffle
inline void place_pages(PagedInputs& inputs, std::uint64_t order) {
    const PagedShape& shape = inputs.shape;
    int64_t used = 0;
    inputs.pages_per_sequence = 0;
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        used += inputs.pages_of(s);
        inputs.pages_per_sequence =
            std::max(inputs.pages_per_sequence, inputs.pages_of(s));
    }
    inputs.pages_per_sequence += shape.spare_entries;
    inputs.num_pages = used + 3;
    std::vector<int32_t> pages(static_cast<std::size_t>(inputs.num_pages));
    for (std::size_t i = 0; i < pages.size(); ++i)
        pages[i] = static_cast<int32_t>(i);
    if (order != 0) {
        Random random(order);
        for (std::size_t i = pages.size() - 1; i > 0; --i)
            std::swap(pages[i],
                      pages[static_cast<std::size_t>(
                          random.below(static_cast<int64_t>(i) + 1))]);
    }
    const auto numbers = static_cast<std::size_t>(inputs.num_pages * shape.kv_heads *
                                                  shape.page_size * shape.head_dim);
    inputs.k_pool.assign(numbers, stale_number());
    inputs.v_pool.assign(numbers, stale_number());
    inputs.table.assign(
        static_cast<std::size_t>(inputs.batch() * inputs.pages_per_sequence), -1);
    std::size_t next = 0;
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        for (int64_t i = 0; i < inputs.pages_of(s); ++i)
            inputs.table[static_cast<std::size_t>(s * inputs.pages_per_sequence + i)] =
                pages[next++];
        fill_pages(inputs, s);
    }
}

/// Random numbers in pages: q and k standard normal, v with outliers.
inline PagedInputs random_paged(const PagedShape& shape,
                                std::uint64_t seed,
                                std::uint64_t order) {
    Random random(seed);
    PagedInputs inputs;
    inputs.shape = shape;
    const auto batch = static_cast<int64_t>(shape.lengths.size());
    const auto normals = [&](int64_t n) {
        std::vector<float> numbers(static_cast<std::size_t>(n));
        random.normals(numbers.data(), numbers.size());
        return rounded<__nv_bfloat16>(numbers);
    };
    inputs.q = normals(batch * shape.query_heads * shape.head_dim);
    for (const int64_t length : shape.lengths) {
        const int64_t numbers = shape.kv_heads * length * shape.head_dim;
        inputs.lengths.push_back(static_cast<int32_t>(length));
        inputs.k.push_back(normals(numbers));
        inputs.v.push_back(
            rounded<__nv_bfloat16>(random_normal(numbers, random.bits())));
    }
    place_pages(inputs, order);
    return inputs;
}

/// What is expected of a sequence's rows, in the order of query heads.
///
/// To the bound of float kernels (wb/testing/attention.h), doubled because tensor cores
/// may cut off where they should round, come two roundings to bfloat16, u = 2^-8: of
/// each weight before its product with v, and of the result.
inline void expect_sequence(const PagedInputs& inputs,
                            int64_t sequence,
                            AttentionExpected& expected) {
    constexpr double u = kUnitRoundoff<float>;
    constexpr double u_half = 0x1p-8;
    const PagedShape& shape = inputs.shape;
    const auto at = static_cast<std::size_t>(sequence);
    const int64_t length = inputs.lengths[at];
    const int64_t rows = shape.query_heads * shape.head_dim;
    const std::vector<__nv_bfloat16> q(inputs.q.begin() + sequence * rows,
                                       inputs.q.begin() + (sequence + 1) * rows);
    const AttentionShape one{1,
                             shape.query_heads,
                             shape.kv_heads,
                             1,
                             length,
                             shape.head_dim,
                             false,
                             inputs.scale()};
    for (int64_t head = 0; head < shape.query_heads; ++head) {
        const auto row = reference::attention_row(one, q, inputs.k[at], head);
        const std::size_t n = row.weights.size();
        std::vector<double> weighted(n);
        double error = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
            weighted[j] = row.weights[j] * 2.0 * weight_error(row, j);
            error += weighted[j];
        }
        const double shrink = 1.0 / (1.0 - std::min(error, 0.5));
        for (int64_t d = 0; d < shape.head_dim; ++d) {
            double o = 0.0;
            double bound = 0.0;
            for (std::size_t j = 0; j < n; ++j) {
                const double v = static_cast<double>(__bfloat162float(
                    inputs.v[at][static_cast<std::size_t>(row.first_kv + d) +
                                 j * static_cast<std::size_t>(shape.head_dim)]));
                o += row.weights[j] * v;
                bound += (weighted[j] + u_half * row.weights[j] + kSmallestFloat) *
                         std::abs(v);
            }
            bound = (bound + (error + 8.0 * u) * std::abs(o)) * shrink;
            expected.o.push_back(o);
            expected.o_bound.push_back(bound + u_half * (std::abs(o) + bound) +
                                       kSmallestFloat);
        }
        expected.lse.push_back(row.lse);
        expected.lse_bound.push_back(
            n == 0 ? 0.0
                   : error * shrink + 16.0 * u *
                                          (std::abs(row.max) +
                                           std::log(static_cast<double>(n)) + 1.0));
    }
}

/// What is expected of all sequences.
inline AttentionExpected expect_paged(const PagedInputs& inputs) {
    AttentionExpected expected;
    for (int64_t s = 0; s < inputs.batch(); ++s)
        expect_sequence(inputs, s, expected);
    return expected;
}

/// A cache without memory, of the sizes of the inputs.
inline PagedCache sizes_of(const PagedInputs& inputs) {
    PagedCache cache;
    cache.batch = inputs.batch();
    cache.pages_per_sequence = inputs.pages_per_sequence;
    cache.num_pages = inputs.num_pages;
    cache.kv_heads = inputs.shape.kv_heads;
    cache.page_size = inputs.shape.page_size;
    cache.head_dim = inputs.shape.head_dim;
    return cache;
}

/// A cache in device memory that the kernel must not change.
inline PagedCache cache_on_device(Grader& grade, const PagedInputs& inputs) {
    PagedCache cache = sizes_of(inputs);
    const auto pool = [&](const char* name, const std::vector<__nv_bfloat16>& numbers) {
        return const_cast<__nv_bfloat16*>(grade.input(name, numbers, Begin::vectors));
    };
    cache.k = pool("cache.k", inputs.k_pool);
    cache.v = pool("cache.v", inputs.v_pool);
    cache.block_table = grade.input("cache.block_table", inputs.table, Begin::anywhere);
    cache.lengths = grade.input("cache.lengths", inputs.lengths, Begin::anywhere);
    return cache;
}

}  // namespace wb::testing
