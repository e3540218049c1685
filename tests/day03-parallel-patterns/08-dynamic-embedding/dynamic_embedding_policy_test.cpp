// Grades day03-parallel-patterns/08-dynamic-embedding: which key has to leave.
#include "insert_cases.h"

using namespace table_cases;
using wb::reference::Buckets;
using wb::reference::Evict;

TEST_CASE("the least recently or least often used key leaves") {
    const bool lru = GENERATE(true, false);
    constexpr int64_t kBuckets = 3;
    std::vector<std::vector<uint64_t>> pools;
    for (int64_t bucket = 0; bucket < kBuckets; ++bucket)
        pools.push_back(wb::reference::keys_of_bucket(bucket, kBuckets, 24));
    wb::testing::Random random(1);
    Buckets model(kBuckets, kPlaces, lru ? Evict::lru : Evict::lfu);
    Calls calls;
    for (int call = 0; call < 70; ++call) {
        // One key a bucket, so that no two were used at the same time; up to three
        // times.
        std::vector<uint64_t> keys;
        for (const auto& pool : pools)
            keys.insert(
                keys.end(), at(1 + random.below(3)), pool[at(zipf(random, 24))]);
        REQUIRE(model.insert_or_find(keys) == 0);
        calls.push_back(keys);
    }
    const TableShape shape = {kBuckets, 2, 7, 1, lru ? Policy::lru : Policy::lfu};
    const std::string text = lru ? "70 calls, lru" : "70 calls, lfu";
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, HostTable(shape), calls, 0, 0, text);
        expect_keys(outcome.table, model.all(), text);
        expect_slots(outcome, calls.back(), 0, text);
    }
}

TEST_CASE("keys of the same call do not leave: those found, and those inserted") {
    const auto policy = GENERATE(Policy::lru, Policy::lfu);
    const auto keys = wb::reference::keys_of_bucket(0, 1, 40);
    const HostTable host = full_bucket(policy, keys);
    // Five are there, nine slots are left for twelve new ones, each of them three
    // times: three are refused, nine times.
    std::vector<uint64_t> last;
    for (int time = 0; time < 3; ++time)
        for (int i = 9; i < 26; ++i)
            last.push_back(keys[at(i)]);
    in_orders({0, 1, 2, 3, 4, 5, 6}, [&] {
        for (const auto& [name, idea, insert] : inserts()) {
            auto outcome = run_calls(name, insert, host, {last}, 9, 0, "a full bucket");
            expect_slots(outcome, last, 9, "a full bucket");
            for (int i = 9; i < 14; ++i)
                if (outcome.table.slot_of(keys[at(i)]) != i)
                    wrong("a key that was found in this call had to leave");
        }
    });
}

TEST_CASE("one new key, and all but one were used in the same call") {
    const auto policy = GENERATE(Policy::lru, Policy::lfu);
    const auto keys = wb::reference::keys_of_bucket(0, 1, 20);
    const HostTable host = full_bucket(policy, keys);
    std::vector<uint64_t> last;
    for (int i = 0; i < 15; ++i)
        if (i != 6) last.push_back(keys[at(i)]);
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, host, {last}, 0, 0, "key 7 may leave");
        expect_slots(outcome, last, 0, "key 7 may leave");
        if (outcome.table.slot_of(keys[14]) != 6) wrong("another key had to leave");
    }
}

TEST_CASE("no key leaves while there is a free place in the window") {
    // Used once, by the first call: worth as little as a key can be.
    const auto policy = GENERATE(Policy::lru, Policy::lfu);
    const auto keys = wb::reference::keys_of_bucket(1, 2, 15);
    HostTable host({2, 1, kPlaces, 2, policy});
    for (int i = 0; i < 14; ++i)
        host.insert(keys[at(i)], 1, 0);
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, host, {{keys[14]}}, 0, 0, "one key");
        if (outcome.slots[0] != 0) wrong("a key had to leave");
    }
}

TEST_CASE("the least of the whole window leaves, of equals the first") {
    // Both buckets are full; the search begins in bucket 1.
    const auto policy = GENERATE(Policy::lru, Policy::lfu);
    const auto keys = wb::reference::keys_of_bucket(1, 2, 29);
    const auto grade = [&](int64_t oldest, int64_t equal, int64_t right) {
        HostTable host({2, 1, kPlaces, 2, policy});
        for (int i = 0; i < 28; ++i)
            host.insert(keys[at(i)], 9, 9);
        for (const int64_t slot : {oldest, equal}) {
            host.claims[at(slot)] = uint64_t{5} << 32;
            host.counts[at(slot)] = 3;
        }
        const std::string text = "slots " + std::to_string(oldest) + " and " +
                                 std::to_string(equal) + " are worth least";
        for (const auto& [name, idea, insert] : inserts()) {
            auto outcome = run_calls(name, insert, host, {{keys[28]}}, 0, 0, text);
            if (outcome.slots[0] != right) wrong("another key had to leave: " + text);
        }
    };
    grade(3, 3, 3);
    grade(27, 27, 27);
    grade(2, 20, 20);
    grade(25, 16, 16);
    grade(0, 13, 0);
}

TEST_CASE("clocks and counts of any size say who leaves") {
    // All others have a bit that the least one has not, and none of its lower ones.
    const auto policy = GENERATE(Policy::lru, Policy::lfu);
    const auto bit = GENERATE(8, 16, 24, 31);
    const auto keys = wb::reference::keys_of_bucket(0, 1, kPlaces + 1);
    const uint32_t large = uint32_t{1} << bit;
    HostTable host({1, 1, kPlaces, 1, policy});
    for (int i = 0; i < kPlaces; ++i)
        host.insert(keys[at(i)], large, large);
    host.claims[9] = uint64_t{large - 1} << 32;
    host.counts[9] = large - 1;
    const std::string text = "others were used 2^" + std::to_string(bit) + " times";
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, host, {{keys[kPlaces]}}, 0, 0, text);
        if (outcome.slots[0] != 9) wrong("another key had to leave: " + text);
    }
}
