// Times day03-parallel-patterns/08-dynamic-embedding: how many keys a second are found,
// inserted, and read?
#include "dynamic_embedding.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "dynamic_embedding_bench_peers.h"
#include "table_memory.h"

using namespace wb::bench;

namespace {

/// A table of so many buckets, of whose slots a share is taken; calls of n keys.
struct Size {
    int64_t n;
    int64_t buckets;
    double load;

    std::string text(const char* what) const {
        const std::string load_text = std::to_string(load).substr(0, 4);
        return std::to_string(n) + " keys, " + std::to_string(buckets * kPlaces) +
               " slots, load " + load_text + ", " + what;
    }
};

constexpr int64_t kMillion = int64_t{1} << 20;
constexpr int64_t kBuckets = int64_t{1} << 19;

std::vector<Size> sizes_of(const Bench& bench) {
    return bench.sizes<Size>({{300, 64, 0.75}},
                             {{1 << 14, 1 << 12, 0.75}},
                             {{kMillion, kBuckets, 0.5},
                              {kMillion, kBuckets, 0.75},
                              {kMillion, kBuckets, 0.95}},
                             {{4096, 1024, 0.75}});
}

/// Keys below 2^53, all different: an odd factor permutes 52 bits.
uint64_t key_of(int64_t i) {
    constexpr uint64_t kMask = (uint64_t{1} << 52) - 1;
    return static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15ull & kMask;
}

std::vector<uint64_t> keys_from(int64_t first, int64_t count) {
    std::vector<uint64_t> keys;
    for (int64_t i = first; i < first + count; ++i)
        keys.push_back(key_of(i));
    return keys;
}

template <class T>
Array<T> on_device(const std::vector<T>& values) {
    Array<T> array(static_cast<int64_t>(values.size()));
    array.upload(values);
    return array;
}

/// A table with the first `count` keys; a key may be in any of eight buckets.
class Filled {
 public:
    Filled(const TableShape& shape, int64_t count) : memory_(shape), count_(count) {
        constexpr int64_t kPart = int64_t{1} << 20;
        for (int64_t first = 0; first < count; first += kPart) {
            const int64_t part = std::min(kPart, count - first);
            const auto keys = on_device(keys_from(first, part));
            const Array<int32_t> slots(part);
            table_insert_or_find(
                table(), keys.data(), nullptr, slots.data(), part, nullptr);
            CUDA_CHECK(cudaDeviceSynchronize());
        }
    }
    const Table& table() const { return memory_.table(); }

    /// n of its keys, at random.
    std::vector<uint64_t> some(int64_t n) const {
        std::mt19937_64 random(1);
        std::vector<uint64_t> keys;
        for (int64_t i = 0; i < n; ++i)
            keys.push_back(
                key_of(static_cast<int64_t>(random() % static_cast<uint64_t>(count_))));
        return keys;
    }

 private:
    TableMemory memory_;
    int64_t count_;
};

/// The keys that slots belong to, for a check: 0 for what is no slot.
struct KeysOfSlots {
    const Table& table;
    const Array<int32_t>& slots;

    int64_t size() const { return slots.size(); }
    void poison() const { slots.poison(); }
    uint64_t at(int64_t i) const {
        const int32_t slot = slots.at(i);
        if (slot < 0 || slot >= capacity_of(table)) return 0;
        uint64_t key = 0;
        CUDA_CHECK(cudaMemcpy(&key,
                              &table.buckets[slot / kPlaces].keys[slot % kPlaces],
                              sizeof key,
                              cudaMemcpyDeviceToHost));
        return key;
    }
};

/// Bytes of memory that a table of one column takes.
double bytes_of(const Size& s, int64_t cols) {
    return static_cast<double>(s.buckets) * (128.0 + kPlaces * (12.0 + 4.0 * cols));
}

}  // namespace

