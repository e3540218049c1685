/// lookup.h: what all launchers have in common: what is refused, and how the host hears
/// of bad indices. Nothing here is left to you.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "embedding_lookup.h"

/// Threads in a block, and warps.
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / wb::kWarpSize;

/// The most columns of a table: places within a row fit into 32 bits.
inline constexpr int64_t kMaxCols = int64_t{1} << 30;

/// Waits for the stream, and throws wb::InvalidArgument if an index was no row, with
/// the number of those: the status of all launchers that had this counter. Zero it
/// before you use it again.
inline void check_indices(const unsigned long long* bad, cudaStream_t stream) {
    unsigned long long count = 0;
    CUDA_CHECK(
        cudaMemcpyAsync(&count, bad, sizeof count, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    wb::Arguments("embedding")
        .require(count == 0,
                 "the number of bad indices",
                 static_cast<int64_t>(count),
                 "each must be in [0, num_rows)");
}

/// The bytes of the widest word, 16 at most, of which a row is a whole number, and at
/// which both arrays may be read.
inline int word_bytes(const void* a, const void* b, int64_t row_bytes) {
    const auto all = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                     static_cast<uintptr_t>(row_bytes);
    for (int bytes = 16; bytes > 1; bytes /= 2)
        if (all % static_cast<uintptr_t>(bytes) == 0) return bytes;
    return 1;
}

/// Checks what all functions are given. `entries` is the number of rows that `rows`,
/// which is not the table, has.
///
/// @param named  how the table, the other array and their distance read in a message
template <class T>
void check_arrays(const wb::Arguments& arguments,
                  const char* const (&named)[3],
                  const T* table,
                  const T* rows,
                  int64_t entries,
                  const Lookup& lookup) {
    const auto bytes = [&](const char* product, int64_t n) {
        return arguments.product(product,
                                 {n, lookup.cols, static_cast<int64_t>(sizeof(T))});
    };
    const int64_t table_bytes = bytes("num_rows * cols * bytes", lookup.num_rows);
    const int64_t rows_bytes = bytes("entries * cols * bytes", entries);
    arguments.device("indices", lookup.indices, lookup.count)
        .device("bad", lookup.bad, 1)
        .device(named[0], table, table_bytes / static_cast<int64_t>(sizeof(T)))
        .device(named[1], rows, rows_bytes / static_cast<int64_t>(sizeof(T)));
    arguments.apart(named[2], table, table_bytes, rows, rows_bytes);
}

/// Checks the sizes alone.
inline void check_sizes(const wb::Arguments& arguments, const Lookup& lookup) {
    arguments.size("count", lookup.count)
        .size("num_rows", lookup.num_rows)
        .size("cols", lookup.cols)
        .require(
            lookup.cols <= kMaxCols, "cols", lookup.cols, "must not be above 2^30");
}

/// Checks the index that stands for nothing.
inline void check_padding(const wb::Arguments& arguments,
                          const Lookup& lookup,
                          int64_t padding) {
    arguments.require(padding >= -1 && padding < lookup.num_rows,
                      "padding",
                      padding,
                      "must be in [-1, num_rows)");
}

/// Checks the arguments of embedding() and of embedding_u16(); false: nothing to do.
template <class T>
bool check_embedding(const char* function,
                     const T* table,
                     const T* out,
                     const Lookup& lookup) {
    const wb::Arguments arguments(function);
    check_sizes(arguments, lookup);
    if (lookup.count == 0 || lookup.cols == 0) return false;
    check_arrays(
        arguments, {"table", "out", "out - table"}, table, out, lookup.count, lookup);
    return true;
}

/// The same for the functions with bags.
template <class T>
bool check_bags(const char* function,
                const T* table,
                const T* out,
                const Lookup& lookup,
                const Bags& bags) {
    const wb::Arguments arguments(function);
    check_sizes(arguments, lookup);
    arguments.size("num_bags", bags.num_bags);
    check_padding(arguments, lookup, bags.padding);
    if (bags.num_bags == 0 || lookup.cols == 0) return false;
    check_arrays(
        arguments, {"table", "out", "out - table"}, table, out, bags.num_bags, lookup);
    arguments.device("offsets", bags.offsets, bags.num_bags + 1);
    return true;
}

/// The same for embedding_backward().
inline bool check_backward(const float* grad_out,
                           const float* grad_table,
                           const Lookup& lookup,
                           int64_t padding) {
    const wb::Arguments arguments("embedding_backward");
    check_sizes(arguments, lookup);
    const char* const limit = "must not be above 2^31 - 1";
    arguments.require(lookup.count <= INT32_MAX, "count", lookup.count, limit)
        .require(lookup.num_rows <= INT32_MAX, "num_rows", lookup.num_rows, limit);
    check_padding(arguments, lookup, padding);
    if (lookup.num_rows == 0 || lookup.cols == 0) return false;
    check_arrays(arguments,
                 {"grad_table", "grad_out", "grad_out - grad_table"},
                 grad_table,
                 grad_out,
                 lookup.count,
                 lookup);
    return true;
}
