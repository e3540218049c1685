/// given.h: what both of your files need: constants, and what the functions refuse.
/// There is nothing to write here.
#pragma once

#include <wb/arguments.h>

#include <cstdint>

#include "coalescing.h"

/// Threads in a block.
constexpr int kThreads = 256;

/// Loads that a thread makes before its first store, where it makes several ("Go
/// faster").
constexpr int kLoads = 4;

inline void check_copy_strided(const float* x,
                               const float* y,
                               int64_t n,
                               int64_t stride) {
    const wb::Arguments arguments("copy_strided");
    arguments.size("n", n).positive("stride", stride);
    const int64_t bytes =
        arguments.product("n * stride * sizeof(float)", {n, stride, sizeof(float)});
    if (bytes == 0) return;
    const int64_t span = (n - 1) * stride + 1;  // from x[0] to the last one
    arguments.device("x", x, span).device("y", y, n);
    arguments.apart("y - x", x, span * 4, y, n * 4);
}

inline void check_aos_to_soa(const float* aos,
                             const float* soa,
                             int64_t n,
                             int num_fields) {
    const wb::Arguments arguments("aos_to_soa");
    arguments.size("n", n).require(num_fields >= 1 && num_fields <= 4,
                                   "num_fields",
                                   num_fields,
                                   "must be 1, 2, 3 or 4");
    const int64_t bytes = arguments.product("n * num_fields * sizeof(float)",
                                            {n, num_fields, sizeof(float)});
    arguments.device("aos", aos, bytes / 4).device("soa", soa, bytes / 4);
    arguments.apart("soa - aos", aos, bytes, soa, bytes);
}

inline void check_copy_bytes(const void* source,
                             const void* destination,
                             int64_t num_bytes) {
    const wb::Arguments arguments("copy_bytes");
    arguments.size("num_bytes", num_bytes)
        .device("source", static_cast<const unsigned char*>(source), num_bytes)
        .device(
            "destination", static_cast<const unsigned char*>(destination), num_bytes)
        .apart("destination - source", source, num_bytes, destination, num_bytes);
}
