/// checker/quick.h: the usual access, checked in the compiler's hook itself.
///
/// Most accesses are to the variable that the instruction has accessed before, and race
/// with nothing that the word remembers. For them all that access() would find out
/// again is kept: by instruction, where its variable lies (Known); by running thread,
/// what is ordered before it (Running). Whatever is unusual goes to access(), or from
/// the word on to check_words(): the findings are the same.
#pragma once

#include <cstring>

#include "access.h"
#include "checker.h"
#include "state.h"

namespace simt::check {

/// What an instruction may access without further questions: a part of one variable.
struct alignas(64) Known {
    uintptr_t pc = 0;
    const char* begin = nullptr;
    size_t starts = 0;  // so many bytes of it can begin an access
    uint64_t generation = 0;
    Cell* cells = nullptr;
    uint8_t* initialised = nullptr;  // a bit for each byte; null: all of it always is
    Record site;
    Reach reach = Reach::device;
};

constexpr size_t kKnown = 4096;
extern Known known_accesses[kKnown];

inline size_t known_index(uintptr_t pc) {
    return (pc ^ pc >> 12) % kKnown;
}

/// Checks the words of an access from number `first` on for races, one by one.
void check_words(Known& known,
                 char* address,
                 uint32_t bytes,
                 bool write,
                 uint32_t first,
                 uintptr_t pc,
                 void* const* frame,
                 detail::Worker& worker);

/// Remembers a read of a word; false if that needs a closer look.
inline bool quick_read(Cell& cell, Record now, const Ordered& ordered) {
    for (const Record& w : cell.writes)
        if (!w.same_time(now) && !ordered.contains(w, now)) [[unlikely]]
            return false;
    // As read_word() has it, see race.cpp.
    Record& first = cell.reads[0];
    Record& second = cell.reads[1];
    if (first.same_time(now)) {
        first.add_bytes(now);
    } else if (ordered.contains(first, now)) {
        first = now;
    } else if (!ordered.all) {
        return false;
    } else if (second.same_time(now)) {
        second.add_bytes(now);
    } else if (second.warp() == first.warp() || ordered.contains(second, now)) {
        second = now;
    }
    return true;
}

/// The same for a write.
inline bool quick_write(Cell& cell, Record now, const Ordered& ordered) {
    for (const Record& w : cell.writes)
        if (!w.same_time(now) && !ordered.contains(w, now)) [[unlikely]]
            return false;
    for (const Record& r : cell.reads)
        if (!r.same_time(now) && !ordered.contains(r, now)) [[unlikely]]
            return false;
    remember_write(cell, now);
    return true;
}

/// Checks a load or store of N bytes; false if access() must. Nobody may interrupt.
///
/// @param frame  of the function that accesses
template <uint32_t N, bool kWrites>
[[gnu::always_inline]] inline bool quick_access(char* p,
                                                uintptr_t pc,
                                                void* const* frame,
                                                detail::Worker& w) {
    Known& known = known_accesses[known_index(pc)];
    const auto at = static_cast<size_t>(p - known.begin);
    if (w.thread != running.thread || known.pc != pc || at >= known.starts ||
        at % N != 0 || known.generation != memory_generation[int(known.reach)])
        [[unlikely]]
        return false;
    constexpr uint32_t kAll = (1u << N) - 1;
    if (known.initialised) {
        uint8_t* bits = known.initialised + at / 8;
        if constexpr (N <= 8) {
            // Aligned: all in one byte.
            const auto wanted = static_cast<uint8_t>(kAll << at % 8);
            if (kWrites)
                *bits |= wanted;
            else if ((*bits & wanted) != wanted) [[unlikely]]
                return false;
        } else {
            uint16_t both;
            std::memcpy(&both, bits, sizeof both);
            if (kWrites)
                std::memset(bits, 0xff, sizeof both);
            else if (both != kAll) [[unlikely]]
                return false;
        }
    }
    Cell* cell = known.cells + at / 4;
    const Ordered& ordered =
        known.reach == Reach::shared ? running.in_shared : running.elsewhere;
    const Record now = running.record | known.site;
    constexpr uint32_t kWords = N < 4 ? 1 : N / 4;
    const uint32_t bytes = N < 4 ? kAll << at % 4 : 15;
    for (uint32_t i = 0; i < kWords; ++i) {
        const bool done = kWrites ? quick_write(cell[i], now.with_bytes(bytes), ordered)
                                  : quick_read(cell[i], now.with_bytes(bytes), ordered);
        if (!done) [[unlikely]] {
            check_words(known, p, N, kWrites, i, pc, frame, w);
            break;
        }
    }
    return true;
}

}  // namespace simt::check
