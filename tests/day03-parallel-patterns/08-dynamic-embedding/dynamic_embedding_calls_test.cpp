// Grades day03-parallel-patterns/08-dynamic-embedding: what is refused, and streams.
#include "insert_cases.h"

#include <limits>

using namespace table_cases;
using wb::testing::expect_refused;

namespace {

/// A table with memory, and arrays that suit it.
struct Arrays {
    Grader grade{"table_find", "wrong arguments"};
    DeviceTable device{grade, HostTable({2, 4, 9, 2, Policy::lru})};
    Table table = device.get();
    uint64_t* keys = grade.output<uint64_t>("keys", {64});
    uint64_t* scores = grade.output<uint64_t>("scores", {64});
    int32_t* slots = grade.output<int32_t>("slots", {64});
    float* rows = grade.output<float>("rows", {256});
    int64_t* num = grade.output<int64_t>("num", {1});
};

/// A call of each function with a table and n.
using AnyCall = std::function<void(const Table&, int64_t, cudaStream_t)>;
std::vector<std::pair<std::string, AnyCall>> all_calls(Arrays& a) {
    using Stream = cudaStream_t;
    return {{"table_find",
             [&](const Table& t, int64_t n, Stream s) {
                 table_find(t, a.keys, a.slots, n, s);
             }},
            {"table_insert_or_find",
             [&](const Table& t, int64_t n, Stream s) {
                 table_insert_or_find(t, a.keys, a.rows, a.slots, n, s);
             }},
            {"table_lookup",
             [&](const Table& t, int64_t n, Stream s) {
                 table_lookup(t, a.slots, a.rows, n, s);
             }},
            {"table_backward",
             [&](const Table& t, int64_t n, Stream s) {
                 table_backward(t, a.slots, a.rows, 1.0f, n, s);
             }},
            {"table_backward_sorted",
             [&](const Table& t, int64_t n, Stream s) {
                 table_backward_sorted(t, a.slots, a.rows, 1.0f, n, s);
             }},
            {"table_import",
             [&](const Table& t, int64_t n, Stream s) {
                 table_import(t, a.keys, a.scores, a.rows, n, s);
             }},
            {"table_export", [&](const Table& t, int64_t, Stream s) {
                 table_export(t, a.keys, a.scores, a.rows, a.num, s);
             }}};
}

}  // namespace

TEST_CASE("wrong tables are refused by name, by all functions") {
    Arrays a;
    float host[8] = {};
    const auto refuse = [&](const char* part, auto change) {
        Table table = a.table;
        change(table);
        for (const auto& [name, call] : all_calls(a))
            expect_refused(name, part, name + ": " + part, [&, call = call] {
                call(table, 8, nullptr);
            });
    };
    refuse("num_buckets is 0", [](Table& t) { t.num_buckets = 0; });
    refuse("num_buckets is 134217729", [](Table& t) { t.num_buckets = (1 << 27) + 1; });
    refuse("cols is 0", [](Table& t) { t.cols = 0; });
    refuse("cols is 1048577", [](Table& t) { t.cols = (1 << 20) + 1; });
    refuse("hot_places is -1", [](Table& t) { t.hot_places = -1; });
    refuse("hot_places is 15", [](Table& t) { t.hot_places = 15; });
    refuse("window is 0", [](Table& t) { t.window = 0; });
    refuse("window is 3", [](Table& t) { t.window = 3; });
    refuse("policy is 3", [](Table& t) { t.policy = static_cast<Policy>(3); });
    refuse("policy is -1", [](Table& t) { t.policy = static_cast<Policy>(-1); });
    refuse("buckets is a null pointer", [](Table& t) { t.buckets = nullptr; });
    refuse("buckets is not aligned", [](Table& t) {
        t.buckets = reinterpret_cast<Bucket*>(reinterpret_cast<char*>(t.buckets) + 8);
    });
    refuse("claims is a null pointer", [](Table& t) { t.claims = nullptr; });
    refuse("counts is a null pointer", [](Table& t) { t.counts = nullptr; });
    refuse("state is a null pointer", [](Table& t) { t.state = nullptr; });
    refuse("hot is a null pointer", [](Table& t) { t.hot = nullptr; });
    refuse("hot is a host pointer", [&](Table& t) { t.hot = host; });
    refuse("cold's address is 0", [](Table& t) { t.cold = nullptr; });
    refuse("cold's address is ", [&](Table& t) { t.cold = host; });
    refuse("cold's address is ", [](Table& t) { t.cold = t.hot; });
}

