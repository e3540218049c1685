/// checks.h: what both stages refuse. Given.
#pragma once

#include <wb/arguments.h>
#include <wb/online_softmax.h>

#include <cstdint>

#include "paged_attention.h"

/// True if there are tokens to append. Throws wb::InvalidArgument.
inline bool append_has_work(const wb::PagedCache& cache,
                            const __nv_bfloat16* k,
                            const __nv_bfloat16* v,
                            const int32_t* sequences,
                            const int32_t* positions,
                            int64_t tokens) {
    const wb::Arguments arguments("append_kv");
    wb::check_paged_cache(arguments, cache);
    arguments.size("tokens", tokens);
    const int64_t numbers = arguments.product("tokens * kv_heads * head_dim",
                                              {tokens, cache.kv_heads, cache.head_dim});
    arguments.device("k", reinterpret_cast<const uint4*>(k), numbers / 8)
        .device("v", reinterpret_cast<const uint4*>(v), numbers / 8)
        .device("sequences", sequences, tokens)
        .device("positions", positions, tokens);
    return tokens > 0;
}

/// True if there are rows of q. Throws wb::InvalidArgument.
inline bool attention_has_work(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               const __nv_bfloat16* o,
                               const float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace) {
    const wb::Arguments arguments("paged_attention");
    wb::check_paged_cache(arguments, cache);
    arguments.positive("query_heads", query_heads)
        .require(query_heads % cache.kv_heads == 0,
                 "query_heads",
                 query_heads,
                 "must be a multiple of cache.kv_heads")
        .magnitude("scale", scale, wb::kMaxScale);
    const int64_t rows =
        arguments.product("batch * query_heads", {cache.batch, query_heads});
    const int64_t numbers =
        arguments.product("batch * query_heads * head_dim", {rows, cache.head_dim});
    arguments.device("q", reinterpret_cast<const uint4*>(q), numbers / 8)
        .device("o", reinterpret_cast<const uint4*>(o), numbers / 8)
        .device("lse", lse, lse == nullptr ? 0 : rows)
        .require(workspace.num_counters() >= rows,
                 "workspace.num_counters",
                 workspace.num_counters(),
                 "must be at least batch * query_heads");
    return rows > 0;
}
