#include "host_writes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace simt::check {
namespace {

constexpr size_t kWord = sizeof(uint32_t);

struct Watched {
    const char* end;
    uint32_t word;  // while nobody has written
};

/// By the beginnings of the ranges; never destroyed.
std::map<const char*, Watched>& watched() {
    static auto& instance = *new std::map<const char*, Watched>;
    return instance;
}

size_t place_in_word(const char* p) {
    return reinterpret_cast<uintptr_t>(p) % kWord;
}

/// Looks at a part of one watched range, word by word.
void learn(Shadow& shadow, const char* begin, const char* end, uint32_t word) {
    const char* const fresh = reinterpret_cast<const char*>(&word);
    for (const char* next; begin < end; begin = next) {
        next = std::min(begin + (kWord - place_in_word(begin)), end);
        if (!std::equal(begin, next, fresh + place_in_word(begin)))
            shadow.initialise(begin, static_cast<size_t>(next - begin));
    }
}

}  // namespace

void watch_contents(const char* begin, size_t bytes, uint32_t word) {
    ignore_contents(begin, bytes);
    watched()[begin] = {begin + bytes, word};
}

void ignore_contents(const char* begin, size_t bytes) {
    const char* const end = begin + bytes;
    auto it = watched().upper_bound(begin);
    if (it != watched().begin()) --it;
    while (it != watched().end() && it->first < end) {
        const auto [first, range] = *it;
        if (range.end <= begin) {
            ++it;
            continue;
        }
        it = watched().erase(it);
        if (first < begin) watched()[first] = {begin, range.word};
        if (range.end > end) watched()[end] = range;
    }
}

bool learn_from_contents(Shadow& shadow, const char* begin, size_t bytes) {
    // A word counts as a whole, also where only a byte of it is asked for.
    const char* const end = begin + bytes + kWord - 1;
    begin -= kWord - 1;
    auto it = watched().upper_bound(begin);
    if (it != watched().begin()) --it;
    bool any = false;
    for (; it != watched().end() && it->first < end; ++it) {
        const char* first = std::max(begin, it->first);
        const char* last = std::min(end, it->second.end);
        if (first >= last) continue;
        first = std::max(it->first, first - place_in_word(first));
        learn(shadow, first, last, it->second.word);
        any = true;
    }
    return any;
}

}  // namespace simt::check