TEST_CASE("wrong sizes and arrays are refused by name") {
    Arrays a;
    for (const auto& [name, call] : all_calls(a)) {
        if (name == "table_export") continue;
        expect_refused(name, "n = -1", name + ": n is -1", [&, call = call] {
            call(a.table, -1, nullptr);
        });
        expect_refused(name, "n = 2^31", "n is 2147483648", [&, call = call] {
            call(a.table, int64_t{1} << 31, nullptr);
        });
    }
    const auto refuse = [](const char* function, const char* part, auto call) {
        expect_refused(function, part, part, call);
    };
    const Table& t = a.table;
    auto* const on_keys = reinterpret_cast<int32_t*>(a.keys);
    auto* const on_slots = reinterpret_cast<float*>(a.slots);
    int32_t host[8] = {};
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    refuse("table_find", "keys is a null pointer", [&] {
        table_find(t, nullptr, a.slots, 8, nullptr);
    });
    refuse("table_find", "slots is a host pointer", [&] {
        table_find(t, a.keys, host, 8, nullptr);
    });
    refuse("table_find", "slots - keys in bytes is 60", [&] {
        table_find(t, a.keys, on_keys + 15, 8, nullptr);
    });
    refuse("table_insert_or_find", "keys is a null pointer", [&] {
        table_insert_or_find(t, nullptr, nullptr, a.slots, 8, nullptr);
    });
    refuse("table_insert_or_find", "initial is a host pointer", [&] {
        const auto* rows = reinterpret_cast<const float*>(host);
        table_insert_or_find(t, a.keys, rows, a.slots, 2, nullptr);
    });
    refuse("table_insert_or_find", "slots is a null pointer", [&] {
        table_insert_or_find(t, a.keys, nullptr, nullptr, 8, nullptr);
    });
    refuse("table_insert_or_find", "slots - initial in bytes is 124", [&] {
        auto* slots = reinterpret_cast<int32_t*>(a.rows + 31);
        table_insert_or_find(t, a.keys, a.rows, slots, 8, nullptr);
    });
    refuse("table_insert_or_find", "hot - initial in bytes is 0", [&] {
        table_insert_or_find(t, a.keys, t.hot, a.slots, 8, nullptr);
    });
    refuse("table_lookup", "slots is a null pointer", [&] {
        table_lookup(t, nullptr, a.rows, 8, nullptr);
    });
    refuse("table_lookup", "out is a null pointer", [&] {
        table_lookup(t, a.slots, nullptr, 8, nullptr);
    });
    refuse("table_lookup", "out - slots in bytes is 28", [&] {
        table_lookup(t, a.slots, on_slots + 7, 8, nullptr);
    });
    refuse("table_lookup", "hot - out in bytes is 0", [&] {
        table_lookup(t, a.slots, t.hot, 8, nullptr);
    });
    for (const auto& [name, backward] :
         {std::pair{"table_backward", &table_backward},
          std::pair{"table_backward_sorted", &table_backward_sorted}}) {
        refuse(name, "grad is a null pointer", [&, backward = backward] {
            backward(t, a.slots, nullptr, 1.0f, 8, nullptr);
        });
        refuse(name, "slots is a null pointer", [&, backward = backward] {
            backward(t, nullptr, a.rows, 1.0f, 8, nullptr);
        });
        refuse(name, "scale is nan", [&, backward = backward] {
            backward(t, a.slots, a.rows, kNan, 0, nullptr);
        });
    }
    refuse("table_import", "keys is a null pointer", [&] {
        table_import(t, nullptr, a.scores, a.rows, 8, nullptr);
    });
    refuse("table_import", "scores is a null pointer", [&] {
        table_import(t, a.keys, nullptr, a.rows, 8, nullptr);
    });
    refuse("table_import", "rows is a null pointer", [&] {
        table_import(t, a.keys, a.scores, nullptr, 8, nullptr);
    });
    refuse("table_import", "hot - rows in bytes is 0", [&] {
        table_import(t, a.keys, a.scores, t.hot, 8, nullptr);
    });
    refuse("table_export", "keys is a null pointer", [&] {
        table_export(t, nullptr, a.scores, a.rows, a.num, nullptr);
    });
    refuse("table_export", "scores is a null pointer", [&] {
        table_export(t, a.keys, nullptr, a.rows, a.num, nullptr);
    });
    refuse("table_export", "rows is a null pointer", [&] {
        table_export(t, a.keys, a.scores, nullptr, a.num, nullptr);
    });
    refuse("table_export", "num is a null pointer", [&] {
        table_export(t, a.keys, a.scores, a.rows, nullptr, nullptr);
    });
    refuse("table_export", "scores - keys in bytes is 0", [&] {
        table_export(t, a.keys, a.keys, a.rows, a.num, nullptr);
    });
}

TEST_CASE("no keys: nothing is launched") {
    Arrays a;
    for (const auto& [name, call] : all_calls(a)) {
        if (name == "table_export") continue;
        a.grade.is_now(name);
        a.grade.expect_no_work(
            [&, call = call](cudaStream_t stream) { call(a.table, 0, stream); });
    }
}

TEST_CASE("all work is queued on the caller's stream") {
    Arrays a;
    const int64_t n = GENERATE(1, 40);
    for (const auto& [name, call] : all_calls(a)) {
        a.grade.is_now(name);
        a.grade.expect_queued(
            [&, call = call](cudaStream_t stream) { call(a.table, n, stream); });
    }
}

TEST_CASE("check_table() names refused and reserved keys") {
    TableMemory memory({1, 1, kPlaces, 1, Policy::none});
    Grader grade("table_insert_or_find", "16 keys, 14 slots");
    std::vector<uint64_t> keys = some_keys(16, 1);
    const uint64_t* d_keys = grade.input("keys", keys);
    int32_t* d_slots = grade.output<int32_t>("slots", {16});
    grade.run([&](cudaStream_t s) {
        table_insert_or_find(memory.table(), d_keys, nullptr, d_slots, 12, s);
    });
    check_table(memory.table(), nullptr);
    grade.run([&](cudaStream_t s) {
        table_insert_or_find(memory.table(), d_keys, nullptr, d_slots, 16, s);
    });
    expect_refused("check_table", "16 keys", "number of refused keys is 2", [&] {
        check_table(memory.table(), nullptr);
    });
    clear_table(memory.table(), nullptr);
    const uint64_t* d_none = grade.input("none", std::vector<uint64_t>(3, kNoKey));
    grade.run(
        [&](cudaStream_t s) { table_find(memory.table(), d_none, d_slots, 3, s); });
    expect_refused("check_table", "kNoKey", "that are kNoKey is 3", [&] {
        check_table(memory.table(), nullptr);
    });
}
