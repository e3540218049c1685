// What the tests of this chapter share: tables that are made and looked at by the host.
#pragma once

#include "dynamic_embedding.h"

#include <wb/check.h>
#include <wb/reference/dynamic_embedding.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "table_memory.h"

namespace table_cases {

using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Element `col` of the row that `key` has everywhere in these tests.
inline float value_of(uint64_t key, int64_t col) {
    const uint64_t bits =
        (key + 1) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(col);
    return static_cast<float>(static_cast<int64_t>(bits >> 40) - (1 << 23)) * 0x1p-20f;
}

inline std::vector<float> rows_of(const std::vector<uint64_t>& keys, int64_t cols) {
    std::vector<float> rows;
    for (const uint64_t key : keys)
        for (int64_t col = 0; col < cols; ++col)
            rows.push_back(value_of(key, col));
    return rows;
}

/// `count` different keys below 2^53, so that doubles hold them; most differ in their
/// upper bits alone.
inline std::vector<uint64_t> some_keys(int64_t count, uint64_t seed) {
    std::vector<uint64_t> keys;
    for (int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<uint64_t>(i) + 1;
        keys.push_back(number % 4 == 0 ? number : number << 33 | seed);
    }
    return keys;
}

/// A table as the host sees it.
struct HostTable {
    TableShape shape;
    std::vector<uint64_t> lines;   // [num_buckets, 16] digests, then keys
    std::vector<uint64_t> claims;  // [capacity]
    std::vector<uint32_t> counts;  // [capacity]
    std::vector<float> rows;       // [capacity, cols]
    std::vector<uint64_t> state;   // clock, refused, reserved

    explicit HostTable(const TableShape& s) : shape(s), state(3, 0) {
        lines.assign(at(shape.num_buckets * 16), ~uint64_t{0});
        claims.assign(at(capacity()), 0);
        counts.assign(at(capacity()), 0);
        rows.assign(at(capacity() * shape.cols), -1e30f);
    }
    int64_t capacity() const { return shape.num_buckets * kPlaces; }
    uint64_t& key_at(int64_t slot) {
        return lines[at(slot / kPlaces * 16 + 2 + slot % kPlaces)];
    }
    uint8_t* digest_at(int64_t slot) {
        auto* line = reinterpret_cast<uint8_t*>(&lines[at(slot / kPlaces * 16)]);
        return line + slot % kPlaces;
    }
    /// The slot of a key: its window has it once at most. -1: it is not there
    int32_t slot_of(uint64_t key) {
        for (int64_t step = 0; step < shape.window; ++step) {
            const int64_t home = wb::reference::home_bucket(key, shape.num_buckets);
            const int64_t bucket = (home + step) % shape.num_buckets;
            for (int place = 0; place < kPlaces; ++place)
                if (key_at(bucket * kPlaces + place) == key)
                    return static_cast<int32_t>(bucket * kPlaces + place);
        }
        return -1;
    }
    /// Inserts a key, if there is room, with its row.
    int32_t insert(uint64_t key, uint64_t clock = 1, uint32_t count = 1) {
        if (slot_of(key) >= 0) return slot_of(key);
        for (int64_t step = 0; step < shape.window; ++step) {
            const int64_t home = wb::reference::home_bucket(key, shape.num_buckets);
            const int64_t bucket = (home + step) % shape.num_buckets;
            for (int place = 0; place < kPlaces; ++place) {
                const int64_t slot = bucket * kPlaces + place;
                if (claims[at(slot)] != 0) continue;
                key_at(slot) = key;
                *digest_at(slot) = digest_of(key);
                claims[at(slot)] = clock << 32;
                counts[at(slot)] = count;
                for (int64_t col = 0; col < shape.cols; ++col)
                    rows[at(slot * shape.cols + col)] = value_of(key, col);
                state[0] = std::max(state[0], clock);
                return static_cast<int32_t>(slot);
            }
        }
        return -1;
    }
    bool is_hot(int64_t slot) const { return slot % kPlaces < shape.hot_places; }
};

/// The rows are what a test is about; else a Grader need not know that they are floats,
/// as what is found does not depend on them.
enum class Rows { words, floats };

/// The same in the memory of a Grader, and rows in pinned memory that no Grader sees.
class DeviceTable {
 public:
    DeviceTable(Grader& grade, const HostTable& host, Rows rows = Rows::words)
        : shape_(host.shape) {
        const int64_t slots = host.capacity();
        for (int64_t slot = 0; slot < slots; ++slot)
            for (int64_t col = 0; col < shape_.cols; ++col)
                (host.is_hot(slot) ? hot_ : cold_start_)
                    .push_back(host.rows[at(slot * shape_.cols + col)]);
        table_.buckets = reinterpret_cast<Bucket*>(grade.in_out(
            "buckets", {static_cast<int64_t>(host.lines.size())}, host.lines));
        table_.claims = grade.in_out("claims", {slots}, host.claims);
        table_.counts = grade.in_out("counts", {slots}, host.counts);
        table_.state =
            reinterpret_cast<TableState*>(grade.in_out("state", {3}, host.state));
        const wb::testing::Shape hot_shape = {static_cast<int64_t>(hot_.size())};
        if (!hot_.empty() && rows == Rows::floats) {
            table_.hot = grade.in_out("hot rows", hot_shape, hot_);
        } else if (!hot_.empty()) {
            std::vector<uint32_t> words(hot_.size());
            std::memcpy(words.data(), hot_.data(), words.size() * sizeof(uint32_t));
            table_.hot =
                reinterpret_cast<float*>(grade.in_out("hot rows", hot_shape, words));
        }
        if (!cold_start_.empty()) {
            const std::size_t bytes = cold_start_.size() * sizeof(float);
            void* cold = nullptr;
            CUDA_CHECK(cudaHostAlloc(&cold, bytes, cudaHostAllocMapped));
            cold_ = static_cast<float*>(cold);
            std::copy(cold_start_.begin(), cold_start_.end(), cold_);
            void* mapped = nullptr;
            CUDA_CHECK(cudaHostGetDevicePointer(&mapped, cold, 0));
            table_.cold = static_cast<float*>(mapped);
            d_cold_start_ = grade.input("cold rows", cold_start_);
            d_cold_ = grade.output<float>("cold rows, after the call",
                                          {static_cast<int64_t>(cold_start_.size())});
        }
        table_.num_buckets = shape_.num_buckets;
        table_.cols = shape_.cols;
        table_.hot_places = shape_.hot_places;
        table_.window = shape_.window;
        table_.policy = shape_.policy;
    }
    ~DeviceTable() { (void)cudaFreeHost(cold_); }
    DeviceTable(const DeviceTable&) = delete;
    DeviceTable& operator=(const DeviceTable&) = delete;

