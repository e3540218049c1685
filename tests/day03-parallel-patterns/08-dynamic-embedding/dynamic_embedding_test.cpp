// Grades day03-parallel-patterns/08-dynamic-embedding: what is found, and what a call
// that inserts makes of a table.
#include "insert_cases.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

using namespace table_cases;
using wb::reference::Evict;
using wb::testing::FewBlocks;

namespace {

/// A table of which a share of the slots is taken, and its keys.
HostTable filled(const TableShape& shape, int64_t count, std::vector<uint64_t>& keys) {
    HostTable host(shape);
    for (const uint64_t key : some_keys(count, 5))
        if (host.insert(key) >= 0) keys.push_back(key);
    host.state[0] = 7;  // not the clock at which its keys were used
    return host;
}

/// One call with all versions, or the contract's function alone, in a table that has
/// room for all keys of a window.
void grade_new(const TableShape& shape,
               int64_t n,
               int64_t different,
               uint64_t seed,
               bool contract_alone = false) {
    const auto all = some_keys(different, seed);
    wb::testing::Random random(seed);
    std::vector<uint64_t> keys;
    std::map<uint64_t, wb::reference::Use> right;
    for (int64_t i = 0; i < n; ++i) {
        keys.push_back(all[at(i < different ? i : random.below(different))]);
        right[keys.back()].clock = 1;
        ++right[keys.back()].count;
    }
    const std::string text =
        std::to_string(right.size()) + " different, seed " + std::to_string(seed);
    for (const auto& [name, idea, insert] : inserts()) {
        if (contract_alone && insert != table_insert_or_find) continue;
        auto outcome = run_calls(name, insert, HostTable(shape), {keys}, 0, 0, text);
        expect_keys(outcome.table, right, text);
        expect_slots(outcome, keys, 0, text);
    }
}

}  // namespace

TEST_CASE("keys that are there, and keys that are not") {
    const auto n = GENERATE(as<int64_t>(), 1, 31, 32, 33, 257, 1025);
    const auto window = GENERATE(as<int64_t>(), 1, 11);
    std::vector<uint64_t> keys;
    HostTable host = filled({11, 1, kPlaces, window, Policy::lfu}, 77, keys);
    const auto missing = some_keys(n, 6);
    std::vector<uint64_t> asked;
    for (int64_t i = 0; i < n; ++i)
        asked.push_back(i % 3 == 2 ? missing[at(i)] : keys[at(i % 70)]);
    grade_find(host, asked, "load 0.5");
}

