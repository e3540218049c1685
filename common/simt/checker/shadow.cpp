#include "shadow.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace simt::check {
namespace {

constexpr size_t kPage = 4096;

void* reserve(size_t bytes) {
    void* p = mmap(nullptr,
                   bytes,
                   PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1,
                   0);
    if (p != MAP_FAILED) return p;
    std::fprintf(
        stderr,
        "==SIMT== --check needs %zu GB of addresses (not of memory), which the "
        "system refuses:\n    is there a limit (ulimit -v, "
        "vm.overcommit_memory=2)?\n",
        bytes >> 30);
    std::exit(1);
}

/// Gives back the pages that lie entirely within a range.
void give_back(char* begin, char* end) {
    auto first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) & ~(kPage - 1);
    auto last = reinterpret_cast<uintptr_t>(end) & ~(kPage - 1);
    if (first < last)
        madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

void Shadow::map(const char* begin, size_t bytes) {
    cells_ = static_cast<Cell*>(reserve(bytes / 4 * sizeof(Cell) + sizeof(Cell)));
    // Bits are read four bytes at a time.
    initialised_ = static_cast<uint8_t*>(reserve(bytes / 8 + sizeof(uint32_t)));
    begin_ = begin;
    bytes_ = bytes;
}

void Shadow::map_read_only() {
    read_only_ = static_cast<Record*>(reserve((bytes_ / 4 + 1) * sizeof(Record)));
}

void Shadow::set_initialised(const char* p, size_t n, bool value) {
    auto at = static_cast<size_t>(p - begin_);
    const auto set = [&](size_t count) {
        for (; count != 0; --count, --n, ++at) {
            const auto bit = static_cast<uint8_t>(1u << (at & 7));
            uint8_t& byte = initialised_[at >> 3];
            byte = static_cast<uint8_t>(value ? byte | bit : byte & ~bit);
        }
    };
    const size_t head = (8 - at % 8) % 8;
    set(head < n ? head : n);
    std::memset(initialised_ + (at >> 3), value ? 0xff : 0, n / 8);
    at += n / 8 * 8;
    set(n % 8);
}

bool Shadow::any_initialised(const char* p, size_t n) const {
    for (size_t i = 0; i < n; i += 16)
        if (written(p + i, n - i < 16 ? n - i : 16) != 0) return true;
    return false;
}

bool Shadow::all_initialised(const char* p, size_t n) const {
    for (size_t i = 0; i < n; i += 16)
        if (!initialised(p + i, n - i < 16 ? n - i : 16)) return false;
    return true;
}

void Shadow::copy_initialised(const char* to,
                              const Shadow& other,
                              const char* from,
                              size_t n) {
    const auto target = static_cast<size_t>(to - begin_);
    const auto source = static_cast<size_t>(from - other.begin_);
    if (target % 8 == 0 && source % 8 == 0) {
        std::memmove(initialised_ + target / 8, other.initialised_ + source / 8, n / 8);
        const size_t done = n / 8 * 8;
        to += done;
        from += done;
        n -= done;
    }
    for (size_t i = 0; i < n; ++i)
        set_initialised(to + i, 1, other.written(from + i, 1) != 0);
}

void Shadow::forget_accesses() {
    if (mapped()) madvise(cells_, bytes_ / 4 * sizeof(Cell), MADV_DONTNEED);
    if (read_only_) madvise(read_only_, bytes_ / 4 * sizeof(Record), MADV_DONTNEED);
}

void Shadow::forget(const char* p, size_t n) {
    Cell* first = cell(p);
    give_back(reinterpret_cast<char*>(first),
              reinterpret_cast<char*>(first + (n + 3) / 4));
    set_initialised(p, n, false);
}

}  // namespace simt::check
