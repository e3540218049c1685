/// wb/apart.h: arrays that must have no byte in common.
#pragma once

#include <wb/arguments.h>

#include <cstdint>

namespace wb {

/// Refuses two arrays that overlap: "result - x in bytes is 4, but the two arrays must
/// not overlap".
///
/// @param names  how their distance reads in a message, "result - x in bytes"
/// @param bytes  of each, >= 0; an array of none overlaps with nothing
inline void check_apart(const Arguments& arguments,
                        const char* names,
                        const void* a,
                        int64_t a_bytes,
                        const void* b,
                        int64_t b_bytes) {
    if (a_bytes == 0 || b_bytes == 0) return;
    const int64_t distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b) -
                                                  reinterpret_cast<uintptr_t>(a));
    arguments.require(distance >= a_bytes || distance <= -b_bytes,
                      names,
                      distance,
                      "the two arrays must not overlap");
}

}  // namespace wb
