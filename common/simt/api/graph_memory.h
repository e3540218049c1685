#pragma once
// Memory that a graph allocates while it runs, at the address that was promised when
// the node was made. The simulator keeps the address between launches; the program may
// free the memory between them, and the next launch allocates it again.

#include <memory>

#include "operation.h"

namespace simt::detail {

/// One such allocation. What is allocated when the last graph with it goes stays, for
/// the program to free.
class GraphMemory {
 public:
    /// Null if there is not enough memory.
    static std::shared_ptr<GraphMemory> create(size_t bytes);
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    void* pointer() const { return pointer_; }
    size_t bytes() const { return bytes_; }
    /// Between a launch that allocates it and whatever frees it.
    bool is_allocated() const { return allocated_; }
    void set_allocated(bool yes) { allocated_ = yes; }

 private:
    GraphMemory(void* pointer, size_t bytes) : pointer_(pointer), bytes_(bytes) {}
    void* pointer_;
    size_t bytes_;
    bool allocated_ = false;
};

/// Frees memory of cudaMalloc and its relatives, or of a graph. False if it is neither,
/// or is free already.
bool free_device_memory(void* pointer);

/// The address is promised to a graph that is not running: it is no memory yet.
bool is_promised(const void* pointer);

/// Allocation as a node: at each launch the contents are undefined (0xFF).
class AllocOperation : public Operation {
 public:
    explicit AllocOperation(std::shared_ptr<GraphMemory> memory)
        : memory_(std::move(memory)) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemAlloc; }
    cudaError_t run(cudaStream_t) const override;
    const GraphMemory& memory() const { return *memory_; }

 private:
    std::shared_ptr<GraphMemory> memory_;
};

/// The end of the memory's life within one launch of the graph.
class FreeOperation : public Operation {
 public:
    explicit FreeOperation(void* pointer) : pointer_(pointer) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemFree; }
    cudaError_t check() const override;
    cudaError_t run(cudaStream_t) const override;

 private:
    void* pointer_;
};

}  // namespace simt::detail
