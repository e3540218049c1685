// problem.h: given with this exercise: what is refused, what a kernel is told of a
// call, and which rows belong together.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/attention.h>
#include <wb/device.h>
#include <wb/elements.h>
#include <wb/launch.h>

#include <cstdint>

#include "attention_backward.h"

/// True if there is something to write. Throws wb::InvalidArgument.
template <class T>
bool has_work(const char* function, const AttentionBackward<T>& call) {
    const wb::Arguments arguments(function);
    const auto& shape = call.shape;
    wb::check_shape(arguments, shape, {64, 128});
    const int64_t queries = shape.query_elements();
    const int64_t keys = shape.kv_elements();
    constexpr int64_t kInVector = 16 / int64_t{sizeof(T)};
    // As uint4, so that an address that is not a multiple of 16 is refused.
    const auto vectors = [](const T* p) { return reinterpret_cast<const uint4*>(p); };
    arguments.device("q", vectors(call.q), queries / kInVector)
        .device("k", vectors(call.k), keys / kInVector)
        .device("v", vectors(call.v), keys / kInVector)
        .device("o", vectors(call.o), queries / kInVector)
        .device("lse", call.lse, shape.rows())
        .device("d_o", vectors(call.d_o), queries / kInVector)
        .device("dq", vectors(call.dq), queries / kInVector)
        .device("dk", vectors(call.dk), keys / kInVector)
        .device("dv", vectors(call.dv), keys / kInVector);
    const int64_t query_bytes = queries * int64_t{sizeof(T)};
    const int64_t key_bytes = keys * int64_t{sizeof(T)};
    arguments.apart({{"q", call.q, query_bytes, false},
                     {"k", call.k, key_bytes, false},
                     {"v", call.v, key_bytes, false},
                     {"o", call.o, query_bytes, false},
                     {"lse", call.lse, shape.rows() * 4, false},
                     {"d_o", call.d_o, query_bytes, false},
                     {"dq", call.dq, query_bytes, true},
                     {"dk", call.dk, key_bytes, true},
                     {"dv", call.dv, key_bytes, true}});
    return queries > 0 || keys > 0;
}

/// Refuses a GPU that does not have the instructions of the second stage.
inline void require_sm_80(const char* function) {
    const int major = wb::device_attribute(cudaDevAttrComputeCapabilityMajor);
    wb::Arguments(function).require(major >= 8,
                                    "the GPU's compute capability",
                                    major,
                                    "must be 8 or more: mma.sync on 16x8x16 numbers "
                                    "came with sm_80");
}

// #region problem
/// What a kernel is told. Heads are counted through the batch.
template <class T>
struct Problem {
    const T* q;        ///< [query_heads, queries, D]
    const T* k;        ///< [kv_heads, keys, D]
    const T* v;        ///< [kv_heads, keys, D]
    const T* o;        ///< [query_heads, queries, D]
    const float* lse;  ///< [query_heads, queries]
    const T* d_o;      ///< [query_heads, queries, D]
    T* dq;             ///< [query_heads, queries, D]
    T* dk;             ///< [kv_heads, keys, D]
    T* dv;             ///< [kv_heads, keys, D]
    int64_t query_heads;
    int64_t kv_heads;
    int queries;
    int keys;
    int group;  ///< query heads that share a head of keys and values
    bool causal;
    float scale;

    __host__ __device__ int64_t rows() const { return query_heads * queries; }
    __host__ __device__ int64_t kv_rows() const { return kv_heads * keys; }

    /// Keys, counted from the first, that a query sees.
    __host__ __device__ int visible(int query) const {
        return wb::visible_keys(queries, keys, causal, query);
    }
    /// The first query that sees a key; all after it do, too.
    __host__ __device__ int first_query(int key) const {
        if (!causal) return 0;
        const int first = key - (keys - queries);
        return first < 0 ? 0 : first;
    }
};
// #endregion problem

template <class T>
Problem<T> problem_of(const AttentionBackward<T>& call) {
    const auto& shape = call.shape;
    const int64_t kv_heads = shape.kv_heads > 0 ? shape.kv_heads : 1;
    return {call.q,
            call.k,
            call.v,
            call.o,
            call.lse,
            call.d_o,
            call.dq,
            call.dk,
            call.dv,
            shape.batch * shape.query_heads,
            shape.batch * shape.kv_heads,
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            static_cast<int>(shape.query_heads / kv_heads),
            shape.causal,
            shape.scale};
}