WB_BENCH(table_find, bench) {
    for (const Size& s : sizes_of(bench)) {
        if (!bench.fits(bytes_of(s, 1))) continue;
        const TableShape shape = {s.buckets, 1, kPlaces, 8, Policy::none};
        const auto count =
            static_cast<int64_t>(s.load * static_cast<double>(s.buckets * kPlaces));
        const Filled filled(shape, count);
        const auto keys = filled.some(s.n);
        const auto d_keys = on_device(keys);
        const auto slots = bench.output<int32_t>(s.n);
        const auto out = bench.output<int32_t>(s.n);
        table_find(filled.table(), d_keys.data(), slots.data(), s.n, nullptr);
        const auto right = on_device(slots.host());
        const double bound = bench.time_alone([&](cudaStream_t stream) {
            dynamic_embedding_peers::random_reads(
                filled.table().buckets, kPlaces, right.data(), out.data(), s.n, stream);
        });
        Spec spec = {s.text("hits"), Ceiling::read, static_cast<double>(s.n) * 76.0};
        spec.limit = "random reads of two sectors";
        spec.limit_us = bound;
        auto problem = bench.problem(spec);
        const KeysOfSlots found{filled.table(), slots};
        problem.expect("slots", found, [&](int64_t i) {
            return Expected{static_cast<double>(keys[static_cast<size_t>(i)]), 0.0};
        });
        for (const auto& [name, idea, find] :
             wb::implementations("table_find", table_find))
            problem.time(name, idea, [&, find = find](cudaStream_t stream) {
                find(filled.table(), d_keys.data(), slots.data(), s.n, stream);
            });
    }
}

WB_BENCH(table_insert_or_find, bench) {
    for (Size s : sizes_of(bench)) {
        if (!bench.fits(bytes_of(s, 1))) continue;
        // Into an empty table; to empty it is part of the work. The other loads: new
        // keys in a full table, each of which makes another one leave.
        const bool empties = s.load == 0.5;
        if (s.load > 0.9) continue;
        const TableShape shape = {
            s.buckets, 1, kPlaces, empties ? int64_t{8} : int64_t{1}, Policy::lru};
        const int64_t capacity = s.buckets * kPlaces;
        s.load = empties ? 0.0 : 1.0;
        const Filled filled(shape, empties ? 1 : capacity * 2);
        // Calls take turns with more keys than the table holds.
        const int64_t parts = empties ? 1 : capacity * 2 / s.n + 1;
        const auto keys = keys_from(capacity * 4, parts * s.n);
        const auto d_keys = on_device(keys);
        const auto slots = bench.output<int32_t>(s.n);
        int64_t part = 0;
        auto problem = bench.problem({s.text(empties ? "empty" : "new"),
                                      Ceiling::read,
                                      static_cast<double>(s.n) * 400.0});
        problem.restore([&](cudaStream_t) { part = 0; });
        const KeysOfSlots found{filled.table(), slots};
        problem.expect("slots", found, [&](int64_t i) {
            return Expected{static_cast<double>(keys[static_cast<size_t>(i)]), 0.0};
        });
        for (const auto& [name, idea, insert] :
             wb::implementations("table_insert_or_find", table_insert_or_find))
            problem.time(name, idea, [&, insert = insert](cudaStream_t stream) {
                if (empties) clear_table(filled.table(), stream);
                const uint64_t* now = d_keys.data() + part * s.n;
                insert(filled.table(), now, nullptr, slots.data(), s.n, stream);
                part = (part + 1) % parts;
            });
    }
}

namespace {

struct Rows {
    int64_t n, buckets, cols;
    bool hot;

