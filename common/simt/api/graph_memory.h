#pragma once
// Memory that a graph allocates while it runs. In the simulator it lives as long as the
// graph and everything instantiated from it, at the address that was promised.

#include <memory>

#include "operation.h"

namespace simt::detail {

/// One such allocation; frees it unless the program already has.
class GraphMemory {
 public:
    /// Null if there is not enough memory.
    static std::shared_ptr<GraphMemory> create(size_t bytes);
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    void* pointer() const { return pointer_; }
    size_t bytes() const { return bytes_; }
    /// False once the program has freed it.
    bool is_live() const;

 private:
    GraphMemory(void* pointer, size_t bytes, int id)
        : pointer_(pointer), bytes_(bytes), id_(id) {}
    void* pointer_;
    size_t bytes_;
    int id_;  // addresses are used again, ids are not
};

/// Allocation as a node: at each launch the contents are undefined (0xFF).
class AllocOperation : public Operation {
 public:
    explicit AllocOperation(std::shared_ptr<GraphMemory> memory)
        : memory_(std::move(memory)) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemAlloc; }
    cudaError_t run(cudaStream_t) const override;

 private:
    std::shared_ptr<GraphMemory> memory_;
};

/// The end of the memory's life within one launch of the graph.
class FreeOperation : public Operation {
 public:
    explicit FreeOperation(void* pointer) : pointer_(pointer) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemFree; }
    cudaError_t check() const override;
    cudaError_t run(cudaStream_t) const override { return cudaSuccess; }

 private:
    void* pointer_;
};

}  // namespace simt::detail
