#include "graph_memory.h"

#include <cstring>

#include "../memory.h"
#include "call.h"

namespace simt::detail {

std::shared_ptr<GraphMemory> GraphMemory::create(size_t bytes) {
    void* pointer = allocate(bytes, MemoryKind::device);
    Allocation allocation;
    if (!pointer || !find_allocation(pointer, &allocation)) return nullptr;
    return std::shared_ptr<GraphMemory>(new GraphMemory(pointer, bytes, allocation.id));
}

GraphMemory::~GraphMemory() {
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
