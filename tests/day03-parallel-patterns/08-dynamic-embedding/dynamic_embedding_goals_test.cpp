// Grades day03-parallel-patterns/08-dynamic-embedding: long searches, tables past 2^31
// floats, and goals.
#include "insert_cases.h"

#include <wb/testing/goal.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

using namespace table_cases;

TEST_CASE("a window of more than 1024 buckets") {
    constexpr int64_t kMany = 1100;
    HostTable host({kMany, 1, 0, kMany, Policy::none});
    for (int64_t slot = 0; slot < host.capacity(); ++slot) {
        host.key_at(slot) = uint64_t{1} << 52 | static_cast<uint64_t>(slot);
        *host.digest_at(slot) = digest_of(host.key_at(slot));
        host.claims[at(slot)] = uint64_t{1} << 32;
    }
    host.state[0] = 1;
    // The last place of the last bucket of the key's window.
    const int64_t home = wb::reference::home_bucket(5, kMany);
    const int64_t slot = (home + kMany - 1) % kMany * kPlaces + kPlaces - 1;
    HostTable free_place = host;
    free_place.key_at(slot) = kNoKey;
    *free_place.digest_at(slot) = 255;
    free_place.claims[at(slot)] = 0;
    for (const auto& [name, idea, insert] : inserts()) {
        Grader grade(name, "one slot is free, 1099 buckets behind the key's home");
        const DeviceTable device(grade, free_place);
        const uint64_t* d_keys = grade.input("keys", std::vector<uint64_t>{5});
        int32_t* d_slots = grade.output<int32_t>("slots", {1});
        grade.run([&, insert = insert](cudaStream_t stream) {
            insert(device.get(), d_keys, nullptr, d_slots, 1, stream);
        });
        grade.expect("slots", {static_cast<double>(slot)}, [](int64_t) { return 0.0; });
    }
    host.key_at(slot) = 5;
    *host.digest_at(slot) = digest_of(5);
    grade_find(host, {5, 6}, "1099 buckets behind its home");
}

TEST_CASE("a table of more than 2^31 floats", "[large][serial]") {
    Grader("table_find", "n = 0").expect_no_work([](cudaStream_t stream) {
        Table table = {};
        table.num_buckets = table.cols = table.window = 1;
        table_find(table, nullptr, nullptr, 0, stream);
    });
#ifdef SIMT_CPU
    WB_SKIP("2^31 floats are too much for the simulator");
#else
    // 14.7 million slots, 2.35 * 10^9 floats: rows of the last buckets begin behind
    // 2^31.
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < std::size_t{12} << 30) WB_SKIP("needs 12 GB of free GPU memory");
    constexpr int64_t kCols = 160;
    const TableShape shape = {1 << 20, kCols, kPlaces, 1, Policy::lru};
    TableMemory memory(shape);
    std::vector<uint64_t> keys;
    for (uint64_t key = 1; keys.size() < 40; ++key)
        if (wb::reference::home_bucket(key, 1 << 20) > (1 << 20) - 100)
            keys.push_back(key);
    const auto rows = rows_of(keys, kCols);
    Grader grade("table_lookup", "40 keys of the last buckets");
    const uint64_t* d_keys = grade.input("keys", keys);
    const float* d_rows = grade.input("initial", rows);
    int32_t* d_slots = grade.output<int32_t>("slots", {40});
    float* d_out = grade.output<float>("out", {40 * kCols});
    grade.run([&](cudaStream_t stream) {
        clear_table(memory.table(), stream);
        table_insert_or_find(memory.table(), d_keys, d_rows, d_slots, 40, stream);
        table_lookup(memory.table(), d_slots, d_out, 40, stream);
    });
    grade.expect("out", std::vector<double>(rows.begin(), rows.end()), [](int64_t) {
        return 0.0;
    });
#endif
}

namespace {

/// Sectors of global memory that have been loaded since the goal began.
uint64_t sectors_loaded() {
#ifdef SIMT_CPU
    return simt::check::counters("").global_load.sectors;
#else
    return 0;
#endif
}

/// Keys of a table that is nearly full, in any order, looked for by the contract's
/// function.
constexpr int64_t kGoalKeys = 1024;
void find_all_keys() {
    HostTable host({100, 4, kPlaces, 100, Policy::lru});
    std::vector<uint64_t> keys;
    std::vector<double> right;
    for (const uint64_t key : some_keys(kGoalKeys, 4))
        host.insert(key);
    for (int64_t i = 0; i < kGoalKeys; ++i) {
        keys.push_back(some_keys(kGoalKeys, 4)[at(i * 577 % kGoalKeys)]);
        right.push_back(host.slot_of(keys.back()));
    }
    Grader grade("table_find", "1024 keys that are there");
    const DeviceTable device(grade, host);
    const uint64_t* d_keys = grade.input("keys", keys);
    int32_t* d_slots = grade.output<int32_t>("slots", {kGoalKeys});
    grade.run([&](cudaStream_t stream) {
        table_find(device.get(), d_keys, d_slots, kGoalKeys, stream);
    });
    grade.expect("slots", right, [](int64_t) { return 0.0; });
}

}  // namespace

TEST_CASE("a search ends where the key is", "[.][goal]") {
    const wb::testing::Goal goal("table_find");
    find_all_keys();
    // A place after the other, a key is on average the seventh and a half of its
    // bucket, and the load adds up in sectors, of which a bucket has four.
    const uint64_t sectors = sectors_loaded();
    const uint64_t allowed = kGoalKeys * 12;
    goal.require(sectors <= allowed,
                 std::to_string(sectors) + " sectors are loaded, " +
                     std::to_string(allowed) + " would do");
}

TEST_CASE("digests before keys: two sectors a key, and few more", "[.][goal][fast]") {
    const wb::testing::Goal goal("table_find");
    find_all_keys();
    const uint64_t sectors = sectors_loaded();
    const uint64_t allowed = kGoalKeys * 3;
    goal.require(sectors <= allowed,
                 std::to_string(sectors) + " sectors are loaded, " +
                     std::to_string(allowed) + " would do");
}
