#include "graph_memory.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "call.h"
#include "core/devices.h"
#include "core/memory.h"
#include "simt/api/graph.h"

namespace simt::detail {
namespace {

std::atomic<uint64_t> g_used = 0;
std::atomic<uint64_t> g_high = 0;

void note_use(uint64_t bytes) {
    const uint64_t now = g_used += bytes;
    uint64_t high = g_high;
    while (high < now && !g_high.compare_exchange_weak(high, now)) {
    }
}

/// The memory of all graphs by address. Never destroyed, as graphs may outlive main.
struct Known {
    std::mutex mutex;
    std::map<void*, GraphMemory*> memory;
};
Known& known() {
    static auto* const instance = new Known;
    return *instance;
}

/// Calls `body` with the graph memory at an address, if there is one.
template <class Body>
bool with_graph_memory(void* pointer, Body body) {
    const std::lock_guard lock(known().mutex);
    const auto found = known().memory.find(pointer);
    if (found == known().memory.end()) return false;
    body(*found->second);
    return true;
}

bool is_high_mark(cudaGraphMemAttributeType attribute) {
    return attribute == cudaGraphMemAttrUsedMemHigh ||
           attribute == cudaGraphMemAttrReservedMemHigh;
}

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::create(size_t bytes) {
    void* pointer = allocate(bytes, MemoryKind::device);
    if (!pointer) return nullptr;
    note_use(bytes);
    std::shared_ptr<GraphMemory> made(new GraphMemory(pointer, bytes));
    const std::lock_guard lock(known().mutex);
    known().memory[pointer] = made.get();
    return made;
}

GraphMemory::~GraphMemory() {
    {
        const std::lock_guard lock(known().mutex);
        known().memory.erase(pointer_);
    }
    g_used -= bytes_;
    if (!allocated_) release(pointer_, MemoryKind::device);
}

bool free_device_memory(void* pointer) {
    bool freed = false;
    const bool of_a_graph = with_graph_memory(pointer, [&](GraphMemory& memory) {
        freed = memory.is_allocated();
        memory.set_allocated(false);
        std::memset(memory.pointer(), 0xFF, memory.bytes());
    });
    return of_a_graph ? freed : release(pointer, MemoryKind::device);
}

bool is_promised(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard lock(known().mutex);
    auto found = known().memory.upper_bound(const_cast<void*>(pointer));
    if (found == known().memory.begin()) return false;
    const GraphMemory& memory = *(--found)->second;
    const auto begin = reinterpret_cast<uintptr_t>(memory.pointer());
    return address - begin < memory.bytes() && !memory.is_allocated();
}

cudaError_t AllocOperation::run(cudaStream_t) const {
    memory_->set_allocated(true);
    std::memset(memory_->pointer(), 0xFF, memory_->bytes());
    return cudaSuccess;
}

cudaError_t FreeOperation::run(cudaStream_t) const {
    with_graph_memory(pointer_,
                      [](GraphMemory& memory) { memory.set_allocated(false); });
    return cudaSuccess;
}

cudaError_t FreeOperation::check() const {
    Allocation allocation;
    const bool known =
        find_allocation(pointer_, &allocation) && allocation.begin == pointer_;
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaDeviceGraphMemTrim(int device) {
    return api_call([&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                           cudaGraphMemAttributeType attribute,
                                           void* value) {
    return api_call([&] {
        if (!is_device(device)) return cudaErrorInvalidDevice;
        if (!value || attribute < cudaGraphMemAttrUsedMemCurrent ||
            attribute > cudaGraphMemAttrReservedMemHigh)
            return cudaErrorInvalidValue;
        *static_cast<uint64_t*>(value) = is_high_mark(attribute) ? g_high : g_used;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                           cudaGraphMemAttributeType attribute,
                                           void* value) {
    return api_call([&] {
        if (!is_device(device)) return cudaErrorInvalidDevice;
        if (!value || !is_high_mark(attribute) || *static_cast<uint64_t*>(value) != 0)
            return cudaErrorInvalidValue;
        g_high = g_used.load();
        return cudaSuccess;
    });
}
