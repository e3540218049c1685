#pragma once
// A whole graph as one node of another.

#include <memory>

#include "graph.h"

namespace simt::detail {

class GraphOperation : public Operation {
 public:
    explicit GraphOperation(std::shared_ptr<CUgraph_st> graph)
        : graph_(std::move(graph)) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeGraph; }
    cudaError_t check() const override {
        const bool cyclic = graph_->ordered().size() != graph_->nodes.size();
        return cyclic ? cudaErrorInvalidValue : cudaSuccess;
    }
    cudaError_t run(cudaStream_t stream) const override {
        return run_graph(graph_->ordered(), stream);
    }
    CUgraph_st* graph() const { return graph_.get(); }

 private:
    std::shared_ptr<CUgraph_st> graph_;
};

}  // namespace simt::detail
