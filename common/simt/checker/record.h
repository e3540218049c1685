/// checker/record.h: a remembered memory access, packed into eight bytes.
#pragma once

#include <cstdint>

namespace simt::check {

constexpr uint32_t kLanes = 32;           // of a warp
constexpr uint32_t kWarpgroupSize = 128;  // threads
constexpr uint32_t kRanks = 1024;         // a record tells so many of a block apart

/// Who accessed some bytes of a word, when, and where in the source.
///
/// Time is counted in segments. A segment is what a thread does from one point of
/// synchronisation to the next; its number is unique in the process, belongs to one
/// block, and grows with time. The threads of a block share one after a barrier.
class Record {
 public:
    constexpr Record() = default;
    /// An access without bytes: with_bytes() adds them.
    Record(uint32_t segment, uint32_t thread, uint32_t site, bool atomic)
        : bits_(uint64_t{segment} << 32 |
                uint64_t{site < kSites ? site : kSites - 1} << 15 |
                uint64_t{thread & 1023} << 5 | uint64_t{atomic} << 4) {}
    /// @param bytes  one bit for each byte of the word
    Record with_bytes(uint32_t bytes) const {
        Record r;
        r.bits_ = bits_ | bytes;
        return r;
    }

    bool empty() const { return bits_ == 0; }
    uint32_t segment() const { return static_cast<uint32_t>(bits_ >> 32); }
    uint32_t site() const { return static_cast<uint32_t>(bits_ >> 15) & (kSites - 1); }
    uint32_t thread() const { return static_cast<uint32_t>(bits_ >> 5) & 1023; }
    uint32_t warp() const { return thread() / kLanes; }
    bool atomic() const { return bits_ >> 4 & 1; }
    uint32_t bytes() const { return static_cast<uint32_t>(bits_ & 15); }

    /// True if both are of one thread and one segment.
    bool same_time(Record other) const {
        return ((bits_ ^ other.bits_) & kWhoAndWhen) == 0;
    }
    /// What two records say that leave out different things.
    Record operator|(Record other) const {
        Record r;
        r.bits_ = bits_ | other.bits_;
        return r;
    }
    void add_bytes(Record other) { bits_ |= other.bits_ & 15; }
    void remove_bytes(uint32_t bytes) {
        bits_ &= ~uint64_t{bytes};
        if ((bits_ & 15) == 0) bits_ = 0;
    }

 private:
    static constexpr uint32_t kSites = 1u << 17;
    static constexpr uint64_t kWhoAndWhen = 0xffffffff00007fe0u;

    uint64_t bits_ = 0;
};

/// What is remembered of a word of four bytes.
struct Cell {
    Record writes[2];
    Record reads[2];
};

/// Notes a write, and forgets what it makes void.
inline void remember_write(Cell& cell, Record now) {
    const uint32_t bytes = now.bytes();
    if (bytes == 15) {
        cell.reads[0] = cell.reads[1] = Record();
    } else {
        cell.reads[0].remove_bytes(bytes);
        cell.reads[1].remove_bytes(bytes);
    }
    Record& last = cell.writes[0];
    Record& before = cell.writes[1];
    const bool replaces = (last.bytes() & ~bytes) == 0 &&
                          !(last.atomic() && now.atomic() && !last.same_time(now));
    if (replaces) {
        before.remove_bytes(bytes);
    } else {
        if (!now.atomic()) last.remove_bytes(bytes);
        before = last;
    }
    last = now;
}

}  // namespace simt::check
