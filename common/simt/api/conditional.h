#pragma once
// Nodes that run their graphs, or not, as a value says that kernels set.

#include <memory>
#include <vector>

#include "graph.h"
#include "operation.h"

namespace simt::detail {

/// What a cudaGraphConditionalHandle stands for.
struct Condition {
    unsigned value;
    unsigned at_launch;  // the value at the start of each launch, if it has one
    bool has_default;
};

/// If, while or switch over a condition.
class ConditionalOperation : public Operation {
 public:
    ConditionalOperation(Condition* condition, cudaGraphConditionalNodeType kind,
                         std::vector<cudaGraph_t> bodies)
        : condition_(condition), kind_(kind), bodies_(std::move(bodies)) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeConditional; }
    cudaError_t run(cudaStream_t stream) const override;

    /// Gives conditions, also of the bodies, their values of a launch's start.
    void start() const;
    /// A copy for an executable graph, with bodies of its own.
    OperationPtr instantiated() const;
    /// The array that cudaGraphAddNode gives.
    cudaGraph_t* bodies() const { return const_cast<cudaGraph_t*>(bodies_.data()); }

 private:
    Condition* condition_;
    cudaGraphConditionalNodeType kind_;
    std::vector<cudaGraph_t> bodies_;
    std::vector<std::shared_ptr<CUgraph_st>> own_;  // of an executable graph
};

/// Prepares the conditional nodes of a graph, and of those in it, for a launch.
void start_conditions(const CUgraph_st& graph);
/// Replaces the conditional nodes of an executable graph's copy by their own.
void instantiate_conditions(CUgraph_st& graph);

/// A conditional node: its bodies are made, empty.
cudaError_t add_conditional(cudaGraphNode_t* node, cudaGraph_t graph,
                            const cudaGraphNode_t* dependencies, size_t count,
                            cudaConditionalNodeParams& params);

}  // namespace simt::detail
