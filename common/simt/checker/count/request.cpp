#include "request.h"

#include <algorithm>

namespace simt::check {
namespace {

struct Addresses {
    unsigned count = 0;
    uintptr_t value[kLanes];
};

/// The addresses of the lanes that take part, in ascending order.
Addresses sorted_addresses(const Request& request) {
    Addresses a;
    bool ascending = true;
    for (uint32_t rest = request.lanes; rest != 0; rest &= rest - 1) {
        const uintptr_t value = request.address[__builtin_ctz(rest)];
        if (a.count != 0 && value < a.value[a.count - 1]) ascending = false;
        a.value[a.count++] = value;
    }
    if (!ascending) std::sort(a.value, a.value + a.count);
    return a;
}

/// The most equal values in a row.
unsigned longest_run(const Addresses& a) {
    unsigned longest = 0, run = 0;
    for (unsigned i = 0; i < a.count; ++i) {
        run = i != 0 && a.value[i] == a.value[i - 1] ? run + 1 : 1;
        longest = std::max(longest, run);
    }
    return longest;
}

/// The different words that some lanes want from each bank.
struct Banks {
    unsigned count[kBanks] = {};
    uintptr_t words[kBanks][kLanes];
    unsigned most = 0;
    unsigned total = 0;

    void want(uintptr_t word) {
        const unsigned bank = word % kBanks;
        uintptr_t* const begin = words[bank];
        uintptr_t* const end = begin + count[bank];
        if (std::find(begin, end, word) != end) return;
        *end = word;
        most = std::max(most, ++count[bank]);
        ++total;
    }
};

/// Does each lane want what the lane wants that is so far apart?
bool pairs_share(const Request& request, unsigned apart) {
    for (uint32_t rest = request.lanes; rest != 0; rest &= rest - 1) {
        const unsigned lane = __builtin_ctz(rest), other = lane ^ apart;
        if ((request.lanes >> other & 1) == 0) return false;
        if (request.address[lane] != request.address[other]) return false;
    }
    return true;
}

}  // namespace

Sectors sectors_of(const Request& request) {
    const Addresses a = sorted_addresses(request);
    Sectors s;
    uintptr_t wanted = 0, end = 0;
    for (unsigned i = 0; i < a.count; ++i) {
        const uintptr_t first = a.value[i], last = first + request.bytes;
        if (last > end) wanted += last - std::max(first, end);
        end = std::max(end, last);
        for (uintptr_t n = first / kSectorBytes; n <= (last - 1) / kSectorBytes; ++n)
            if (s.count == 0 || s.number[s.count - 1] < n) s.number[s.count++] = n;
    }
    s.ideal = static_cast<unsigned>((wanted + kSectorBytes - 1) / kSectorBytes);
    return s;
}

Wavefronts wavefronts_of(const Request& request) {
    unsigned group = request.bytes <= 4   ? kLanes
                     : request.bytes == 8 ? kLanes / 2
                                          : kLanes / 4;
    if (group < kLanes && (pairs_share(request, 1) || pairs_share(request, 2)))
        group *= 2;
    Wavefronts w;
    for (unsigned first = 0; first < kLanes; first += group) {
        const uint32_t members = group == 32 ? ~0u : ((1u << group) - 1) << first;
        Banks banks;
        for (uint32_t rest = request.lanes & members; rest != 0; rest &= rest - 1) {
            const uintptr_t address = request.address[__builtin_ctz(rest)];
            for (uintptr_t word = address / 4;
                 word <= (address + request.bytes - 1) / 4;
                 ++word)
                banks.want(word);
        }
        w.count += banks.most;
        w.ideal += (banks.total + kBanks - 1) / kBanks;
        w.ways = std::max(w.ways, banks.most);
    }
    return w;
}

Contention contention_of(const Request& request, bool shared) {
    const Addresses a = sorted_addresses(request);
    Contention c;
    c.same_address = c.steps = longest_run(a);
    if (!shared) return c;
    unsigned in_bank[kBanks] = {};
    for (unsigned i = 0; i < a.count; ++i)
        c.steps = std::max(c.steps, ++in_bank[a.value[i] / 4 % kBanks]);
    return c;
}

unsigned words_of(const Request& request) {
    const Addresses a = sorted_addresses(request);
    unsigned count = 0;
    uintptr_t last = 0;
    for (unsigned i = 0; i < a.count; ++i) {
        const uintptr_t word = a.value[i] / 4;
        if (count == 0 || word != last) ++count;
        last = word;
    }
    return count;
}

}  // namespace simt::check
