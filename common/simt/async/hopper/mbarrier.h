/// async/hopper/mbarrier.h: the state that an mbarrier's 64 bits hold.
///
///     bits 0-19    arrivals expected in each phase
///     bits 20-39   arrivals that this phase still lacks
///     bits 40-61   bytes that it still lacks, signed: copies may be ahead
///     bit 62       0, which tells it from poison
///     bit 63       parity of the phase
///
/// The hardware's layout is not published, and no program may rely on it.
#pragma once

#include <cstdint>

namespace simt::detail {

struct Mbarrier {
    static constexpr unsigned kMostArrivals = (1u << 20) - 1;
    static constexpr int kMostBytes = (1 << 20) - 1;

    unsigned expected;
    unsigned pending;
    int bytes;
    unsigned phase;

    static bool valid(uint64_t word) {
        return (word >> 62 & 1) == 0 && (word & kMostArrivals) != 0;
    }
    static Mbarrier decode(uint64_t word) {
        return {static_cast<unsigned>(word & kMostArrivals),
                static_cast<unsigned>(word >> 20 & kMostArrivals),
                static_cast<int>(static_cast<int64_t>(word << 2) >> 42),
                static_cast<unsigned>(word >> 63)};
    }
    uint64_t encode() const {
        return uint64_t{expected} | uint64_t{pending} << 20 |
               (static_cast<uint64_t>(static_cast<int64_t>(bytes)) & 0x3fffff) << 40 |
               uint64_t{phase} << 63;
    }
    bool complete() const { return pending == 0 && bytes == 0; }
};

}  // namespace simt::detail
