#include "graph_memory.h"

#include <atomic>
#include <cstdint>
#include <cstring>

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

bool is_high_mark(cudaGraphMemAttributeType attribute) {
    return attribute == cudaGraphMemAttrUsedMemHigh ||
           attribute == cudaGraphMemAttrReservedMemHigh;
}

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::create(size_t bytes) {
    void* pointer = allocate(bytes, MemoryKind::device);
    Allocation allocation;
    if (!pointer || !find_allocation(pointer, &allocation)) return nullptr;
    note_use(bytes);
    return std::shared_ptr<GraphMemory>(new GraphMemory(pointer, bytes, allocation.id));
}

GraphMemory::~GraphMemory() {
    g_used -= bytes_;
    if (is_live()) release(pointer_, MemoryKind::device);
}

bool GraphMemory::is_live() const {
    Allocation allocation;
    return find_allocation(pointer_, &allocation) && allocation.id == id_;
}

cudaError_t AllocOperation::run(cudaStream_t) const {
    if (!memory_->is_live()) {
        hint(
            "cudaGraphLaunch: the graph's own memory (%p) has been freed by the "
            "program; "
            "the simulator cannot allocate it again",
            memory_->pointer());
        return cudaErrorNotSupported;
    }
    std::memset(memory_->pointer(), 0xFF, memory_->bytes());
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
