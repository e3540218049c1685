// gqa-cache.cpp: which key/value head a query head reads, and how large caches are, by
// wb::AttentionShape, wb::PagedCache and the reference of attention. For the figure
// <GqaCache />.
#include <json.h>
#include <wb/attention.h>
#include <wb/paged_cache.h>
#include <wb/reference/attention.h>

#include <cstdint>
#include <vector>

using truth::Json;

/// The key/value head of each query head: where the reference finds its first key.
static void write_sharing(Json* json, int64_t query_heads, int64_t kv_heads) {
    const wb::AttentionShape shape{.query_heads = query_heads,
                                   .kv_heads = kv_heads,
                                   .queries = 1,
                                   .keys = 2,
                                   .head_dim = 4};
    const std::vector<float> q(static_cast<size_t>(shape.query_elements()));
    const std::vector<float> k(static_cast<size_t>(shape.kv_elements()));
    json->open('{').member("queryHeads", query_heads).member("kvHeads", kv_heads);
    json->key("kvHeadOf").open('[');
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const auto result = wb::reference::attention_row(shape, q, k, row);
        json->value(result.first_kv / (shape.keys * shape.head_dim));
    }
    json->close(']').close('}');
}

/// A model whose cache is asked for.
struct Model {
    int64_t layers, query_heads, kv_heads, head_dim, type_bytes;
    int64_t tokens, batch, page_size;
};

static void write_cache(Json* json, const Model& model) {
    wb::AttentionShape layer{.batch = model.batch,
                             .query_heads = model.query_heads,
                             .kv_heads = model.kv_heads,
                             .queries = 1,
                             .keys = model.tokens,
                             .head_dim = model.head_dim};
    const int64_t k_and_v = 2 * model.layers * model.type_bytes;
    const int64_t bytes = k_and_v * layer.kv_elements();
    const auto flop = model.layers * static_cast<int64_t>(wb::attention_flop(layer));
    layer.batch = 1;
    const int64_t one_sequence = k_and_v * layer.kv_elements();
    int64_t fit = 0;
    for (int64_t used = one_sequence; used <= 80'000'000'000; used += one_sequence)
        ++fit;
    wb::PagedCache cache;
    cache.batch = model.batch;
    cache.kv_heads = model.kv_heads;
    cache.head_dim = model.head_dim;
    cache.page_size = model.page_size;
    while (cache.capacity() < model.tokens)
        ++cache.pages_per_sequence;
    cache.num_pages = cache.batch * cache.pages_per_sequence;

    json->open('{').key("model").open('{').member("layers", model.layers);
    json->member("queryHeads", model.query_heads).member("kvHeads", model.kv_heads);
    json->member("headDim", model.head_dim).member("typeBytes", model.type_bytes);
    json->close('}').member("tokens", model.tokens).member("batch", model.batch);
    json->member("pageSize", model.page_size).member("bytes", bytes);
    json->member("pagedBytes", k_and_v * cache.elements());
    json->member("fit", fit).member("flop", flop).close('}');
}

int main() {
    Json json;
    json.open('{').key("sharing").open('[');
    for (const int64_t kv_heads : {8, 4, 2, 1})
        write_sharing(&json, 8, kv_heads);
    write_sharing(&json, 6, 2);
    write_sharing(&json, 32, 8);
    json.close(']').key("caches").open('[');
    for (const int64_t kv_heads : {32, 8, 1})
        write_cache(&json, {32, 32, kv_heads, 128, 2, 8192, 16, 16});
    write_cache(&json, {32, 32, 8, 128, 4, 1000, 3, 64});
    write_cache(&json, {80, 64, 8, 128, 1, 32'000, 4, 16});
    write_cache(&json, {16, 16, 16, 64, 2, 1, 1, 256});
    json.close(']').close('}').print();
}
