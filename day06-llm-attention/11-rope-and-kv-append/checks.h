/// checks.h: what both stages refuse. Given.
#pragma once

#include <wb/arguments.h>

#include <cstdint>
#include <type_traits>

#include "rope_and_kv_append.h"

/// True if there are angles to compute. Throws wb::InvalidArgument.
inline bool angles_have_work(const double* frequencies,
                             int64_t pairs,
                             double magnitude,
                             int64_t rows,
                             const float2* angles) {
    const wb::Arguments arguments("rope_angles");
    arguments.size("pairs", pairs)
        .size("rows", rows)
        .require(rows <= INT32_MAX, "rows", rows, "must be < 2^31")
        .finite("magnitude", magnitude);
    const int64_t count = arguments.product("rows * pairs", {rows, pairs});
    arguments.device("frequencies", frequencies, count == 0 ? 0 : pairs)
        .device("angles", angles, count)
        .apart("angles - frequencies",
               frequencies,
               count == 0 ? 0 : pairs * 8,
               angles,
               count * 8);
    return count > 0;
}

/// A slice of the columns of a matrix: `width` elements of each of `tokens` rows.
struct TokenRows {
    const char* name;
    const void* begin;
    int64_t stride;
    int64_t width;

    /// From the first to the last element.
    int64_t elements(int64_t tokens) const {
        return width == 0 ? 0 : (tokens - 1) * stride + width;
    }
};

/// True if two slices of 16-bit numbers share no element: one ends before the other
/// begins, or they are different columns of one matrix.
inline bool are_apart(const TokenRows& a, const TokenRows& b, int64_t tokens) {
    const auto a_at = reinterpret_cast<uintptr_t>(a.begin);
    const auto b_at = reinterpret_cast<uintptr_t>(b.begin);
    if (a.width == 0 || b.width == 0) return true;
    const TokenRows& low = a_at <= b_at ? a : b;
    const TokenRows& high = a_at <= b_at ? b : a;
    const auto apart = static_cast<int64_t>((a_at <= b_at ? b_at - a_at : a_at - b_at) /
                                            sizeof(__half));
    if (apart >= low.elements(tokens)) return true;
    if (a.stride != b.stride) return false;
    const int64_t column = apart % a.stride;
    return column >= low.width && column + high.width <= a.stride;
}

/// Sizes whose product must fit 64 bits. (In a template, nvcc makes a mess of a list in
/// braces that is an argument.)
inline int64_t product_of(const wb::Arguments& arguments,
                          const char* names,
                          int64_t a,
                          int64_t b,
                          int64_t c) {
    return arguments.product(names, {a, b, c});
}

