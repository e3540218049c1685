#pragma once
// Graphs of operations: what a capture records and cudaGraphAdd...Node builds.

#include <memory>
#include <vector>

#include "operation.h"
#include "schedule.h"

/// A node. Its graph owns it. The addresses of all live nodes are known, so that the
/// handle of a destroyed one is an error and not a crash.
struct CUgraphNode_st {
    CUgraphNode_st();
    CUgraphNode_st(const CUgraphNode_st& other);
    CUgraphNode_st& operator=(const CUgraphNode_st&) = delete;
    ~CUgraphNode_st();

    CUgraph_st* graph = nullptr;
    size_t id = 0;  // unique in its graph and kept by clones
    simt::detail::OperationPtr operation;
    std::vector<CUgraphNode_st*> dependencies;
    bool enabled = true;
};

/// A directed graph of operations.
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in order of creation
    size_t next_id = 0;

    CUgraphNode_st* add(simt::detail::OperationPtr operation,
                        std::vector<CUgraphNode_st*> dependencies);
    /// A copy with the same ids, sharing the operations.
    std::unique_ptr<CUgraph_st> clone() const;
    CUgraphNode_st* find(size_t id) const;
    /// Nodes in an order that respects all dependencies; empty if there is a cycle (and
    /// the graph has nodes).
    std::vector<CUgraphNode_st*> ordered() const;
};

/// A graph ready to launch.
struct CUgraphExec_st {
    std::unique_ptr<CUgraph_st> graph;  // the copy that was instantiated
    const CUgraph_st* source = nullptr;
    std::vector<CUgraphNode_st*> order;
    simt::detail::TaskPtr last;  // of the latest launch, where work is queued
    bool frees_on_launch = false;
};

namespace simt::detail {

/// True for the handle of a node that exists.
bool is_node(cudaGraphNode_t node);

/// True for a graph that the program created and has not destroyed.
bool is_graph(cudaGraph_t graph);

/// The same, or the graph of a capture in progress, which may get nodes by hand.
bool is_growing_graph(cudaGraph_t graph);

/// Makes the program the owner of `graph`.
cudaGraph_t publish_graph(std::unique_ptr<CUgraph_st> graph);

/// Runs all enabled nodes as work of `stream`.
cudaError_t run_graph(const std::vector<CUgraphNode_st*>& order, cudaStream_t stream);

}  // namespace simt::detail
