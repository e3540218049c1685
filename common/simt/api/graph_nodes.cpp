// cudaGraphAdd...Node, and the parameters of nodes.

#include "call.h"
#include "conditional.h"
#include "copy.h"
#include "event_operations.h"
#include "graph.h"
#include "graph_memory.h"
#include "graph_operation.h"
#include "kernel_operation.h"
#include "simt/api/graph.h"

namespace simt::detail {
namespace {

/// Adds a node with the operation if CUDA would accept it.
template <class Op>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph,
                     const cudaGraphNode_t* dependencies, size_t count,
                     const Op& operation) {
    if (!node || !is_growing_graph(graph) || (count > 0 && !dependencies))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
        if (!is_node(dependencies[i]) || dependencies[i]->graph != graph)
            return cudaErrorInvalidValue;
    if (const cudaError_t error = operation.check()) return error;
    *node = graph->add(std::make_shared<Op>(operation),
                       {dependencies, dependencies + count});
    return cudaSuccess;
}

/// Replaces the operation of a node by another of the same kind.
template <class Op>
cudaError_t set_params(cudaGraphNode_t node, const Op& operation) {
    if (!is_node(node) || node->operation->type() != operation.type())
        return cudaErrorInvalidValue;
    if (const cudaError_t error = operation.check()) return error;
    node->operation = std::make_shared<Op>(operation);
    return cudaSuccess;
}

/// Gives the parameters of a node whose operation is an Op.
template <class Op, class Params>
cudaError_t get_params(cudaGraphNode_t node, Params* params) {
    if (!is_node(node) || !params) return cudaErrorInvalidValue;
    const auto* operation = dynamic_cast<const Op*>(node->operation.get());
    if (!operation) return cudaErrorInvalidValue;
    *params = operation->params();
    return cudaSuccess;
}

}  // namespace
}  // namespace simt::detail

using namespace simt::detail;

// ---- Adding -----------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return add_node(node, graph, dependencies, count, KernelOperation(*params));
    });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        const CopyOperation copy("cudaGraphAddMemcpyNode", *params);
        return add_node(node, graph, dependencies, count, copy);
    });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     void* dst, const void* src, size_t bytes,
                                     cudaMemcpyKind kind) {
    return api_call([&] {
        const auto copy =
            CopyOperation::linear("cudaGraphAddMemcpyNode1D", dst, src, bytes, kind);
        return add_node(node, graph, dependencies, count, copy);
    });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        const FillOperation fill("cudaGraphAddMemsetNode", *params);
        return add_node(node, graph, dependencies, count, fill);
    });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return add_node(node, graph, dependencies, count, HostOperation(*params));
    });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
    return api_call([&] {
        if (!is_graph(child) || child == graph) return cudaErrorInvalidValue;
        const GraphOperation operation(child->clone());
        return add_node(node, graph, dependencies, count, operation);
    });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
    return api_call(
        [&] { return add_node(node, graph, dependencies, count, EmptyOperation()); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
    return api_call([&] {
        const EventRecordOperation operation(event);
        return add_node(node, graph, dependencies, count, operation);
    });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
    return api_call([&] {
        const EventWaitOperation operation(event);
        return add_node(node, graph, dependencies, count, operation);
    });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* params) {
    return api_call([&] {
        if (!params || params->bytesize == 0) return cudaErrorInvalidValue;
        auto memory = GraphMemory::create(params->bytesize);
        if (!memory) return cudaErrorMemoryAllocation;
        params->dptr = memory->pointer();
        const AllocOperation operation(std::move(memory));
        return add_node(node, graph, dependencies, count, operation);
    });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
    return api_call([&] {
        const FreeOperation operation(pointer);
        return add_node(node, graph, dependencies, count, operation);
    });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, size_t count,
                             cudaGraphNodeParams* params) {
    if (!params) return api_call([] { return cudaErrorInvalidValue; });
    switch (params->type) {
        case cudaGraphNodeTypeKernel:
            return cudaGraphAddKernelNode(node, graph, dependencies, count,
                                          &params->kernel);
        case cudaGraphNodeTypeMemcpy:
            return cudaGraphAddMemcpyNode(node, graph, dependencies, count,
                                          &params->memcpy.copyParams);
        case cudaGraphNodeTypeMemset:
            return cudaGraphAddMemsetNode(node, graph, dependencies, count,
                                          &params->memset);
        case cudaGraphNodeTypeHost:
            return cudaGraphAddHostNode(node, graph, dependencies, count,
                                        &params->host);
        case cudaGraphNodeTypeGraph:
            return cudaGraphAddChildGraphNode(node, graph, dependencies, count,
                                              params->graph.graph);
        case cudaGraphNodeTypeEmpty:
            return cudaGraphAddEmptyNode(node, graph, dependencies, count);
        case cudaGraphNodeTypeWaitEvent:
            return cudaGraphAddEventWaitNode(node, graph, dependencies, count,
                                             params->eventWait.event);
        case cudaGraphNodeTypeEventRecord:
            return cudaGraphAddEventRecordNode(node, graph, dependencies, count,
                                               params->eventRecord.event);
        case cudaGraphNodeTypeMemAlloc:
            return cudaGraphAddMemAllocNode(node, graph, dependencies, count,
                                            &params->alloc);
        case cudaGraphNodeTypeMemFree:
            return cudaGraphAddMemFreeNode(node, graph, dependencies, count,
                                           params->free.dptr);
        case cudaGraphNodeTypeConditional:
            return api_call([&] {
                return add_conditional(node, graph, dependencies, count,
                                       params->conditional);
            });
        default:
            break;
    }
    return api_call([] {
        hint("cudaGraphAddNode: this kind of node is not simulated");
        return cudaErrorNotSupported;
    });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData*, size_t count,
                             cudaGraphNodeParams* params) {
    return cudaGraphAddNode(node, graph, dependencies, count, params);
}

// ---- Parameters -------------------------------------------------------------------

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams* params) {
    return api_call([&] {
        if (get_params<KernelOperation>(node, params) == cudaSuccess)
            return cudaSuccess;
        return get_params<CapturedKernelOperation>(node, params);
    });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_params(node, KernelOperation(*params));
    });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         cudaMemcpy3DParms* params) {
    return api_call([&] { return get_params<CopyOperation>(node, params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_params(node, CopyOperation("cudaGraphMemcpyNodeSetParams", *params));
    });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst,
                                           const void* src, size_t bytes,
                                           cudaMemcpyKind kind) {
    return api_call([&] {
        return set_params(node, CopyOperation::linear("cudaGraphMemcpyNodeSetParams1D",
                                                      dst, src, bytes, kind));
    });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         cudaMemsetParams* params) {
    return api_call([&] { return get_params<FillOperation>(node, params); });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemsetParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_params(node, FillOperation("cudaGraphMemsetNodeSetParams", *params));
    });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       cudaHostNodeParams* params) {
    return api_call([&] { return get_params<HostOperation>(node, params); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const cudaHostNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_params(node, HostOperation(*params));
    });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
    return api_call([&] {
        if (!is_node(node) || !child) return cudaErrorInvalidValue;
        const auto* operation =
            dynamic_cast<const GraphOperation*>(node->operation.get());
        if (!operation) return cudaErrorInvalidValue;
        *child = operation->graph();
        return cudaSuccess;
    });
}
