// Executable graphs: instantiation, launch, update.

#include <cstdio>
#include <map>

#include "call.h"
#include "conditional.h"
#include "copy.h"
#include "graph.h"
#include "graph_memory.h"
#include "handles.h"
#include "kernel_operation.h"
#include "simt/api/graph.h"
#include "stream.h"

namespace simt::detail {
namespace {

HandleTable<CUgraphExec_st>& executables() {
    static auto* const table = new HandleTable<CUgraphExec_st>;
    return *table;
}

bool is_exec(cudaGraphExec_t exec) {
    return exec && executables().contains(exec);
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
    if (!exec || !is_graph(graph)) return cudaErrorInvalidValue;
    auto created = std::make_unique<CUgraphExec_st>();
    created->graph = graph->clone();
    instantiate_conditions(*created->graph);
    created->source = graph;
    created->order = created->graph->ordered();
    if (created->order.size() != created->graph->nodes.size()) {
        hint("cudaGraphInstantiate: the dependencies of the graph form a cycle");
        return cudaErrorInvalidValue;
    }
    ++g_issued.instantiations;
    *exec = executables().insert(std::move(created));
    return cudaSuccess;
}

/// The executable's own copy of a node of the graph that it was made from.
CUgraphNode_st* own_node(cudaGraphExec_t exec, cudaGraphNode_t node) {
    if (!is_exec(exec) || !is_node(node)) return nullptr;
    const bool related =
        node->graph == exec->source || node->graph == exec->graph.get();
    return related ? exec->graph->find(node->id) : nullptr;
}

template <class Op>
cudaError_t set_exec_params(cudaGraphExec_t exec, cudaGraphNode_t node,
                            const Op& operation) {
    CUgraphNode_st* own = own_node(exec, node);
    if (!own || own->operation->type() != operation.type())
        return cudaErrorInvalidValue;
    if (const cudaError_t error = operation.check()) return error;
    own->operation = std::make_shared<Op>(operation);
    return cudaSuccess;
}

/// Positions of the nodes that a node depends on, which make two graphs comparable.
std::vector<size_t> dependency_positions(const CUgraph_st& graph,
                                         const CUgraphNode_st& node) {
    std::vector<size_t> positions;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
        for (const CUgraphNode_st* dependency : node.dependencies)
            if (dependency == graph.nodes[i].get()) positions.push_back(i);
    return positions;
}

cudaGraphExecUpdateResultInfo compare(const CUgraph_st& own, const CUgraph_st& update) {
    if (own.nodes.size() != update.nodes.size())
        return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
    for (size_t i = 0; i < own.nodes.size(); ++i) {
        const CUgraphNode_st& before = *own.nodes[i];
        const CUgraphNode_st& after = *update.nodes[i];
        if (before.operation->type() != after.operation->type())
            return {cudaGraphExecUpdateErrorNodeTypeChanged, update.nodes[i].get(),
                    nullptr};
        if (dependency_positions(own, before) != dependency_positions(update, after))
            return {cudaGraphExecUpdateErrorTopologyChanged, update.nodes[i].get(),
                    nullptr};
    }
    return {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

/// Queues the nodes, each behind those that it depends on. A graph waits for its own
/// launch before.
cudaError_t launch_later(CUgraphExec_st& exec, CUstream_st& stream) {
    std::vector<TaskPtr> before = tasks_before(stream);
    if (exec.last) before.push_back(exec.last);
    std::map<const CUgraphNode_st*, TaskPtr> tasks;
    std::vector<TaskPtr> all = {exec.last};
    for (const CUgraphNode_st* node : exec.order) {
        std::vector<TaskPtr> after = before;
        for (const CUgraphNode_st* dependency : node->dependencies)
            after.push_back(tasks.at(dependency));
        const OperationPtr operation = node->enabled ? node->operation : nullptr;
        tasks[node] = defer_node(
            [operation, handle = &stream] {
                return operation ? run_late(*operation, handle) : cudaSuccess;
            },
            after);
        all.push_back(tasks[node]);
    }
    exec.last = defer(
        stream, [] { return cudaSuccess; }, Weight::nothing, all);
    return sticky_error();
}

/// Memory of the launch before that nobody has freed.
bool keeps_memory(const CUgraphExec_st& exec) {
    for (const CUgraphNode_st* node : exec.order) {
        const auto* alloc = dynamic_cast<const AllocOperation*>(node->operation.get());
        if (alloc && alloc->memory().is_allocated()) return true;
    }
    return false;
}

bool can_be_disabled(const CUgraphNode_st& node) {
    switch (node.operation->type()) {
        case cudaGraphNodeTypeKernel:
        case cudaGraphNodeTypeMemcpy:
        case cudaGraphNodeTypeMemset:
            return true;
        default:
            return false;
    }
}

}  // namespace
}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
    constexpr unsigned long long kKnown =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
        cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    return api_call([&] {
        if (flags & ~kKnown) return cudaErrorInvalidValue;
        if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
            hint("cudaGraphInstantiate: graphs cannot be launched by kernels here");
            return cudaErrorNotSupported;
        }
        const cudaError_t error = instantiate(exec, graph);
        if (error == cudaSuccess)
            (*exec)->frees_on_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
        return error;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 cudaGraphNode_t* error_node, char* log,
                                 size_t log_size) {
    const cudaError_t error = cudaGraphInstantiateWithFlags(exec, graph, 0);
    if (error_node) *error_node = nullptr;
    if (log && log_size > 0)
        std::snprintf(log, log_size, "%s",
                      error == cudaSuccess ? "" : cudaGetErrorString(error));
    return error;
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
    if (!params) return api_call([] { return cudaErrorInvalidValue; });
    const cudaError_t error = cudaGraphInstantiateWithFlags(exec, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    return api_call([&] {
        return executables().remove(exec) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    return api_call(
        [&] { return is_exec(exec) ? check_stream(stream) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    return api_call([&] {
        if (!is_exec(exec)) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_stream(stream)) return error;
        if (const cudaError_t error = refuse_if_capturing(stream)) {
            hint(
                "cudaGraphLaunch: a graph cannot be launched into a stream that is "
                "being "
                "captured: add it as a child graph node");
            return error;
        }
        ++g_issued.graph_launches;
        tell_issue(simt::Issue::graph, stream);
        if (deferring()) start_conditions(*exec->graph);
        if (deferring()) return launch_later(*exec, *find_stream(stream));
        if (!exec->frees_on_launch && keeps_memory(*exec)) {
            hint(
                "cudaGraphLaunch: the graph's own memory of the launch before has not "
                "been freed, and it was not instantiated with "
                "cudaGraphInstantiateFlagAutoFreeOnLaunch");
            return cudaErrorInvalidValue;
        }
        start_conditions(*exec->graph);
        return run_graph(exec->order, stream);
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
    return api_call([&] {
        if (!is_exec(exec) || !is_graph(graph)) return cudaErrorInvalidValue;
        const cudaGraphExecUpdateResultInfo result = compare(*exec->graph, *graph);
        if (info) *info = result;
        if (result.result != cudaGraphExecUpdateSuccess)
            return cudaErrorGraphExecUpdateFailure;
        for (size_t i = 0; i < graph->nodes.size(); ++i)
            exec->graph->nodes[i]->operation = graph->nodes[i]->operation;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result) {
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, nullptr, nullptr};
    const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (error_node) *error_node = info.errorNode;
    if (result) *result = info.result;
    return error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_exec_params(exec, node, KernelOperation(*params));
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        const CopyOperation copy("cudaGraphExecMemcpyNodeSetParams", *params);
        return set_exec_params(exec, node, copy);
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                               cudaGraphNode_t node, void* dst,
                                               const void* src, size_t bytes,
                                               cudaMemcpyKind kind) {
    return api_call([&] {
        const auto copy = CopyOperation::linear("cudaGraphExecMemcpyNodeSetParams1D",
                                                dst, src, bytes, kind);
        return set_exec_params(exec, node, copy);
    });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        const FillOperation fill("cudaGraphExecMemsetNodeSetParams", *params);
        return set_exec_params(exec, node, fill);
    });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
    return api_call([&] {
        if (!params) return cudaErrorInvalidValue;
        return set_exec_params(exec, node, HostOperation(*params));
    });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int enabled) {
    return api_call([&] {
        CUgraphNode_st* own = own_node(exec, node);
        if (!own || !can_be_disabled(*own)) return cudaErrorInvalidValue;
        own->enabled = enabled != 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int* enabled) {
    return api_call([&] {
        const CUgraphNode_st* own = own_node(exec, node);
        if (!enabled || !own) return cudaErrorInvalidValue;
        *enabled = own->enabled ? 1u : 0u;
        return cudaSuccess;
    });
}