    std::string text() const {
        return std::to_string(n) + " of " + std::to_string(buckets * kPlaces) + " x " +
               std::to_string(cols) + (hot ? ", hot" : ", cold");
    }
};

std::vector<Rows> rows_of(const Bench& bench) {
    return bench.sizes<Rows>(
        {{70, 5, 12, true}, {70, 5, 5, false}},
        {{1 << 14, 1 << 11, 64, true}},
        {{kMillion, 1 << 17, 64, true}, {1 << 17, 1 << 15, 64, false}},
        {{4096, 512, 64, true}});
}

/// Slots at random, and a table whose rows are all 1.
struct RandomSlots {
    explicit RandomSlots(const Rows& s)
        : memory({s.buckets, s.cols, s.hot ? kPlaces : 0, 1, Policy::none}) {
        std::mt19937_64 random(2);
        const auto capacity = static_cast<uint64_t>(s.buckets * kPlaces);
        std::vector<int32_t> all, host;
        for (uint64_t slot = 0; slot < capacity; ++slot)
            all.push_back(static_cast<int32_t>(slot));
        for (int64_t i = 0; i < s.n; ++i)
            host.push_back(static_cast<int32_t>(random() % capacity));
        slots = on_device(host);
        const Table& t = memory.table();
        // 4-byte patterns are not for memset: bytes of 0x3F are the float 0.7480...
        const auto bytes = static_cast<size_t>(capacity_of(t) * s.cols) * sizeof(float);
        if (s.hot)
            CUDA_CHECK(cudaMemset(t.hot, 0x3F, bytes));
        else
            CUDA_CHECK(cudaMemset(t.cold, 0x3F, bytes));
    }
    static constexpr float kRow = 0x1.7e7e7ep-1f;

    TableMemory memory;
    Array<int32_t> slots{0};
};

}  // namespace

WB_BENCH(table_lookup, bench) {
    for (const Rows& s : rows_of(bench)) {
        const double bytes = static_cast<double>(s.n) * (8.0 * s.cols + 4.0);
        if (!bench.fits(bytes * 2.0)) continue;
        const RandomSlots made(s);
        const auto out = bench.output<float>(s.n * s.cols);
        auto problem = bench.problem({s.text(), Ceiling::copy, bytes});
        problem.expect("out", out, [&](int64_t) {
            return Expected{RandomSlots::kRow, 0.0};
        });
        for (const auto& [name, idea, lookup] :
             wb::implementations("table_lookup", table_lookup))
            problem.time(name, idea, [&, lookup = lookup](cudaStream_t stream) {
                lookup(made.memory.table(), made.slots.data(), out.data(), s.n, stream);
            });
    }
}

namespace {

/// The hot rows of a table, for a check.
struct HotRows {
    const Table& table;

    int64_t size() const { return capacity_of(table) * table.cols; }
    void poison() const {}  // rows are what is added to: see restore()
    float at(int64_t i) const {
        float value = 0.0f;
        CUDA_CHECK(
            cudaMemcpy(&value, table.hot + i, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }
};

void time_backward(Bench& bench,
                   const char* exercise,
                   decltype(table_backward)* contract) {
    for (const Rows& s : rows_of(bench)) {
        const double bytes = static_cast<double>(s.n) * (12.0 * s.cols + 4.0);
        if (!s.hot || !bench.fits(bytes * 2.0)) continue;
        const RandomSlots made(s);
        const Table& table = made.memory.table();
        const auto row_bytes =
            static_cast<size_t>(capacity_of(table) * s.cols) * sizeof(float);
        const Array<float> grad(s.n * s.cols);
        CUDA_CHECK(cudaMemset(grad.data(), 0x3F, grad.bytes()));  // kRow, too
        std::vector<int> times(static_cast<size_t>(capacity_of(table)), 0);
        for (const int32_t slot : made.slots.host())
            ++times[static_cast<size_t>(slot)];
        auto problem = bench.problem({s.text(), Ceiling::read2_write1, bytes});
        problem.restore([&](cudaStream_t stream) {
            CUDA_CHECK(cudaMemsetAsync(table.hot, 0x3F, row_bytes, stream));
        });
        const HotRows rows{table};
        problem.expect("hot rows", rows, [&](int64_t i) {
            const double count = times[static_cast<size_t>(i / s.cols)];
            const double right = RandomSlots::kRow * (1.0 + 0.5 * count);
            return Expected{right, (count + 2.0) * 6e-8 * right};
        });
        for (const auto& [name, idea, backward] :
             wb::implementations(exercise, contract))
            problem.time(name, idea, [&, backward = backward](cudaStream_t stream) {
                backward(table, made.slots.data(), grad.data(), 0.5f, s.n, stream);
            });
    }
}

}  // namespace

WB_BENCH(table_backward, bench) {
    time_backward(bench, "table_backward", table_backward);
}

WB_BENCH(table_backward_sorted, bench) {
    time_backward(bench, "table_backward_sorted", table_backward_sorted);
}
