#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "devices.h"
#include "observer.h"
#include "options.h"
#include "pages.h"

namespace simt::detail {
namespace {

constexpr size_t kAlignment = 256;  // what cudaMalloc promises
// Written around an allocation where there is room: NaN as half, bfloat16, float and
// double, and not the 0xFF that many kernels write themselves.
constexpr unsigned char kSlack[2] = {0xfe, 0xff};
constexpr size_t kFrontSlack = 64;
constexpr size_t kFullPoison = size_t{256} << 20;
constexpr size_t kEdgePoison = size_t{16} << 20;
constexpr size_t kRemembered = 100000;  // freed allocations, for reports

struct Entry {
    Allocation allocation;
    char* pages;  // accessible while live
    size_t page_bytes;
    bool hidden = false;  // another device's, while a kernel runs
};

/// All state of the allocator; never destroyed, because programs free in destructors of
/// static objects.
class Table {
 public:
    Table();
    void* allocate(size_t bytes, MemoryKind kind);
    bool release(void* pointer, MemoryKind kind);
    bool register_host(void* pointer, size_t bytes);
    bool find(const void* address, Allocation* out);
    std::string describe(const void* address, bool* freed);
    bool check_slack(const void* address, std::string* what);
    void release_all();
    void release_device(int device);
    void set_visible(const void* pointer, uint32_t devices);
    void hide(int device);
    void show();
    bool hides(const void* address) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        const auto it = lock ? containing(address) : live_.end();
        return it != live_.end() && it->second.hidden;
    }
    size_t used_by(int device) {
        const std::lock_guard lock(mutex_);
        return used_by_[device];
    }
    bool in_range(const void* address) const {
        const auto* p = static_cast<const char*>(address);
        return p >= range_ && p < range_ + range_bytes_;
    }
    void range(char** begin, char** end) const {
        *begin = range_;
        *end = range_ + range_bytes_;
    }
    size_t used() {
        const std::lock_guard lock(mutex_);
        return used_;
    }

 private:
    using Map = std::map<char*, Entry>;
    Map::iterator containing(const void* address);
    char* carve(size_t bytes);
    void retire(Map::iterator it);

