// Times day06-llm-attention/03-grouped-query-attention: a prompt, which is arithmetic,
// and one token, which is nothing but reading the cache.
#include "grouped_query_attention.h"

#include <wb/bench/attention.h>
#include <wb/bench/bench.h>

using namespace wb::bench;

namespace {

wb::AttentionShape grouped(int64_t batch,
                           int64_t query_heads,
                           int64_t kv_heads,
                           int64_t queries,
                           int64_t keys,
                           int64_t head_dim) {
    auto shape =
        plain_attention(batch, query_heads, queries, keys, head_dim, queries > 1);
    shape.kv_heads = kv_heads;
    return shape;
}

}  // namespace

WB_BENCH(grouped_query_attention, bench) {
    const auto tokens =
        bench.sizes<wb::AttentionShape>({grouped(1, 4, 2, 1, 40, 32)},
                                        {grouped(16, 32, 8, 1, 4096, 128)},
                                        {grouped(16, 32, 32, 1, 4096, 128),
                                         grouped(16, 32, 8, 1, 4096, 128),
                                         grouped(16, 32, 4, 1, 4096, 128),
                                         grouped(64, 32, 8, 1, 4096, 128)});
    for (const auto& shape : tokens) {
        time_attention(bench,
                       "grouped_query_attention",
                       grouped_query_attention,
                       shape,
                       0.0,
                       Ceiling::read);
    }
    // The last size is what a second stage's medal is about.
    const auto prompts = bench.sizes<wb::AttentionShape>(
        {grouped(1, 4, 2, 40, 40, 32)},
        {grouped(1, 8, 2, 128, 128, 64), grouped(1, 32, 8, 2048, 2048, 128)},
        {grouped(1, 32, 32, 2048, 2048, 128),
         grouped(1, 32, 8, 2048, 2048, 128),
         grouped(1, 32, 1, 2048, 2048, 128)});
    for (const auto& shape : prompts) {
        time_attention(
            bench, "grouped_query_attention", grouped_query_attention, shape, 0.0);
    }
}
