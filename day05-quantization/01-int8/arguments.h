/// arguments.h: given with this exercise: sizes and addresses that the contract
/// refuses. There is nothing to write here.
#pragma once

#include <wb/arguments.h>

#include <cstdint>

/// Refuses an address that is no multiple of 16 bytes.
inline void require_16_bytes(const wb::Arguments& arguments,
                             const char* name,
                             const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    arguments.require(address % 16 == 0,
                      name,
                      static_cast<int64_t>(address),
                      "must be a multiple of 16 (bytes)");
}

/// Refuses sizes that are negative, too large, or no multiple.
inline void require_size(const wb::Arguments& arguments,
                         const char* name,
                         int64_t size,
                         int64_t most,
                         int64_t multiple) {
    arguments.size(name, size)
        .require(size <= most, name, size, "is too large: see the contract")
        .require(size % multiple == 0,
                 name,
                 size,
                 multiple == 16 ? "must be a multiple of 16: vectors of 16 bytes"
                                : "must be a multiple of 8: vectors of 16 bytes");
}

inline constexpr int64_t kMostRows = int64_t{1} << 30;
/// 2^16 products of 255 and 128 stay below 2^31.
inline constexpr int64_t kMostColumns = int64_t{1} << 16;