TEST_CASE("more than 2^16 keys are looked for", "[long]") {
    std::vector<uint64_t> keys;
    HostTable host = filled({11, 1, kPlaces, 11, Policy::lru}, 77, keys);
    const auto missing = some_keys(100, 6);
    std::vector<uint64_t> asked;
    for (std::size_t i = 0; i < 65'541; ++i)
        asked.push_back(i % 7 == 2 ? missing[i % 100] : keys[i % keys.size()]);
    grade_find(host, asked, "many keys");
}

TEST_CASE("a full table, in which the search goes round") {
    std::vector<uint64_t> keys;
    HostTable host = filled({3, 1, kPlaces, 3, Policy::lru}, 42, keys);
    for (const uint64_t key : some_keys(50, 6))
        keys.push_back(key);
    keys.push_back(kNoKey);
    grade_find(host, keys, "load 1");
}

TEST_CASE("keys of one bucket and one digest") {
    // Digests say nothing here: keys decide.
    HostTable host({4, 1, kPlaces, 4, Policy::none});
    std::vector<uint64_t> keys;
    for (uint64_t key = 1; keys.size() < 20; ++key)
        if (wb::reference::home_bucket(key, 4) == 3 && digest_of(key) == 7)
            keys.push_back(key);
    for (int i = 0; i < 16; ++i)
        host.insert(keys[at(i)]);
    grade_find(host, keys, "one digest");
}

TEST_CASE("each digest, at each place") {
    HostTable host({1, 1, kPlaces, 1, Policy::none});
    std::vector<uint64_t> keys(255, 0);
    for (uint64_t key = 1, found = 0; found < 255; ++key)
        if (keys[digest_of(key)] == 0) {
            keys[digest_of(key)] = key;
            ++found;
        }
    const auto first = GENERATE(as<std::size_t>(), 0, 120, 241);
    for (std::size_t i = 0; i < kPlaces; ++i)
        host.insert(keys[first + i]);
    grade_find(host, keys, "digests 0 to 254");
}

TEST_CASE("a bucket is full if its last digest is the largest") {
    // 254 is one bit from 255, which is no digest.
    HostTable host({2, 1, kPlaces, 2, Policy::none});
    std::vector<uint64_t> keys = wb::reference::keys_of_bucket(0, 2, kPlaces - 1);
    for (uint64_t key = 100; keys.size() < kPlaces; ++key)
        if (wb::reference::home_bucket(key, 2) == 0 && digest_of(key) == 254)
            keys.push_back(key);
    keys.push_back(wb::reference::keys_of_bucket(0, 2, 1, 100'000)[0]);
    for (const uint64_t key : keys)
        host.insert(key);
    grade_find(host, keys, "the last digest of a bucket is 254");
}

TEST_CASE("once more in the same table, with another window") {
    // Two buckets are full of keys whose home is the first one.
    const auto keys = wb::reference::keys_of_bucket(0, 5, 2 * kPlaces);
    HostTable host({5, 1, kPlaces, 2, Policy::none});
    std::vector<double> right;
    for (const uint64_t key : keys)
        right.push_back(host.insert(key));
    const auto n = static_cast<int64_t>(keys.size());
    for (const auto& [name, idea, find] :
         wb::implementations("table_find", table_find)) {
        Grader grade(name, "as before but for the window");
        const DeviceTable device(grade, host);
        const uint64_t* d_keys = grade.input("keys", keys);
        int32_t* d_slots = grade.output<int32_t>("slots", {n});
        grade.run([&, find = find](cudaStream_t stream) {
            Table table = device.get();
            for (const int64_t window : {1, 2}) {
                table.window = window;
                find(table, d_keys, d_slots, n, stream);
            }
        });
        grade.expect("slots", right, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("keys that are kNoKey are found nowhere, and are counted") {
    HostTable host({3, 1, kPlaces, 2, Policy::none});
    host.insert(9);
    grade_find(host, {kNoKey, 9, 8, kNoKey, kNoKey - 1, 0}, "three keys are kNoKey");
}

TEST_CASE("a key has 64 bits: 0, the largest, and keys that differ in one upper bit") {
    std::vector<uint64_t> keys = {0, kNoKey - 1};
    for (int bit = 52; bit < 64; ++bit)
        keys.push_back(uint64_t{1} << bit | 5);
    const TableShape shape = {2, 3, kPlaces, 2, Policy::lfu};
    HostTable host(shape);
    std::map<uint64_t, wb::reference::Use> right;
    for (const uint64_t key : keys) {
        host.insert(key);
        right[key] = {1, 1};
    }
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome =
            run_calls(name, insert, HostTable(shape), {keys}, 0, 0, "64 bits");
        expect_keys(outcome.table, right, "64 bits");
        expect_slots(outcome, keys, 0, "64 bits");
    }
    keys.push_back(5);
    keys.push_back(uint64_t{1} << 63);
    grade_find(host, keys, "64 bits");
}

TEST_CASE("new keys get slots, one each") {
    const auto n = GENERATE(as<int64_t>(), 1, 15, 16, 17, 33, 257, 600);
    grade_new({50, 3, 10, 50, Policy::none}, n, n, 1);
}

TEST_CASE("more than 2^16 keys, more than 2^16 buckets", "[long]") {
    grade_new({66'007, 1, 7, 16, Policy::lfu}, 70'001, 65'700, 9, true);
}

TEST_CASE("rows of more than 1024 packs") {
    grade_new({1, 4104, kPlaces / 2, 1, Policy::lru}, 14, 13, 8);
}

TEST_CASE("a key that occurs often in a call gets one slot") {
    const auto different = GENERATE(as<int64_t>(), 1, 2, 40);
    grade_new({7, 2, kPlaces, 3, Policy::lfu}, 700, different, 2);
}

TEST_CASE("load 0.5, 0.9 and 1: nothing is lost, in any order of threads") {
    const auto seed = GENERATE(as<unsigned>(), 0, 1, 2, 3, 4);
    const auto count = GENERATE(as<int64_t>(), 63, 113, 126);
    wb::testing::shuffle_threads(seed);
    grade_new({9, 1, kPlaces, 9, Policy::lfu}, count + 200, count, 3);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("blocks of which few have room at a time, the last one first") {
    const FewBlocks few(GENERATE(1u, 2u));
    grade_new({9, 1, kPlaces, 9, Policy::lru}, 900, 126, 4);
}

TEST_CASE("keys that collide on purpose go to the next buckets of the window") {
    const auto window = GENERATE(as<int64_t>(), 1, 2, 5);
    const int64_t room = window * kPlaces;
    for (const int64_t count : {room - 1, room, room + 1, room + 40}) {
        const TableShape shape = {5, 1, kPlaces, window, Policy::none};
        const auto keys = wb::reference::keys_of_bucket(4, 5, count);
        const int64_t refused = std::max(int64_t{0}, count - room);
        const std::string text = "one bucket, window " + std::to_string(window);
        for (const auto& [name, idea, insert] : inserts()) {
            auto outcome =
                run_calls(name, insert, HostTable(shape), {keys}, refused, 0, text);
            expect_slots(outcome, keys, refused, text);
        }
    }
}

TEST_CASE("keys that differ in their upper bits alone are spread over the table") {
    const TableShape shape = {64, 1, kPlaces, 2, Policy::none};
    std::vector<uint64_t> keys;
    HostTable host(shape);
    for (uint64_t key = 1; key <= 300; ++key) {
        keys.push_back(key << 40);
        REQUIRE(host.insert(key << 40) >= 0);
    }
    for (const auto& [name, idea, insert] : inserts())
        (void)run_calls(name, insert, HostTable(shape), {keys}, 0, 0, "multiples");
}

TEST_CASE("growth is refused: each occurrence is counted, and nothing is written") {
    const auto keys = wb::reference::keys_of_bucket(0, 2, kPlaces + 3);
    HostTable host({2, 2, 3, 1, Policy::none});
    for (int i = 0; i < kPlaces; ++i)
        host.insert(keys[at(i)], 4, 2);
    const uint64_t a = keys[kPlaces], b = keys[kPlaces + 1];
    const std::vector<uint64_t> last = {a, keys[0], b, a, kNoKey, a};
    for (const auto& [name, idea, insert] : inserts()) {
        auto outcome = run_calls(name, insert, host, {last}, 4, 1, "a full bucket");
        if (outcome.table.lines != host.lines) wrong("a refused key was written");
        if (outcome.slots[1] != 0 || outcome.slots[4] != -1)
            wrong("slots of a key that is there, or of kNoKey, are wrong");
    }
}

TEST_CASE("rows of new keys are zero if there are none given") {
    for (const auto& [name, idea, insert] : inserts()) {
        Grader grade(name, "initial is null");
        const DeviceTable device(
            grade, HostTable({1, 5, kPlaces, 1, Policy::lru}), Rows::floats);
        const uint64_t* d_keys = grade.input("keys", std::vector<uint64_t>{7, 7, 7});
        int32_t* d_slots = grade.output<int32_t>("slots", {3});
        grade.run([&, insert = insert](cudaStream_t stream) {
            insert(device.get(), d_keys, nullptr, d_slots, 3, stream);
        });
        grade.expect("slots", {0.0, 0.0, 0.0}, [](int64_t) { return 0.0; });
        std::vector<double> rows(kPlaces * 5, double{-1e30f});
        std::fill(rows.begin(), rows.begin() + 5, 0.0);
        grade.expect("hot rows", rows, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("rows of keys that are there stay, and new ones are written") {
    HostTable host({1, 3, kPlaces, 1, Policy::lru});
    for (const uint64_t key : {7, 8, 9})
        host.insert(key);
    for (const auto& [name, idea, insert] : inserts()) {
        Grader grade(name, "three keys are there, two are new");
        const DeviceTable device(grade, host, Rows::floats);
        const std::vector<uint64_t> keys = {8, 10, 9, 8, 10, 7, 11, 11};
        const uint64_t* d_keys = grade.input("keys", keys);
        // Rows by their key: which of 10 and 11 comes first is not known.
        std::vector<float> rows;
        for (const uint64_t key : keys)
            rows.insert(rows.end(), 3, static_cast<float>(key));
        const float* d_rows = grade.input("initial", rows);
        int32_t* d_slots = grade.output<int32_t>("slots", {8});
        float* d_out = grade.output<float>("out", {24});
        grade.run([&, insert = insert](cudaStream_t stream) {
            insert(device.get(), d_keys, d_rows, d_slots, 8, stream);
            table_lookup(device.get(), d_slots, d_out, 8, stream);
        });
        std::vector<double> right;
        for (const uint64_t key : keys)
            for (int64_t col = 0; col < 3; ++col)
                right.push_back(key < 10 ? value_of(key, col)
                                         : static_cast<float>(key));
        grade.expect("out", right, [](int64_t) { return 0.0; });
    }
}

TEST_CASE("calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_new({3, 2, kPlaces, 3, Policy::lru}, 30, 20, 5);
        },
        [] {
            grade_new({9, 4, 5, 9, Policy::lfu}, 1100, 60, 6);
        });
}

TEST_CASE("edges meet: sizes, columns, hot places, windows, policies") {
    static const auto cases = wb::testing::Covering()
                                  .factor("n", {1, 16, 33, 256, 400})
                                  .factor("different", {1, 9, 14, 40})
                                  .factor("buckets", {4, 5, 16, 31})
                                  .factor("cols", {1, 3, 4, 8, 132})
                                  .factor("hot", {0, 1, 13, 14})
                                  .factor("policy", {"none", "lru", "lfu"})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const TableShape shape = {c["buckets"],
                                      c["cols"],
                                      static_cast<int>(c["hot"]),
                                      c["buckets"],
                                      static_cast<Policy>(c["policy"])};
            grade_new(shape, c["n"], std::min(c["n"], c["different"]), 7);
        }
}
