// Grades day03-parallel-patterns/08-dynamic-embedding: many threads that insert the
// same keys, and how often a key is there.
#include "insert_cases.h"

#include <cmath>
#include <list>
#include <unordered_map>

using namespace table_cases;
using wb::reference::Buckets;
using wb::reference::Evict;
using wb::testing::FewBlocks;

TEST_CASE("a count that is reset while others count: nothing is lost") {
    // A new key takes the slot of one that was used 20 times, and occurs 300 times.
    const auto keys = wb::reference::keys_of_bucket(0, 1, 16);
    const HostTable host = full_bucket(Policy::lfu, keys);
    std::vector<uint64_t> last;
    for (int i = 0; i < 300; ++i)
        last.push_back(keys[at(i % 3 == 0 ? 13 + i % 2 * 2 : 14)]);
    std::map<uint64_t, int> times;
    for (const uint64_t key : last)
        ++times[key];
    in_orders({0, 1, 2, 3, 4}, [&] {
        const FewBlocks few(2);
        for (const auto& [name, idea, insert] : inserts()) {
            auto outcome = run_calls(name, insert, host, {last}, 0, 0, "300 uses");
            const uint32_t before = host.counts[13];
            for (const auto& [key, count] : times) {
                const uint32_t old = key == keys[13] ? before : 0;
                const auto right = old + static_cast<uint32_t>(count);
                if (outcome.table.counts[at(outcome.table.slot_of(key))] != right)
                    wrong("uses were lost, or those of the key before were kept");
            }
        }
    });
}

TEST_CASE("the least of several leaves while its count changes") {
    // Each new key occurs twelve times. The count of a slot that it takes is soon
    // larger than those of the slots that are left: a thread that takes this for the
    // slot's worth claims a second one.
    const auto keys = wb::reference::keys_of_bucket(0, 1, 28);
    HostTable host({1, 2, 5, 1, Policy::lfu});
    for (int i = 0; i < kPlaces; ++i)
        host.insert(keys[at(i)], 1, static_cast<uint32_t>(1 + i % 3));
    std::vector<uint64_t> last;
    for (int i = 0; i < 12 * 9; ++i)
        last.push_back(keys[at(kPlaces + i % 9)]);
    in_orders({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, [&] {
        for (const auto& [name, idea, insert] : inserts()) {
            auto outcome = run_calls(name, insert, host, {last}, 0, 0, "nine new keys");
            expect_slots(outcome, last, 0, "nine new keys");
            for (int i = 0; i < kPlaces; ++i)
                if (host.counts[at(i)] == 3 && outcome.table.slot_of(keys[at(i)]) != i)
                    wrong("a key that was used more often than others had to leave");
        }
    });
}

TEST_CASE("many threads, many calls: nothing is lost") {
#ifdef SIMT_CPU
    const auto seed = GENERATE(as<unsigned>(), 0, 1, 2, 3, 4, 5);
    constexpr int64_t kCalls = 3, kCount = 260, kBuckets = 20;
#else
    const unsigned seed = 0;
    constexpr int64_t kCalls = 10, kCount = 1'000'000, kBuckets = 1 << 16;
#endif
    // At most 0.99 of the slots are taken, and a key may be in any bucket.
    const int64_t different = kBuckets * kPlaces * 99 / 100;
    const auto all = some_keys(different, 11);
    wb::testing::Random random(seed);
    std::unordered_map<uint64_t, uint64_t> times;
    Calls calls(at(kCalls));
    for (auto& call : calls)
        for (int64_t i = 0; i < kCount; ++i) {
            call.push_back(all[at(i % 2 == 0 ? random.below(different)
                                             : zipf(random, different))]);
            ++times[call.back()];
        }
    const FewBlocks few(seed % 2 == 0 ? 16 : 2);
    wb::testing::shuffle_threads(seed);
    const TableShape shape = {kBuckets, 1, kPlaces / 2, kBuckets, Policy::lfu};
    const std::string text = "seed " + std::to_string(seed);
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, HostTable(shape), calls, 0, 0, text);
        expect_slots(outcome, calls.back(), 0, text);
        for (const auto& [key, count] : times) {
            const int32_t slot = outcome.table.slot_of(key);
            if (slot < 0 || outcome.table.counts[at(slot)] != count)
                wrong("key " + std::to_string(key) + " was used " +
                      std::to_string(count) + " times; the table has lost it, or uses");
        }
        const auto held = std::count_if(outcome.table.claims.begin(),
                                        outcome.table.claims.end(),
                                        [](uint64_t claim) { return claim != 0; });
        if (held != static_cast<int64_t>(times.size()))
            wrong("the table has keys that nobody inserted");
    }
    wb::testing::shuffle_threads(0);
}

