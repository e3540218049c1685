/// refused.h: what launchers refuse. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>

#include <cstdint>

#include "dynamic_embedding.h"
#include "table_memory.h"

/// Throws wb::InvalidArgument for what the contract does not allow. Functions that
/// return bool say whether there is something to do.
class Refused {
 public:
    static bool find(const Table& t, const uint64_t* keys, int32_t* slots, int64_t n) {
        const wb::Arguments arguments("table_find");
        if (!has_work(arguments, t, n)) return false;
        arguments.device("keys", keys, n).device("slots", slots, n);
        arguments.apart({{"keys", keys, n * 8, false}, {"slots", slots, n * 4, true}});
        return true;
    }

    static bool insert(const Table& t,
                       const uint64_t* keys,
                       const float* initial,
                       int32_t* slots,
                       int64_t n) {
        const wb::Arguments arguments("table_insert_or_find");
        if (!has_work(arguments, t, n)) return false;
        const int64_t floats = initial == nullptr ? 0 : n * t.cols;
        arguments.device("keys", keys, n)
            .device("initial", initial, floats)
            .device("slots", slots, n);
        arguments.apart({{"keys", keys, n * 8, false},
                         {"initial", initial, floats * 4, false},
                         {"slots", slots, n * 4, true},
                         hot_of(t)});
        return true;
    }

    /// @param name  of `rows`: [n, cols], written
    static bool rows(const char* function,
                     const char* name,
                     const Table& t,
                     const int32_t* slots,
                     const float* rows,
                     int64_t n) {
        const wb::Arguments arguments(function);
        if (!has_work(arguments, t, n)) return false;
        const int64_t floats = n * t.cols;
        arguments.device("slots", slots, n).device(name, rows, floats);
        arguments.apart({{"slots", slots, n * 4, false},
                         {name, rows, floats * 4, true},
                         hot_of(t)});
        return true;
    }

    static bool backward(const char* function,
                         const Table& t,
                         const int32_t* slots,
                         const float* grad,
                         float scale,
                         int64_t n) {
        wb::Arguments(function).finite("scale", double{scale});
        return rows(function, "grad", t, slots, grad, n);
    }

    static void export_to(const Table& t,
                          const uint64_t* keys,
                          const uint64_t* scores,
                          const float* rows,
                          const int64_t* num) {
        const wb::Arguments arguments("table_export");
        (void)has_work(arguments, t, 1);
        const int64_t capacity = capacity_of(t);
        const int64_t floats = capacity * t.cols;
        arguments.device("keys", keys, capacity)
            .device("scores", scores, capacity)
            .device("rows", rows, floats)
            .device("num", num, 1);
        arguments.apart({{"keys", keys, capacity * 8, true},
                         {"scores", scores, capacity * 8, true},
                         {"rows", rows, floats * 4, true},
                         {"num", num, 8, true},
                         hot_of(t)});
    }

    static bool import_from(const Table& t,
                            const uint64_t* keys,
                            const uint64_t* scores,
                            const float* rows,
                            int64_t n) {
        const wb::Arguments arguments("table_import");
        if (!has_work(arguments, t, n)) return false;
        const int64_t floats = n * t.cols;
        arguments.device("keys", keys, n)
            .device("scores", scores, n)
            .device("rows", rows, floats);
        arguments.apart({{"rows", rows, floats * 4, false}, hot_of(t)});
        return true;
    }

 private:
    /// Checks sizes and the table.
    static bool has_work(const wb::Arguments& arguments, const Table& t, int64_t n) {
        arguments.size("n", n)
            .require(n <= INT32_MAX, "n", n, "must be < 2^31")
            .positive("num_buckets", t.num_buckets)
            .require(t.num_buckets <= int64_t{1} << 27,
                     "num_buckets",
                     t.num_buckets,
                     "must be <= 2^27")
            .positive("cols", t.cols)
            .require(t.cols <= int64_t{1} << 20, "cols", t.cols, "must be <= 2^20")
            .require(t.hot_places >= 0 && t.hot_places <= kPlaces,
                     "hot_places",
                     t.hot_places,
                     "must be in [0, 14]")
            .require(t.window >= 1 && t.window <= t.num_buckets,
                     "window",
                     t.window,
                     "must be in [1, num_buckets]")
            .require(t.policy >= Policy::none && t.policy <= Policy::lfu,
                     "policy",
                     static_cast<int>(t.policy),
                     "must be one of enum class Policy");
        if (n == 0) return false;
        arguments.device("buckets", t.buckets, t.num_buckets)
            .device("claims", t.claims, capacity_of(t))
            .device("counts", t.counts, capacity_of(t))
            .device("state", t.state, 1)
            .device("hot", t.hot, t.num_buckets * t.hot_places * t.cols);
        if (t.hot_places < kPlaces) check_pinned(arguments, t.cold);
        return true;
    }

    static wb::NamedArray hot_of(const Table& t) {
        return {"hot", t.hot, t.num_buckets * t.hot_places * t.cols * 4, true};
    }

    static void check_pinned(const wb::Arguments& arguments, const float* cold) {
        cudaPointerAttributes attributes{};
        const cudaError_t error = cold == nullptr
                                      ? cudaErrorInvalidValue
                                      : cudaPointerGetAttributes(&attributes, cold);
        if (error != cudaSuccess) (void)cudaGetLastError();
        // A host thread that has not used the GPU yet is told no device address; it is
        // the host's, as of all pinned memory where addresses are unified.
        const bool is_pinned =
            error == cudaSuccess && attributes.type == cudaMemoryTypeHost;
        arguments.require(is_pinned,
                          "cold's address",
                          static_cast<int64_t>(reinterpret_cast<uintptr_t>(cold)),
                          "must be pinned, mapped host memory (cudaHostAlloc)");
    }
};
