// Grades day03-parallel-patterns/08-dynamic-embedding: export and import.
#include "insert_cases.h"

#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>

#include <cstring>

using namespace table_cases;

namespace {

/// Exports `host`, and imports it into another table.
void grade_round_trip(HostTable host, HostTable other, const std::string& text) {
    const int64_t capacity = host.capacity();
    const int64_t cols = host.shape.cols;
    Grader grade("table_export", text);
    const DeviceTable from(grade, host);
    Grader grade_import("table_import", text);
    const DeviceTable to(grade_import, other);
    uint64_t* d_keys = grade.output<uint64_t>("keys", {capacity});
    uint64_t* d_scores = grade.output<uint64_t>("scores", {capacity});
    uint32_t* d_rows = grade.output<uint32_t>("rows", {capacity * cols});
    int64_t* d_num = grade.output<int64_t>("num", {1});
    auto* rows = reinterpret_cast<float*>(d_rows);
    std::map<uint64_t, wb::reference::Use> right;
    for (int64_t slot = 0; slot < capacity; ++slot)
        if (host.key_at(slot) != kNoKey)
            right[host.key_at(slot)] = {host.claims[at(slot)] >> 32,
                                        host.counts[at(slot)]};
    const auto num = static_cast<int64_t>(right.size());
    grade.run([&](cudaStream_t stream) {
        table_export(from.get(), d_keys, d_scores, rows, d_num, stream);
    });
    grade.expect("num", {static_cast<double>(num)}, [](int64_t) { return 0.0; });
    std::vector<uint64_t> keys(at(capacity)), scores(at(capacity));
    const std::size_t bytes = at(capacity) * sizeof(uint64_t);
    CUDA_CHECK(cudaMemcpy(keys.data(), d_keys, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(scores.data(), d_scores, bytes, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < capacity; ++i) {
        if (i >= num && (keys[at(i)] != kNoKey || scores[at(i)] != ~uint64_t{0}))
            wrong("more is written than there are keys");
        if (i >= num) continue;
        const auto use = right.find(keys[at(i)]);
        if (use == right.end() ||
            scores[at(i)] != (use->second.count << 32 | use->second.clock))
            wrong("key " + std::to_string(keys[at(i)]) + " or its score is wrong");
    }
    for (int64_t slot = 0; slot < other.capacity(); ++slot)
        if (other.key_at(slot) != kNoKey && right.count(other.key_at(slot)) == 0)
            right[other.key_at(slot)] = {other.claims[at(slot)] >> 32,
                                         other.counts[at(slot)]};
    uint64_t clock = other.state[0] + (num > 0 ? 1 : 0);
    for (int64_t i = 0; i < num; ++i)
        clock = std::max(clock, scores[at(i)] & 0xFFFFFFFFu);
    grade_import.run([&](cudaStream_t stream) {
        to.with_cold(stream, [&] {
            table_import(to.get(), d_keys, d_scores, rows, num, stream);
        });
    });
    grade_import.expect(
        "state", {static_cast<double>(clock), 0.0, 0.0}, [](int64_t) { return 0.0; });
    auto after = to.read();
    expect_sound(after, text);
    expect_keys(after, right, text);
}

HostTable with_keys(const TableShape& shape, int64_t count, uint64_t seed) {
    HostTable host(shape);
    uint64_t clock = 3;
    for (const uint64_t key : some_keys(count, seed)) {
        host.insert(key, clock, static_cast<uint32_t>(clock * 2 % 11 + 1));
        clock = clock * 5 % 97 + 1;
    }
    return host;
}

}  // namespace

TEST_CASE("what is exported can be imported, into another table, too") {
    const int hot = GENERATE(0, 6, 14);
    const auto cols = GENERATE(as<int64_t>(), 3, 8, 4104);
    const auto count = GENERATE(as<int64_t>(), 0, 1, 33, 98);
    if (cols > 1000 && count > 1) return;
    const HostTable host = with_keys({7, cols, hot, 7, Policy::lfu}, count, 1);
    grade_round_trip(host, HostTable({9, cols, 5, 9, Policy::lfu}), "an empty table");
}

TEST_CASE("export and import: calls have nothing in common") {
    const auto grade = [](int64_t buckets, int64_t n) {
        const TableShape shape = {buckets, 4, 5, buckets, Policy::lfu};
        grade_round_trip(with_keys(shape, n, 2), HostTable(shape), "calls in turn");
    };
    wb::testing::expect_independent([&] { grade(3, 20); }, [&] { grade(30, 400); });
}

TEST_CASE("keys that are there already get the imported rows and scores") {
    const auto cols = GENERATE(as<int64_t>(), 4, 132, 4104);
    const HostTable host = with_keys({3, cols, 7, 3, Policy::lfu}, 20, 1);
    HostTable other = with_keys({3, cols, 7, 3, Policy::lfu}, 30, 1);
    for (uint32_t& count : other.counts)
        count = count == 0 ? 0 : 50;
    other.state[0] = 200;
    // Rows of keys that are imported are wrong before.
    for (const uint64_t key : some_keys(20, 1))
        for (const int64_t col : {int64_t{0}, cols - 1})
            other.rows[at(other.slot_of(key) * cols + col)] = 7e7f;
    grade_round_trip(host, other, "30 keys, 20 of which are imported");
}

TEST_CASE("a key that is imported twice has the row and the score of one of both") {
    Grader grade("table_import", "each key twice");
    HostTable host({3, 4, kPlaces, 3, Policy::lfu});
    const DeviceTable device(grade, host);
    std::vector<uint64_t> keys, scores;
    std::vector<uint32_t> words;
    for (uint32_t i = 0; i < 66; ++i) {
        keys.push_back(i % 33 + 1);
        scores.push_back(uint64_t{i + 1} << 32 | (i % 33 + 1));
        for (int col = 0; col < 4; ++col) {
            const auto value = static_cast<float>(i);
            uint32_t word = 0;
            std::memcpy(&word, &value, sizeof word);
            words.push_back(word);
        }
    }
    const uint64_t* d_keys = grade.input("keys", keys);
    const uint64_t* d_scores = grade.input("scores", scores);
    const auto* d_rows = reinterpret_cast<const float*>(grade.input("rows", words));
    wb::testing::shuffle_threads(3);
    grade.run([&](cudaStream_t stream) {
        device.with_cold(stream, [&] {
            table_import(device.get(), d_keys, d_scores, d_rows, 66, stream);
        });
    });
    wb::testing::shuffle_threads(0);
    auto after = device.read();
    for (uint64_t key = 1; key <= 33; ++key) {
        const int64_t slot = after.slot_of(key);
        if (slot < 0) wrong("an imported key is not there");
        const float* row = &after.rows[at(slot * 4)];
        const auto count = static_cast<float>(after.counts[at(slot)]);
        if ((after.claims[at(slot)] >> 32) != key || row[0] != count - 1.0f ||
            row[3] != row[0] || (static_cast<uint64_t>(row[0]) % 33) + 1 != key)
            wrong("row and score of key " + std::to_string(key) +
                  " are not those of one entry");
    }
}