namespace {

/// Hits of a cache that holds `capacity` keys and drops the least recently used one.
int64_t hits_of_lru(const std::vector<uint64_t>& keys, std::size_t capacity) {
    std::list<uint64_t> recent;
    std::unordered_map<uint64_t, std::list<uint64_t>::iterator> places;
    int64_t hits = 0;
    for (const uint64_t key : keys) {
        const auto found = places.find(key);
        if (found != places.end()) {
            ++hits;
            recent.erase(found->second);
        } else if (places.size() == capacity) {
            places.erase(recent.back());
            recent.pop_back();
        }
        recent.push_front(key);
        places[key] = recent.begin();
    }
    return hits;
}

}  // namespace

TEST_CASE("how many keys of a Zipf stream are there") {
    // Bounds: a call's keys come at once, and a bucket has 14 keys where a cache would
    // choose among all. The model has both, and differs in ties alone: within 0.01.
    // The cache has neither: within 0.08.
    const bool lru = GENERATE(true, false);
    constexpr int64_t kBuckets = 16, kCalls = 60, kCount = 64;
    const auto all = some_keys(2000, 3);
    wb::testing::Random random(8);
    Buckets model(kBuckets, kPlaces, lru ? Evict::lru : Evict::lfu);
    std::vector<uint64_t> keys;
    for (int64_t call = 0; call < kCalls; ++call) {
        std::vector<uint64_t> now;
        for (int64_t i = 0; i < kCount; ++i)
            now.push_back(all[at(zipf(random, 2000))]);
        (void)model.insert_or_find(now);
        keys.insert(keys.end(), now.begin(), now.end());
    }
    const auto n = static_cast<int64_t>(keys.size());
    Grader grade("table_insert_or_find", lru ? "a Zipf stream, lru" : "Zipf, lfu");
    const TableShape shape = {kBuckets, 1, kPlaces, 1, lru ? Policy::lru : Policy::lfu};
    const DeviceTable device(grade, HostTable(shape));
    const uint64_t* d_keys = grade.input("keys", keys);
    int32_t* d_found = grade.output<int32_t>("found", {n});
    int32_t* d_slots = grade.output<int32_t>("slots", {n});
    grade.run([&](cudaStream_t stream) {
        for (int64_t i = 0; i < n; i += kCount) {
            table_find(device.get(), d_keys + i, d_found + i, kCount, stream);
            table_insert_or_find(
                device.get(), d_keys + i, nullptr, d_slots + i, kCount, stream);
        }
    });
    int64_t hits = 0;
    for (const double slot : grade.read("found"))
        hits += slot >= 0.0 ? 1 : 0;
    const auto rate = [&](int64_t count) {
        return static_cast<double>(count) / static_cast<double>(n);
    };
    const double cache = rate(hits_of_lru(keys, at(kBuckets * kPlaces)));
    const std::string text = std::to_string(rate(hits)) + " of the keys were there; " +
                             std::to_string(rate(model.hits())) + " in the model, " +
                             std::to_string(cache) + " in a cache";
    INFO(text);
    if (std::abs(rate(hits) - rate(model.hits())) > 0.01) wrong("hits: " + text);
    if (lru && std::abs(rate(hits) - cache) > 0.08) wrong("hits: " + text);
    CHECK(hits > 0);
}
