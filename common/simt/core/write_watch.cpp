// Watched memory is read-only to the processor. The first write faults, is noted, and
// makes the allocation writable again: one write is enough to know of.
#include "write_watch.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "fault.h"
#include "memory.h"
#include "pages.h"
#include "pool.h"
#include "scheduler.h"
#include "signals.h"
#include "simt/write_watch.h"
#include "symbolize.h"

namespace simt {
namespace detail {
namespace {

struct Watch {
    const char* begin;
    const char* end;
    Allocation allocation;
    bool is_writable = false;  // again, since something was written
    bool has_seen = false;
    SeenWrite seen{};
    std::vector<void*> frames{};

    char* pages() const {
        return allocation.begin - reinterpret_cast<uintptr_t>(allocation.begin) % kPage;
    }
    size_t page_bytes() const {
        return round_up(
            static_cast<size_t>(allocation.begin - pages()) + allocation.size, kPage);
    }
    bool has_page(const char* address) const {
        return address >= pages() && address < pages() + page_bytes();
    }
};

std::mutex g_mutex;
std::vector<Watch>& watches() {
    static auto& instance = *new std::vector<Watch>;
    return instance;
}

void note(Watch& watch, const char* address, void* pc) {
    watch.has_seen = true;
    watch.seen.offset = static_cast<size_t>(address - watch.begin);
    watch.frames = capture_frames();
    const auto at = std::find(watch.frames.begin(), watch.frames.end(), pc);
    if (at != watch.frames.end()) watch.frames.erase(watch.frames.begin(), at);
    const Worker* const w = worker;
    if (!w || !w->thread) return;
    watch.seen.kernel = w->launch->body->name;
    const uint3 block = w->block->index;
    const uint3 thread = w->thread->index;
    const unsigned blocks[] = {block.x, block.y, block.z};
    const unsigned threads[] = {thread.x, thread.y, thread.z};
    std::copy_n(blocks, 3, watch.seen.block);
    std::copy_n(threads, 3, watch.seen.thread);
}

}  // namespace

bool note_watched_write(const void* address, void* pc) {
    const std::unique_lock lock(g_mutex, std::try_to_lock);
    if (!lock) {  // another thread is at it: this one comes again
        sched_yield();
        return in_device_range(address);
    }
    const auto* const byte = static_cast<const char*>(address);
    for (Watch& watch : watches()) {
        if (!watch.has_page(byte)) continue;
        if (watch.is_writable) return true;  // since another thread wrote
        if (mprotect(watch.pages(), watch.page_bytes(), PROT_READ | PROT_WRITE) != 0)
            return false;
        watch.is_writable = true;
        // Beside the watched bytes it is found by other means.
        if (byte >= watch.begin && byte < watch.end) note(watch, byte, pc);
        return true;
    }
    return false;
}

}  // namespace detail

void watch_writes(const void* pointer, std::size_t bytes) {
    using namespace detail;
    Allocation allocation;
    if (bytes == 0 || !find_allocation(pointer, &allocation) ||
        allocation.kind != MemoryKind::device)
        return;
    ensure_signal_handlers(now());
    const auto* const begin = static_cast<const char*>(pointer);
    const std::lock_guard lock(g_mutex);
    const Watch watch{begin, begin + bytes, allocation};
    if (mprotect(watch.pages(), watch.page_bytes(), PROT_READ) == 0)
        watches().push_back(watch);
}

std::optional<SeenWrite> end_write_watch(const void* pointer) {
    using namespace detail;
    std::unique_lock lock(g_mutex);
    const auto it =
        std::find_if(watches().begin(), watches().end(), [&](const Watch& watch) {
            return watch.begin == pointer;
        });
    if (it == watches().end()) return std::nullopt;
    Watch watch = std::move(*it);
    watches().erase(it);
    Allocation now;
    const bool lives = find_allocation(pointer, &now) && now.id == watch.allocation.id;
    if (lives && !watch.is_writable)
        mprotect(watch.pages(), watch.page_bytes(), PROT_READ | PROT_WRITE);
    lock.unlock();
    if (!watch.has_seen) return std::nullopt;
    const std::string at = user_place(watch.frames);
    const size_t colon = at.rfind(':');
    watch.seen.file = at.substr(0, colon);
    if (colon != at.npos) watch.seen.line = std::atoi(at.c_str() + colon + 1);
    return watch.seen;
}

}  // namespace simt
