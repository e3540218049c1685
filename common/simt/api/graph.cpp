// The structure of graphs: nodes, copies, orders.

#include "graph.h"

#include <map>
#include <mutex>
#include <unordered_set>

#include "call.h"

namespace simt::detail {
namespace {

/// The nodes that exist. Never destroyed, as graphs may outlive main.
struct LiveNodes {
    std::mutex mutex;
    std::unordered_set<const CUgraphNode_st*> nodes;
};

LiveNodes& live() {
    static auto* const instance = new LiveNodes;
    return *instance;
}

void note_birth(const CUgraphNode_st* node) {
    const std::lock_guard lock(live().mutex);
    live().nodes.insert(node);
}

}  // namespace

bool is_node(cudaGraphNode_t node) {
    const std::lock_guard lock(live().mutex);
    return live().nodes.contains(node);
}

cudaError_t run_graph(const std::vector<CUgraphNode_st*>& order, cudaStream_t stream) {
    for (const CUgraphNode_st* node : order) {
        if (!node->enabled) continue;
        if (const cudaError_t error = node->operation->run(stream)) return error;
        if (const cudaError_t fault = sticky_error()) return fault;
    }
    return cudaSuccess;
}

}  // namespace simt::detail

CUgraphNode_st::CUgraphNode_st() {
    simt::detail::note_birth(this);
}

CUgraphNode_st::CUgraphNode_st(const CUgraphNode_st& other)
    : graph(other.graph),
      id(other.id),
      operation(other.operation),
      dependencies(other.dependencies),
      enabled(other.enabled) {
    simt::detail::note_birth(this);
}

CUgraphNode_st::~CUgraphNode_st() {
    const std::lock_guard lock(simt::detail::live().mutex);
    simt::detail::live().nodes.erase(this);
}

CUgraphNode_st* CUgraph_st::add(simt::detail::OperationPtr operation,
                                std::vector<CUgraphNode_st*> dependencies) {
    auto node = std::make_unique<CUgraphNode_st>();
    node->graph = this;
    node->id = next_id++;
    node->operation = std::move(operation);
    node->dependencies = std::move(dependencies);
    nodes.push_back(std::move(node));
    return nodes.back().get();
}

std::unique_ptr<CUgraph_st> CUgraph_st::clone() const {
    auto copy = std::make_unique<CUgraph_st>();
    copy->next_id = next_id;
    std::map<const CUgraphNode_st*, CUgraphNode_st*> copies;
    for (const auto& node : nodes) {
        auto twin = std::make_unique<CUgraphNode_st>(*node);
        twin->graph = copy.get();
        copies[node.get()] = twin.get();
        copy->nodes.push_back(std::move(twin));
    }
    // Edges may point to nodes that were created later.
    for (const auto& twin : copy->nodes)
        for (CUgraphNode_st*& dependency : twin->dependencies)
            dependency = copies.at(dependency);
    return copy;
}

CUgraphNode_st* CUgraph_st::find(size_t id) const {
    for (const auto& node : nodes)
        if (node->id == id) return node.get();
    return nullptr;
}

std::vector<CUgraphNode_st*> CUgraph_st::ordered() const {
    std::map<const CUgraphNode_st*, size_t> missing;
    std::map<const CUgraphNode_st*, std::vector<CUgraphNode_st*>> dependents;
    std::vector<CUgraphNode_st*> order;
    for (const auto& node : nodes) {
        missing[node.get()] = node->dependencies.size();
        for (const CUgraphNode_st* dependency : node->dependencies)
            dependents[dependency].push_back(node.get());
        if (node->dependencies.empty()) order.push_back(node.get());
    }
    for (size_t i = 0; i < order.size(); ++i)
        for (CUgraphNode_st* dependent : dependents[order[i]])
            if (--missing[dependent] == 0) order.push_back(dependent);
    if (order.size() != nodes.size()) order.clear();
    return order;
}
