#include "sites.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "addr2line.h"
#include "core/symbolize.h"
#include "frames.h"
#include "immortal.h"

namespace simt::check {
namespace {

// A library function may be called through so many others.
constexpr int kMostFrames = 12;

struct Code {
    bool users;
    bool library;    // of the simulator, compiled apart from the program
    bool algorithm;  // in thrust, cub or cuRAND's host part, or inlined there
    Place place;     // if it is the user's
};

struct SiteKey {
    uintptr_t pc;
    uint32_t kind;
    bool operator==(const SiteKey&) const = default;
};
struct SiteHash {
    size_t operator()(const SiteKey& k) const {
        return (k.pc ^ uintptr_t{k.kind} << 48) * 0x9e3779b97f4a7c15u >> 16;
    }
};

struct Cached {
    SiteKey key{};
    uint32_t site = 0;
};

struct Tables {
    std::unordered_map<uintptr_t, Code> codes;
    std::unordered_map<SiteKey, uint32_t, SiteHash> numbers;
    std::vector<Site> sites;
};

constinit Immortal<Tables> g_tables;
[[gnu::constructor(101)]] void make_tables() {
    g_tables.construct();
}
constinit auto& g_codes = g_tables.value.codes;
constinit auto& g_site_numbers = g_tables.value.numbers;
constinit auto& g_sites = g_tables.value.sites;
Cached g_cache[4096];    // by the instruction that accesses
Cached g_climbed[4096];  // by the user's that leads to it

/// The code found last, by a hash of its address; a map's entries stay where they are.
struct CachedCode {
    uintptr_t pc = 0;
    const Code* code = nullptr;
};
CachedCode g_cached_codes[4096];

Code make_code(uintptr_t pc);

const Code& code_at(uintptr_t pc) {
    CachedCode& cached = g_cached_codes[(pc ^ pc >> 12) & 4095];
    if (cached.pc == pc && cached.code) return *cached.code;
    auto it = g_codes.find(pc);
    if (it == g_codes.end()) it = g_codes.emplace(pc, make_code(pc)).first;
    cached = {pc, &it->second};
    return it->second;
}

Code make_code(uintptr_t pc) {
    Code code{};
    const std::vector<std::string> lines = lines_at(pc);
    code.users = lines.empty();  // unknown: there is nothing better outside
    for (const std::string& line : lines) {
        const std::string own = detail::own_path(line);
        if (own.empty()) continue;
        for (const char* part : {"thrust/", "cub/", "curand/host.h"})
            if (own.rfind(std::string("libraries/include/simt/") + part, 0) == 0)
                code.algorithm = true;
        if (own.find("/include/") == std::string::npos) code.library = true;
    }
    for (const std::string& line : lines) {
        const size_t colon = line.rfind(':');
        const std::string file = line.substr(0, std::min(colon, line.size()));
        if (colon == std::string::npos || !detail::is_users(file)) continue;
        code.users = !is_wrapper(file);
        // A wrapper's line is named where nobody's is that calls it.
        if (code.users || code.place.line == 0)
            code.place = {file, std::atoi(line.c_str() + colon + 1)};
        if (code.users) break;
    }
    return code;
}

/// The caller's frame; null if this is not one. The C library, which calls main, is
/// compiled without frame pointers.
void* const* caller_of(void* const* frame) {
    return frame_outside(frame, static_cast<void* const*>(frame[0]));
}

/// Moves pc outwards until it is in the user's code; false if it is nowhere.
bool climb(uintptr_t& pc, void* const* frame) {
    frame = frame_outside(__builtin_frame_address(0), frame);
    for (int i = 0; i < kMostFrames; ++i) {
        if (code_at(pc).users) return true;
        if (!frame || !frame[1]) return false;
        pc = reinterpret_cast<uintptr_t>(frame[1]) - 1;
        frame = caller_of(frame);
    }
    return false;
}

}  // namespace

uint32_t site_of(uintptr_t pc,
                 void* const* frame,
                 uint16_t bytes,
                 bool write,
                 bool atomic,
                 bool* same,
                 bool of_block) {
    const uint32_t kind = bytes * 8u + of_block * 4u + write * 2u + atomic;
    SiteKey key{pc - 1, kind};
    Cached& cached = g_cache[SiteHash()(key) & 4095];
    if (same) *same = true;
    if (cached.key == key) return cached.site;
    uintptr_t user_pc = key.pc;
    const bool known = climb(user_pc, frame);
    const bool direct = user_pc == key.pc;
    if (known) key.pc = user_pc;
    // What a library function does belongs to whoever calls it this time.
    if (same) *same = direct;
    Cached& found = direct ? cached : g_climbed[SiteHash()(key) & 4095];
    if (found.key == key) return found.site;
    const auto [it, fresh] =
        g_site_numbers.try_emplace(key, static_cast<uint32_t>(g_sites.size()));
    if (fresh)
        g_sites.push_back(
            {key.pc, bytes, write, atomic, of_block, code_at(key.pc).place});
    found = {key, it->second};
    return it->second;
}

bool is_wrapper(const std::string& file) {
    static const char* const part = std::getenv("SIMT_CHECK_THROUGH");
    return part && *part && file.find(part) != std::string::npos;
}

const Site& site(uint32_t number) {
    return g_sites[number];
}

Place user_place_of(uintptr_t pc, void* const* frame) {
    pc -= 1;
    climb(pc, frame);
    return code_at(pc).place;
}

bool is_library_code(uintptr_t pc) {
    return code_at(pc - 1).library;
}

bool serves_algorithm(uintptr_t pc, void* const* frame) {
    frame = frame_outside(__builtin_frame_address(0), frame);
    for (int i = 0; i < kMostFrames; ++i) {
        if (code_at(pc - 1).algorithm) return true;
        if (!frame || !frame[1]) return false;
        pc = reinterpret_cast<uintptr_t>(frame[1]);
        frame = caller_of(frame);
    }
    return false;
}

}  // namespace simt::check