/// True if there are tokens to append. Throws wb::InvalidArgument.
template <class T, class Stored>
bool append_has_work(const char* function, const RopeAppend<T, Stored>& call) {
    constexpr bool kScaled = std::is_same_v<Stored, __nv_fp8_e4m3>;
    const wb::Arguments arguments(function);
    const auto& cache = call.cache;
    arguments.size("tokens", call.tokens)
        .require(call.tokens <= INT32_MAX, "tokens", call.tokens, "must be < 2^31")
        .size("query_heads", call.query_heads)
        .require(call.query_heads <= 65536,
                 "query_heads",
                 call.query_heads,
                 "must be <= 65536")
        .require(cache.kv_heads <= 65536,
                 "cache.kv_heads",
                 cache.kv_heads,
                 "must be <= 65536")
        .require(cache.head_dim % 16 == 0 && cache.head_dim <= 256,
                 "cache.head_dim",
                 cache.head_dim,
                 "must be a multiple of 16 up to 256")
        .require(call.rotary_dim >= 0 && call.rotary_dim % 2 == 0 &&
                     call.rotary_dim <= cache.head_dim,
                 "rotary_dim",
                 call.rotary_dim,
                 "must be even, from 0 to cache.head_dim")
        .require(call.pairs == RopePairs::halves || call.pairs == RopePairs::neighbours,
                 "pairs",
                 static_cast<int64_t>(call.pairs),
                 "must be halves (0) or neighbours (1)");
    wb::check_pages(arguments, cache);
    arguments.require(call.rotary_dim == 0 || call.angle_rows >= cache.capacity(),
                      "angle_rows",
                      call.angle_rows,
                      "must be cache.capacity() or more: each position has a row");
    const TokenRows rows[] = {
        {"q", call.q, call.q_stride, call.query_heads * cache.head_dim},
        {"k", call.k, call.k_stride, cache.kv_heads * cache.head_dim},
        {"v", call.v, call.v_stride, cache.kv_heads * cache.head_dim}};
    const char* const strides[] = {"q_stride", "k_stride", "v_stride"};
    for (int i = 0; i < 3; ++i) {
        arguments.require(
            rows[i].stride >= rows[i].width && rows[i].stride % 8 == 0,
            strides[i],
            rows[i].stride,
            "must be a multiple of 8, and at least heads * cache.head_dim");
        product_of(arguments, "tokens * stride", call.tokens, rows[i].stride, 2);
    }
    const int64_t angles = call.rotary_dim == 0 ? 0
                                                : product_of(arguments,
                                                             "angle_rows * rotary_dim",
                                                             call.angle_rows,
                                                             call.rotary_dim,
                                                             4);
    if (call.tokens == 0) return false;
    for (const TokenRows& each : rows) {
        arguments.device(each.name,
                         static_cast<const __half*>(each.begin),
                         each.elements(call.tokens));
    }
    arguments.device("sequences", call.sequences, call.tokens)
        .device("positions", call.positions, call.tokens)
        .device("angles", call.angles, angles / 8);
    const struct {
        const char* name;
        const void* begin;
    } aligned[] = {
        {"q", call.q}, {"k", call.k}, {"v", call.v}, {"angles", call.angles}};
    for (const auto& each : aligned) {
        const auto address = reinterpret_cast<uintptr_t>(each.begin);
        arguments.require(address % 16 == 0,
                          each.name,
                          static_cast<int64_t>(address),
                          "must be a multiple of 16");
    }
    if constexpr (kScaled) {
        arguments.device("k_scale", call.k_scale, cache.kv_heads)
            .device("v_scale", call.v_scale, cache.kv_heads);
    } else {
        arguments.require(
            call.k_scale == nullptr,
            "k_scale",
            static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.k_scale)),
            "must be null: this cache has no scales");
        arguments.require(
            call.v_scale == nullptr,
            "v_scale",
            static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.v_scale)),
            "must be null: this cache has no scales");
    }
    for (int i = 1; i < 3; ++i) {
        const auto between =
            static_cast<int64_t>(reinterpret_cast<uintptr_t>(rows[i].begin) -
                                 reinterpret_cast<uintptr_t>(call.q));
        arguments.require(are_apart(rows[0], rows[i], call.tokens),
                          i == 1 ? "k - q in bytes" : "v - q in bytes",
                          between,
                          "lets them share elements: q is written while it is read");
    }
    const int64_t pool = cache.elements() * static_cast<int64_t>(sizeof(Stored));
    const int64_t scales = kScaled ? cache.kv_heads * 4 : 0;
    const auto bytes = [&](int i) { return rows[i].elements(call.tokens) * 2; };
    arguments.apart({{"cache.k", cache.k, pool, true},
                     {"cache.v", cache.v, pool, true},
                     {"k", call.k, bytes(1), false},
                     {"v", call.v, bytes(2), false},
                     {"cache.block_table",
                      cache.block_table,
                      cache.batch * cache.pages_per_sequence * 4,
                      false},
                     {"sequences", call.sequences, call.tokens * 4, false},
                     {"positions", call.positions, call.tokens * 4, false},
                     {"angles", call.angles, angles, false},
                     {"k_scale", call.k_scale, scales, false},
                     {"v_scale", call.v_scale, scales, false}});
    arguments.apart({{"q", call.q, bytes(0), true},
                     {"cache.k", cache.k, pool, false},
                     {"cache.v", cache.v, pool, false},
                     {"cache.block_table",
                      cache.block_table,
                      cache.batch * cache.pages_per_sequence * 4,
                      false},
                     {"sequences", call.sequences, call.tokens * 4, false},
                     {"positions", call.positions, call.tokens * 4, false},
                     {"angles", call.angles, angles, false},
                     {"k_scale", call.k_scale, scales, false},
                     {"v_scale", call.v_scale, scales, false}});
    return true;
}