    std::mutex mutex_;
    Map live_;                      // by begin
    std::map<char*, Entry> freed_;  // by begin
    char* range_ = nullptr;
    size_t range_bytes_ = 0;
    size_t range_used_ = 0;
    size_t used_ = 0;
    size_t used_by_[kMostDevices] = {};
    int running_on_ = 0;  // while memory is hidden
    int next_id_ = 1;
};

Table& table() {
    static Table* const instance = new Table;
    return *instance;
}

Table::Table() {
    // An observer keeps several times as much about it.
    const size_t most = size_t{observer ? 256u : 16384u} << 30;
    for (size_t bytes = most; bytes >= size_t{1} << 34; bytes /= 4) {
        void* p = mmap(nullptr,
                       bytes,
                       PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1,
                       0);
        if (p == MAP_FAILED) continue;
        range_ = static_cast<char*>(p);
        range_bytes_ = bytes;
        return;
    }
}

/// Takes the next `bytes` of the address range, made accessible, with a guard page
/// before and after.
char* Table::carve(size_t bytes) {
    const size_t need = bytes + kPage;
    if (need > range_bytes_) return nullptr;
    size_t start = range_used_;
    if (start + need > range_bytes_)
        start = 0;  // used up: begin again, over old ground
    for (;;) {      // step over what is still alive there
        char* begin = range_ + start;
        auto it = live_.lower_bound(begin);
        if (it != live_.begin()) {
            const Entry& before = std::prev(it)->second;
            const char* end = before.pages + before.page_bytes;
            if (before.page_bytes != 0 && end + kPage > begin) {
                start = static_cast<size_t>(end + kPage - range_);
                if (start + need > range_bytes_) return nullptr;
                continue;
            }
        }
        if (it != live_.end() && it->second.page_bytes != 0 &&
            it->second.pages < begin + need) {
            start =
                static_cast<size_t>(it->second.pages + it->second.page_bytes - range_) +
                kPage;
            if (start + need > range_bytes_) return nullptr;
            continue;
        }
        char* pages = begin + kPage;
        if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
        range_used_ = start + need;
        return pages;
    }
}

void fill_pattern(char* begin, char* end) {
    for (char* p = begin; p < end; ++p)
        *p = static_cast<char>(kSlack[reinterpret_cast<uintptr_t>(p) & 1]);
}

/// What nobody has written: 0xFF, or words that the observer knows again.
void fill_fresh(char* begin, size_t bytes, bool observed) {
    if (!observed) {
        std::memset(begin, 0xff, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += sizeof kUnwrittenWord)
        std::memcpy(
            begin + i, &kUnwrittenWord, std::min(bytes - i, sizeof kUnwrittenWord));
}

void* Table::allocate(size_t bytes, MemoryKind kind) {
    if (bytes == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    const size_t limit = options().memory_bytes;
    if (bytes > limit || used_ > limit - bytes) return nullptr;
    const int device = current_device();
    const size_t share = memory_limit_of_device();
    if (bytes > share || used_by_[device] > share - bytes) return nullptr;
    const size_t rounded = round_up(bytes, options().tight ? 16 : kAlignment);
    const size_t page_bytes = round_up(rounded, kPage);
    char* pages = carve(page_bytes);
    if (!pages) return nullptr;
    char* begin = pages + (page_bytes - rounded);
    if (options().poison) {
        const bool observed = observer && kind != MemoryKind::device;
        if (bytes <= kFullPoison) {
            fill_fresh(begin, bytes, observed);
        } else {
            const size_t last = round_up(bytes - kEdgePoison, sizeof kUnwrittenWord);
            fill_fresh(begin, kEdgePoison, observed);
            fill_fresh(begin + last, bytes - last, observed);
        }
    }
    fill_pattern(std::max(pages, begin - kFrontSlack), begin);
    fill_pattern(begin + bytes, pages + page_bytes);
    freed_.erase(freed_.lower_bound(pages), freed_.lower_bound(pages + page_bytes));
    live_[begin] = {{begin, bytes, kind, true, next_id_++, device}, pages, page_bytes};
    used_ += bytes;
    used_by_[device] += bytes;
    if (observer) observer->allocated(live_[begin].allocation);
    return begin;
}

void Table::retire(Map::iterator it) {
    Entry& entry = it->second;
    if (observer) observer->released(entry.allocation);
    if (entry.page_bytes != 0) {
        used_ -= entry.allocation.size;
        used_by_[entry.allocation.device] -= entry.allocation.size;
        madvise(entry.pages, entry.page_bytes, MADV_DONTNEED);
        mprotect(entry.pages, entry.page_bytes, PROT_NONE);
        entry.allocation.live = false;
        if (freed_.size() >= kRemembered) freed_.erase(freed_.begin());
        freed_[it->first] = entry;
    }
    live_.erase(it);
}

bool Table::release(void* pointer, MemoryKind kind) {
    const std::lock_guard lock(mutex_);
    const auto it = live_.find(static_cast<char*>(pointer));
    if (it == live_.end() || it->second.allocation.kind != kind) return false;
    retire(it);
    return true;
}

bool Table::register_host(void* pointer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto* begin = static_cast<char*>(pointer);
    if (!begin || bytes == 0) return false;
    const auto it = live_.lower_bound(begin);
    if (it != live_.end() && it->first < begin + bytes) return false;
    if (containing(begin) != live_.end()) return false;
    live_[begin] = {
        {begin, bytes, MemoryKind::registered, true, next_id_++, current_device()},
        nullptr,
        0};
    if (observer) observer->allocated(live_[begin].allocation);
    return true;
}

Table::Map::iterator Table::containing(const void* address) {
    auto* p = static_cast<char*>(const_cast<void*>(address));
    auto it = live_.upper_bound(p);
    if (it == live_.begin()) return live_.end();
    --it;
    return p < it->first + it->second.allocation.size ? it : live_.end();
}

bool Table::find(const void* address, Allocation* out) {
    const std::lock_guard lock(mutex_);
    const auto it = containing(address);
    if (it == live_.end()) return false;
    *out = it->second.allocation;
    return true;
}

void Table::release_all() {
    const std::lock_guard lock(mutex_);
    while (!live_.empty())
        retire(live_.begin());
}

void Table::release_device(int device) {
    const std::lock_guard lock(mutex_);
    for (auto it = live_.begin(); it != live_.end();) {
        const auto next = std::next(it);
        if (it->second.allocation.device == device) retire(it);
        it = next;
    }
}

void Table::set_visible(const void* pointer, uint32_t devices) {
    const std::lock_guard lock(mutex_);
    const auto it = containing(pointer);
    if (it != live_.end()) it->second.allocation.visible_to = devices;
}

void Table::hide(int device) {
    const std::lock_guard lock(mutex_);
    running_on_ = device;
    for (auto& [begin, entry] : live_) {
        const Allocation& a = entry.allocation;
        if (a.kind != MemoryKind::device || has_peer_access(device, a.device) ||
            (a.visible_to >> device & 1) != 0)
            continue;
        mprotect(entry.pages, entry.page_bytes, PROT_NONE);
        entry.hidden = true;
    }
}

void Table::show() {
    const std::lock_guard lock(mutex_);
    for (auto& [begin, entry] : live_) {
        if (!entry.hidden) continue;
        mprotect(entry.pages, entry.page_bytes, PROT_READ | PROT_WRITE);
        entry.hidden = false;
    }
}

const char* kind_name(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
            return "device";
        case MemoryKind::managed:
            return "managed";
        case MemoryKind::pinned:
            return "pinned host";
        case MemoryKind::registered:
            return "registered host";
    }
    return "";
}

std::string name(const Allocation& a) {
    return std::string(kind_name(a.kind)) + " allocation #" + std::to_string(a.id) +
           " (" + std::to_string(a.size) + " bytes)";
}

/// "8 bytes past the end of ...", for an address not more than a guard page away.
std::string distance(const char* p, const Allocation& a) {
    if (p >= a.begin + a.size)
        return std::to_string(p - (a.begin + a.size)) + " bytes past the end of ";
    if (p < a.begin) return std::to_string(a.begin - p) + " bytes before ";
    return "byte " + std::to_string(p - a.begin) + " of ";
}

std::string Table::describe(const void* address, bool* freed) {
    *freed = false;
    // Called from a fault report, perhaps of a thread that holds the lock: do not wait.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return "";
    auto* p = static_cast<char*>(const_cast<void*>(address));
    if (p < range_ || p >= range_ + range_bytes_) return "";
    auto dead = freed_.upper_bound(p);
    if (dead != freed_.begin()) {
        const Allocation& a = (--dead)->second.allocation;
        if (p < a.begin + a.size) {
            *freed = true;
            return "byte " + std::to_string(p - a.begin) + " of " + name(a) +
                   ", which has been freed";
        }
    }
    const auto after = live_.upper_bound(p);
    const Allocation* best = nullptr;
    if (after != live_.begin()) {
        const Entry& entry = std::prev(after)->second;
        best = &entry.allocation;
        if (entry.hidden && p < best->begin + best->size)
            return distance(p, *best) + name(*best) + ": memory of device " +
                   std::to_string(best->device) + ", from a kernel on device " +
                   std::to_string(running_on_) +
                   " without cudaDeviceEnablePeerAccess(" +
                   std::to_string(best->device) + ", 0)";
    }
    if (after != live_.end()) {
        const Allocation& a = after->second.allocation;
        if (!best || a.begin - p < p - (best->begin + best->size)) best = &a;
    }
    return best ? distance(p, *best) + name(*best) : "";
}

bool Table::check_slack(const void* address, std::string* what) {
    const std::lock_guard lock(mutex_);
    const auto it = containing(address);
    if (it == live_.end() || it->second.page_bytes == 0) return true;
    const Entry& e = it->second;
    const Allocation& a = e.allocation;
    const auto intact = [](const char* p) {
        return static_cast<unsigned char>(*p) ==
               kSlack[reinterpret_cast<uintptr_t>(p) & 1];
    };
    const auto bad = [&](char* begin, char* end) {
        const char* p = begin;
        while (p < end && intact(p))
            ++p;
        if (p == end) return false;
        *what = "somebody wrote " + distance(p, a) + name(a);
        fill_pattern(begin, end);  // reported once is enough
        return true;
    };
    return !bad(a.begin + a.size, e.pages + e.page_bytes) &&
           !bad(std::max(e.pages, a.begin - kFrontSlack), a.begin);
}

}  // namespace

void* allocate(size_t bytes, MemoryKind kind) {
    return table().allocate(bytes, kind);
}

bool release(void* pointer, MemoryKind kind) {
    return table().release(pointer, kind);
}

bool register_host(void* pointer, size_t bytes) {
    return table().register_host(pointer, bytes);
}

bool unregister_host(void* pointer) {
    return table().release(pointer, MemoryKind::registered);
}

bool find_allocation(const void* address, Allocation* out) {
    return table().find(address, out);
}

bool in_device_range(const void* address) {
    return table().in_range(address);
}

void device_range(char** begin, char** end) {
    table().range(begin, end);
}

size_t memory_used() {
    return table().used();
}

size_t memory_limit() {
    return options().memory_bytes;
}

size_t memory_used(int device) {
    return table().used_by(device);
}

size_t memory_limit_of_device() {
    return memory_limit() / static_cast<size_t>(device_count());
}

void release_all() {
    table().release_all();
}

void release_device(int device) {
    table().release_device(device);
}

void set_visible(const void* pointer, uint32_t devices) {
    table().set_visible(pointer, devices);
}

void hide_peer_memory(int device) {
    table().hide(device);
}

void show_all_memory() {
    table().show();
}

bool is_hidden(const void* address) {
    return table().hides(address);
}

std::string describe_address(const void* address, bool* freed) {
    bool ignored = false;
    return table().describe(address, freed ? freed : &ignored);
}

bool check_slack(const void* address, std::string* what) {
    return table().check_slack(address, what);
}

}  // namespace simt::detail
