/// table_memory.h: a table's memory, what launchers refuse, and how the host hears of
/// refused keys. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>

#include <cstdint>

#include "dynamic_embedding.h"

/// Slots of a table.
inline int64_t capacity_of(const Table& table) {
    return table.num_buckets * kPlaces;
}

/// All slots become free, on the stream; counters and clock become 0.
inline void clear_table(const Table& table, cudaStream_t stream) {
    const auto slots = static_cast<size_t>(capacity_of(table));
    const size_t bytes = static_cast<size_t>(table.num_buckets) * sizeof(Bucket);
    // Bytes of 255 are kNoKey, and the digest that no key has.
    CUDA_CHECK(cudaMemsetAsync(table.buckets, 0xFF, bytes, stream));
    CUDA_CHECK(cudaMemsetAsync(table.claims, 0, slots * sizeof(uint64_t), stream));
    CUDA_CHECK(cudaMemsetAsync(table.counts, 0, slots * sizeof(uint32_t), stream));
    CUDA_CHECK(cudaMemsetAsync(table.state, 0, sizeof(TableState), stream));
}

/// What a table consists of.
struct TableShape {
    int64_t num_buckets;
    int64_t cols;
    int hot_places = kPlaces;
    int64_t window = 1;
    Policy policy = Policy::lru;
};

/// The memory of an empty table, as long as the object lives. Rows are not initialised.
class TableMemory {
 public:
    explicit TableMemory(const TableShape& shape) {
        table_.num_buckets = shape.num_buckets;
        table_.cols = shape.cols;
        table_.hot_places = shape.hot_places;
        table_.window = shape.window;
        table_.policy = shape.policy;
        allocate(&table_.buckets, shape.num_buckets);
        allocate(&table_.claims, capacity_of(table_));
        allocate(&table_.counts, capacity_of(table_));
        allocate(&table_.state, 1);
        const int64_t hot = shape.num_buckets * shape.hot_places;
        if (hot > 0) allocate(&table_.hot, hot * shape.cols);
        const int64_t cold = capacity_of(table_) - hot;
        if (cold > 0) {
            const size_t bytes = static_cast<size_t>(cold * shape.cols) * sizeof(float);
            CUDA_CHECK(cudaHostAlloc(&cold_, bytes, cudaHostAllocMapped));
            void* mapped = nullptr;
            CUDA_CHECK(cudaHostGetDevicePointer(&mapped, cold_, 0));
            table_.cold = static_cast<float*>(mapped);
        }
        clear_table(table_, nullptr);
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
    ~TableMemory() {
        (void)cudaFree(table_.buckets);
        (void)cudaFree(table_.claims);
        (void)cudaFree(table_.counts);
        (void)cudaFree(table_.state);
        (void)cudaFree(table_.hot);
        (void)cudaFreeHost(cold_);
    }
    TableMemory(const TableMemory&) = delete;
    TableMemory& operator=(const TableMemory&) = delete;

    const Table& table() const { return table_; }

 private:
    template <class T>
    static void allocate(T** memory, int64_t count) {
        void* bytes = nullptr;
        CUDA_CHECK(cudaMalloc(&bytes, static_cast<size_t>(count) * sizeof(T)));
        *memory = static_cast<T*>(bytes);
    }

    Table table_ = {};
    void* cold_ = nullptr;
};

/// Waits for the stream, and throws wb::InvalidArgument if keys were refused, or were
/// kNoKey, with their number: the status of all calls since the table was empty.
inline void check_table(const Table& table, cudaStream_t stream) {
    TableState state{};
    CUDA_CHECK(cudaMemcpyAsync(
        &state, table.state, sizeof state, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    wb::Arguments("table")
        .require(state.reserved == 0,
                 "the number of keys that are kNoKey",
                 static_cast<int64_t>(state.reserved),
                 "2^64 - 1 stands for a place without a key")
        .require(state.refused == 0,
                 "the number of refused keys",
                 static_cast<int64_t>(state.refused),
                 "all slots of their windows are taken, and the table does not grow");
}
