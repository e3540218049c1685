#include "pointers.h"

#include <dlfcn.h>

#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "call.h"
#include "core/memory.h"

namespace simt::detail {
namespace {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

std::mutex g_symbol_mutex;
std::map<const char*, size_t>& symbols() {
    static auto* const table = new std::map<const char*, size_t>;
    return *table;
}

bool find_symbol(const char* address, Pointee* out) {
    const std::lock_guard lock(g_symbol_mutex);
    auto next = symbols().upper_bound(address);
    if (next == symbols().begin()) return false;
    const auto& [begin, size] = *std::prev(next);
    if (address >= begin + size) return false;
    *out = {Space::device, begin, static_cast<size_t>(begin + size - address)};
    return true;
}

Space space_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
            return Space::device;
        case MemoryKind::managed:
            return Space::managed;
        case MemoryKind::pinned:
        case MemoryKind::registered:
            break;
    }
    return Space::pinned;
}

const char* describe(Space space) {
    switch (space) {
        case Space::host:
            return "a host pointer";
        case Space::pinned:
            return "a pinned host pointer";
        case Space::device:
            return "a device pointer";
        case Space::managed:
            return "a pointer to managed memory";
        case Space::freed:
            break;
    }
    return "a pointer to freed memory";
}

}  // namespace

void note_symbol(const void* address, size_t bytes) {
    const std::lock_guard lock(g_symbol_mutex);
    symbols()[static_cast<const char*>(address)] = bytes;
}

bool in_static_storage(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0;
}

Pointee look_up(const void* address) {
    const char* bytes = static_cast<const char*>(address);
    Allocation allocation;
    if (find_allocation(address, &allocation)) {
        const char* end = allocation.begin + allocation.size;
        return {space_of(allocation.kind), allocation.begin,
                static_cast<size_t>(end - bytes)};
    }
    Pointee symbol;
    if (find_symbol(bytes, &symbol)) return symbol;
    if (in_device_range(address)) return {Space::freed, nullptr, 0};
    return {Space::host, nullptr, kUnlimited};
}

bool check_range(const void* address, size_t bytes, Side side, const char* call,
                 const char* name) {
    if (bytes == 0) return true;
    if (!address) {
        hint("%s: %s is a null pointer", call, name);
        return false;
    }
    const Pointee pointee = look_up(address);
    if (pointee.space == Space::freed) {
        hint("%s: %s (%p) does not point into a live allocation: %s", call, name,
             address, describe_address(address).c_str());
        return false;
    }
    const bool wrong_side = (side == Side::device && !pointee.device_ok()) ||
                            (side == Side::host && !pointee.host_ok());
    if (wrong_side) {
        const bool variable =
            pointee.space == Space::host && in_static_storage(address);
        hint("%s: %s (%p) is %s, but the call needs %s pointer here: %s", call, name,
             address, describe(pointee.space),
             side == Side::device ? "a device" : "a host",
             variable
                 ? "the host reaches a __device__ or __constant__ variable through "
                   "cudaMemcpyToSymbol or cudaGetSymbolAddress"
                 : "are the arguments swapped, or is the direction wrong?");
        return false;
    }
    if (bytes > pointee.bytes_left) {
        hint(
            "%s: %zu bytes at %s (%p) end %zu bytes past the end of their allocation "
            "(sizes are in bytes: is a sizeof missing or too much?)",
            call, bytes, name, address, bytes - pointee.bytes_left);
        return false;
    }
    return true;
}

}  // namespace simt::detail