    const Table& get() const { return table_; }

    /// A call, before which the rows in pinned memory become what they were: a Grader
    /// may call a launcher more than once, and knows nothing of them. A GPU may give
    /// keys other slots the next time: what the call has made of the rows is kept.
    template <class Call>
    void with_cold(cudaStream_t stream, const Call& call) const {
        const std::size_t bytes = cold_start_.size() * sizeof(float);
        if (bytes > 0)
            CUDA_CHECK(cudaMemcpyAsync(
                table_.cold, d_cold_start_, bytes, cudaMemcpyDeviceToHost, stream));
        call();
        if (bytes > 0)
            CUDA_CHECK(cudaMemcpyAsync(
                d_cold_, table_.cold, bytes, cudaMemcpyHostToDevice, stream));
    }

    /// What the calls have made of it, each of them within with_cold().
    HostTable read() const {
        HostTable host(shape_);
        download(host.lines, table_.buckets);
        download(host.claims, table_.claims);
        download(host.counts, table_.counts);
        download(host.state, table_.state);
        std::vector<float> hot(hot_.size());
        download(hot, table_.hot);
        std::vector<float> cold(cold_start_.size());
        download(cold, d_cold_);
        std::size_t next_hot = 0;
        std::size_t next_cold = 0;
        for (int64_t slot = 0; slot < host.capacity(); ++slot)
            for (int64_t col = 0; col < shape_.cols; ++col)
                host.rows[at(slot * shape_.cols + col)] =
                    host.is_hot(slot) ? hot[next_hot++] : cold[next_cold++];
        return host;
    }

 private:
    template <class T>
    static void download(std::vector<T>& words, const void* memory) {
        if (words.empty()) return;
        const std::size_t bytes = words.size() * sizeof(T);
        CUDA_CHECK(cudaMemcpy(words.data(), memory, bytes, cudaMemcpyDeviceToHost));
    }

    TableShape shape_;
    Table table_ = {};
    std::vector<float> hot_;
    std::vector<float> cold_start_;
    const float* d_cold_start_ = nullptr;
    float* d_cold_ = nullptr;
    float* cold_ = nullptr;
};

}  // namespace table_cases
