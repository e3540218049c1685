// The functions that create graphs, change their edges and ask about them.

#include <algorithm>
#include <cstdio>

#include "call.h"
#include "graph.h"
#include "handles.h"
#include "simt/api/graph.h"

namespace simt::detail {
namespace {

HandleTable<CUgraph_st>& graphs() {
    static auto* const table = new HandleTable<CUgraph_st>;
    return *table;
}

/// Gives a list in CUDA's way: with a null array, only its length.
template <class T>
cudaError_t give(const std::vector<T>& values, T* out, size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (out) {
        const size_t given = std::min(*count, values.size());
        std::copy_n(values.begin(), given, out);
        std::fill(out + given, out + *count, T());
        if (*count < values.size()) return cudaSuccess;
    }
    *count = values.size();
    return cudaSuccess;
}

bool has_edge(const CUgraphNode_st* from, const CUgraphNode_st* to) {
    return std::find(to->dependencies.begin(), to->dependencies.end(), from) !=
           to->dependencies.end();
}

bool are_nodes_of(cudaGraph_t graph, const cudaGraphNode_t* nodes, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!nodes || !is_node(nodes[i]) || nodes[i]->graph != graph) return false;
    return true;
}

template <class Change>
cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from,
                         const cudaGraphNode_t* to, size_t count, Change change) {
    return api_call([&] {
        if (!is_graph(graph) || !are_nodes_of(graph, from, count) ||
            !are_nodes_of(graph, to, count))
            return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i)
            if (const cudaError_t error = change(from[i], to[i])) return error;
        return cudaSuccess;
    });
}

const char* type_name(cudaGraphNodeType type) {
    switch (type) {
        case cudaGraphNodeTypeKernel:
            return "kernel";
        case cudaGraphNodeTypeMemcpy:
            return "memcpy";
        case cudaGraphNodeTypeMemset:
            return "memset";
        case cudaGraphNodeTypeHost:
            return "host";
        case cudaGraphNodeTypeGraph:
            return "graph";
        case cudaGraphNodeTypeEmpty:
            return "empty";
        case cudaGraphNodeTypeWaitEvent:
            return "event wait";
        case cudaGraphNodeTypeEventRecord:
            return "event record";
        case cudaGraphNodeTypeMemAlloc:
            return "alloc";
        case cudaGraphNodeTypeMemFree:
            return "free";
        default:
            return "other";
    }
}

}  // namespace

bool is_graph(cudaGraph_t graph) {
    return graph && graphs().contains(graph);
}

cudaGraph_t publish_graph(std::unique_ptr<CUgraph_st> graph) {
    return graphs().insert(std::move(graph));
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
    return api_call([&] {
        if (!graph || flags != 0) return cudaErrorInvalidValue;
        *graph = publish_graph(std::make_unique<CUgraph_st>());
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return api_call(
        [&] { return graphs().remove(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
    return api_call([&] {
        if (!clone || !is_graph(original)) return cudaErrorInvalidValue;
        *clone = publish_graph(original->clone());
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
    return api_call([&] {
        if (!node || !is_node(original) || !is_graph(clone))
            return cudaErrorInvalidValue;
        *node = clone->find(original->id);
        return *node ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, size_t count) {
    return change_edges(graph, from, to, count, [](auto* before, auto* after) {
        if (before == after || has_edge(before, after)) return cudaErrorInvalidValue;
        after->dependencies.push_back(before);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
    return change_edges(graph, from, to, count, [](auto* before, auto* after) {
        return std::erase(after->dependencies, before) ? cudaSuccess
                                                       : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return api_call([&] {
        if (!is_node(node) || !is_graph(node->graph)) return cudaErrorInvalidValue;
        auto& nodes = node->graph->nodes;
        for (const auto& other : nodes)
            std::erase(other->dependencies, node);
        std::erase_if(nodes, [&](const auto& owner) { return owner.get() == node; });
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                              size_t* count) {
    return api_call([&] {
        if (!is_graph(graph)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> all;
        for (const auto& node : graph->nodes)
            all.push_back(node.get());
        return give(all, nodes, count);
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                  size_t* count) {
    return api_call([&] {
        if (!is_graph(graph)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> roots;
        for (const auto& node : graph->nodes)
            if (node->dependencies.empty()) roots.push_back(node.get());
        return give(roots, nodes, count);
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                              cudaGraphNode_t* to, size_t* count) {
    return api_call([&] {
        if (!is_graph(graph) || !count || !from != !to) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> sources;
        std::vector<cudaGraphNode_t> targets;
        for (const auto& node : graph->nodes)
            for (CUgraphNode_st* dependency : node->dependencies) {
                sources.push_back(dependency);
                targets.push_back(node.get());
            }
        size_t same = *count;
        give(sources, from, &same);
        return give(targets, to, count);
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                              cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                              size_t* count) {
    if (edges && count) std::fill_n(edges, *count, cudaGraphEdgeData());
    return cudaGraphGetEdges(graph, from, to, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* dependencies, size_t* count) {
    return api_call([&] {
        if (!is_node(node)) return cudaErrorInvalidValue;
        return give(node->dependencies, dependencies, count);
    });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, size_t* count) {
    if (edges && count) std::fill_n(edges, *count, cudaGraphEdgeData());
    return cudaGraphNodeGetDependencies(node, dependencies, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t* dependents, size_t* count) {
    return api_call([&] {
        if (!is_node(node)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> found;
        for (const auto& other : node->graph->nodes)
            if (has_edge(node, other.get())) found.push_back(other.get());
        return give(found, dependents, count);
    });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, size_t* count) {
    if (edges && count) std::fill_n(edges, *count, cudaGraphEdgeData());
    return cudaGraphNodeGetDependentNodes(node, dependents, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return api_call([&] {
        if (!is_node(node) || !type) return cudaErrorInvalidValue;
        *type = node->operation->type();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
    return api_call([&] {
        if (!is_graph(graph) || !path) return cudaErrorInvalidValue;
        std::FILE* file = std::fopen(path, "w");
        if (!file) return cudaErrorOperatingSystem;
        std::fprintf(file, "digraph dot {\n");
        for (const auto& node : graph->nodes) {
            std::fprintf(file, "    node_%zu [label=\"%zu: %s\"];\n", node->id,
                         node->id, type_name(node->operation->type()));
            for (const CUgraphNode_st* dependency : node->dependencies)
                std::fprintf(file, "    node_%zu -> node_%zu;\n", dependency->id,
                             node->id);
        }
        std::fprintf(file, "}\n");
        return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
    });
}
