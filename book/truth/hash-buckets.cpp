// hash-buckets.cpp: hashes of some keys, and which slots table_insert_or_find() gives
// them in a full table, with each policy. For the figure <HashBuckets />.
#include <json.h>
#include <wb/check.h>
#include <wb/scratch.h>

#include <cstdint>
#include <vector>

#include "dynamic_embedding.h"
#include "table_memory.h"

using truth::Json;

static void write_hashes(Json* json) {
    json->key("hashes").open('[');
    for (const uint64_t key : {1ull, 2ull, 77ull, 123456789012345ull}) {
        json->open('{').member("key", key).key("homes").open('[');
        for (const int64_t buckets : {1, 4, 1024, 1000003})
            json->value(home_of(key, buckets));
        json->close(']').member("digest", int{digest_of(key)}).close('}');
    }
    json->close(']');
}

/// The slot of a key that occurs `times` in a call.
static int32_t slot_of(const Table& table, uint64_t key, int64_t times) {
    const std::vector<uint64_t> same(static_cast<size_t>(times), key);
    const wb::Scratch<uint64_t> keys(times, nullptr);
    const wb::Scratch<int32_t> slots(times, nullptr);
    CUDA_CHECK(cudaMemcpy(keys.data(),
                          same.data(),
                          same.size() * sizeof(uint64_t),
                          cudaMemcpyHostToDevice));
    table_insert_or_find(table, keys.data(), nullptr, slots.data(), times, nullptr);
    int32_t slot = 0;
    CUDA_CHECK(cudaMemcpy(&slot, slots.data(), sizeof slot, cudaMemcpyDeviceToHost));
    return slot;
}

/// Calls of one key each, which may occur more than once in it: then the slot does not
/// depend on the order of threads.
static void write_calls(Json* json, Policy policy, const char* name) {
    constexpr int64_t kBuckets = 3;
    const TableMemory memory(
        {.num_buckets = kBuckets, .cols = 1, .window = 2, .policy = policy});
    const Table& table = memory.table();
    json->open('{').member("policy", name).member("buckets", kBuckets);
    json->member("places", kPlaces).member("window", table.window);
    json->key("calls").open('[');
    uint64_t random = 1;
    for (int call = 0; call < 150; ++call) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const uint64_t key = 1 + (random >> 33) % 70;
        const auto times = static_cast<int64_t>(1 + (random >> 60) % 3);
        json->open('[')
            .value(key)
            .value(times)
            .value(slot_of(table, key, times))
            .close(']');
    }
    json->close(']').close('}');
}

int main() {
    Json json;
    json.open('{');
    write_hashes(&json);
    json.key("tables").open('[');
    write_calls(&json, Policy::none, "none");
    write_calls(&json, Policy::lru, "lru");
    write_calls(&json, Policy::lfu, "lfu");
    json.close(']').close('}').print();
}
