// Loads through the read-only cache (__ldg, ld.global.nc): nobody may write there while
// the kernel runs, for nothing brings a write to that cache.
//
// Source: CUDA C++ Programming Guide, "Read-Only Data Cache Load Function"; PTX ISA,
// "ld.global.nc".

#include <vector>

#include "immortal.h"
#include "report.h"
#include "state.h"

namespace simt::check {

namespace {

constexpr size_t kCellBytes = 4;

/// Words that the running launch has loaded so, in the order in which it first did.
struct ReadOnlyWords {
    Shadow* shadow;
    const char* begin;
    const char* end;
};
constinit Immortal<std::vector<ReadOnlyWords>> g_read_only_words;
[[gnu::constructor(101)]] void make_read_only_words() {
    g_read_only_words.construct();
}

void add_to_read_only(Shadow& shadow, const char* word) {
    std::vector<ReadOnlyWords>& all = g_read_only_words.value;
    if (!all.empty() && all.back().end == word && all.back().shadow == &shadow)
        all.back().end += kCellBytes;
    else
        all.push_back({&shadow, word, word + kCellBytes});
}

/// Reports the word if the launch has written what it has loaded, before or after: the
/// cell holds the last writes.
void check_word(const detail::Launch& launch, Shadow& shadow, const char* word) {
    const Record read = shadow.read_only(word);
    for (const Record& write : shadow.cell(word)->writes) {
        if (write.segment() < launch_order.first) continue;
        const uint32_t both = write.bytes() & read.bytes();
        if (both != 0)
            report_read_only(launch, word + __builtin_ctz(both), read, write);
    }
}

}  // namespace

void note_read_only(const char* address, size_t bytes, Record now) {
    Shadow& shadow = device_shadow.contains(address) ? device_shadow : static_shadow;
    if (!shadow.contains(address) || !shadow.contains(address + bytes - 1)) return;
    const char* const end = address + bytes;
    const char* word = address - reinterpret_cast<uintptr_t>(address) % kCellBytes;
    for (; word < end; word += kCellBytes) {
        const auto first = word < address ? address - word : 0;
        const auto last = end - word < 4 ? end - word : 4;
        const uint32_t mask = (1u << last) - (1u << first);
        Record& read = shadow.read_only(word);
        if (read.segment() >= launch_order.first) {
            read.add_bytes(now.with_bytes(mask));
        } else {
            read = now.with_bytes(mask);
            add_to_read_only(shadow, word);
        }
    }
}

void check_read_only(const detail::Launch& launch) {
    for (const ReadOnlyWords& words : g_read_only_words.value)
        for (const char* word = words.begin; word < words.end; word += kCellBytes)
            check_word(launch, *words.shadow, word);
    g_read_only_words.value.clear();
}

}  // namespace simt::check
